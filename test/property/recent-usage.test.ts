/**
 * Usage that is not read again (src/metering/usage/recent-usage.ts), against a model of ingestion: events get a tick when
 * they are taken, become visible later and in any order, and reads overlap with both.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashText } from '../../src/core/byte-hash.ts';
import { createRecentUsage } from '../../src/metering/usage/recent-usage.ts';

const REFS = ['a', 'alias of a', 'b', 'c'] as const;
const CUSTOMERS = [
  { customerId: 'a', refs: ['a', 'alias of a'] },
  { customerId: 'b', refs: ['b'] },
  { customerId: 'c', refs: ['c'] },
] as const;
const period = { start: 0, end: 1 };

const command = fc.oneof(
  fc.record({ kind: fc.constant('take'), ref: fc.constantFrom(...REFS) }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('settle'), place: fc.nat(), isStored: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('begin'),
      customers: fc.subarray([...CUSTOMERS], { minLength: 1 }),
      metrics: fc.subarray(['m', 'n'], { minLength: 1 }),
      back: fc.constantFrom(0, 0, 0, 1, 5),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('end'), place: fc.nat() }) },
  fc.record({ kind: fc.constant('forget') }),
  fc.record({ kind: fc.constant('lose'), place: fc.nat() }),
  fc.record({ kind: fc.constant('settle loss') }),
);

interface ModelEvent {
  readonly ref: string;
  readonly tick: number;
  state: 'in flight' | 'stored' | 'failed';
}

/** Ingestion as the service does it: `completeUpTo` ends before the oldest event that is being written. */
function createModel() {
  const events: ModelEvent[] = [];
  let tick = 0;
  const inFlight = () => events.filter(({ state }) => state === 'in flight');
  return {
    inFlight,
    stored: () => events.filter(({ state }) => state === 'stored'),
    take(ref: string) {
      tick += 1;
      events.push({ ref, tick, state: 'in flight' });
    },
    takenUpTo: () => tick,
    completeUpTo() {
      const [oldest] = inFlight();
      if (oldest === undefined) tick += 1;
      return oldest === undefined ? tick : oldest.tick - 1;
    },
    count: (refs: readonly string[], upTo: number) =>
      events.filter((event) => event.state === 'stored' && refs.includes(event.ref) && event.tick <= upTo)
        .length,
  };
}

const usageOf = (valueCount: number) => ({
  valueCount,
  unpack: () => ({ series: [], uncounted: null, problem: null }),
});

describe('usage that has not changed', () => {
  it('usage is answered as if it was read each time, whatever is taken, stored and read meanwhile', async () => {
    let repeated = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60, size: 'max' }), async (commands) => {
        const model = createModel();
        let problem: string | null = null;
        const recent = createRecentUsage(
          { takenUpTo: () => model.takenUpTo(), completeUpTo: () => String(model.completeUpTo()) },
          () => problem,
        );
        const reads: { finish(): void; readonly answered: Promise<void> }[] = [];
        for (const one of commands) {
          if (one.kind === 'take') {
            model.take(one.ref);
            recent.watch.taken(hashText(one.ref));
          } else if (one.kind === 'settle') {
            const waiting = model.inFlight();
            const event = waiting[one.place % Math.max(1, waiting.length)];
            if (event !== undefined) event.state = one.isStored ? 'stored' : 'failed';
          } else if (one.kind === 'begin') {
            const upTo = model.completeUpTo() - one.back;
            const metrics = one.metrics.map((name) => ({ name }));
            let isRead = false;
            const isLost = problem !== null;
            let finish = () => {};
            const released = new Promise<void>((resolve) => {
              finish = resolve;
            });
            const found = recent.series(
              { customers: one.customers, period, groupBy: [], ingestedUpTo: String(upTo), rowsMax: 1_000 },
              metrics,
              async () => {
                isRead = true;
                const counts = one.customers.map(
                  ({ customerId, refs }) => [customerId, model.count(refs, upTo)] as const,
                );
                await released;
                return metrics.map(() => new Map(counts.map(([id, count]) => [id, usageOf(count)])));
              },
            );
            const expected = one.customers.map(({ refs }) => model.count(refs, upTo));
            const answered = found.then((series) => {
              if (!isRead) repeated += 1;
              if (isLost) expect(isRead).toBe(true);
              for (const own of series)
                expect(one.customers.map(({ customerId }) => own.get(customerId)?.valueCount)).toEqual(
                  expected,
                );
              expect(series).toHaveLength(metrics.length);
            });
            reads.push({ finish, answered });
          } else if (one.kind === 'end') {
            const [read] = reads.splice(one.place % Math.max(1, reads.length), 1);
            read?.finish();
            await read?.answered;
          } else if (one.kind === 'lose') {
            const stored = model.stored();
            const event = stored[one.place % Math.max(1, stored.length)];
            if (event !== undefined) event.state = 'failed';
            problem = 'an event is missing';
            recent.forget();
          } else if (one.kind === 'settle loss') problem = null;
          else recent.forget();
        }
        for (const { finish, answered } of reads) {
          finish();
          await answered;
        }
      }),
      { numRuns: 600 },
    );
    expect(repeated).toBeGreaterThan(100);
  });
});
