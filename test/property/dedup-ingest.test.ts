import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/core/errors.ts';
import { DAY_MS, formatInstant, HOUR_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/clickhouse.ts';
import { createIngest, type Ingest } from '../../src/metering/ingest/ingest.ts';
import { type IngestStore, openIngestStore } from './ingest-store.ts';

const START = Date.UTC(2026, 10, 20, 12, 0, 0, 250);
const WINDOW_DAYS = 34;

const quiet = { error() {} };

interface Sent {
  readonly id: string;
  readonly customer: string;
  readonly value: string;
}

function body(events: readonly Sent[], now: number): Buffer {
  return Buffer.from(
    JSON.stringify(
      events.map(({ id, customer, value }) => ({
        transaction_id: id,
        customer_id: customer,
        event_type: 'tokens',
        timestamp: formatInstant(now - HOUR_MS),
        properties: { value },
      })),
    ),
  );
}

async function startIngest(clickhouse: ClickHouse, clock: { now(): number }): Promise<Ingest> {
  const ingest = createIngest({ clickhouse, clock, windowDays: WINDOW_DAYS, log: quiet });
  await ingest.rebuild();
  return ingest;
}

const sent = fc.record({
  id: fc.constantFrom(...Array.from({ length: 12 }, (_, i) => `tx-${i}`)),
  customer: fc.constantFrom('acme', 'globex'),
  value: fc.stringMatching(/^[a-z]{1,4}$/),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      requests: fc.array(fc.array(sent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(1, 20, WINDOW_DAYS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      requests: fc.array(fc.array(sent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 }),
    }),
  },
);

describe('ingest into a real ClickHouse', () => {
  let store: IngestStore;
  beforeAll(async () => {
    store = await openIngestStore();
  });
  afterAll(async () => {
    await store.close();
  });

  /** The real store, except that inserts fail or wait while the test says so. */
  function controlled(): { clickhouse: ClickHouse; control: { isBroken: boolean; gate: Promise<void> } } {
    const control = { isBroken: false, gate: Promise.resolve() };
    const clickhouse: ClickHouse = {
      ...store.clickhouse,
      async insertRows(insert) {
        await control.gate;
        if (control.isBroken) throw new Error('the disk is full');
        await store.clickhouse.insertRows(insert);
      },
    };
    return { clickhouse, control };
  }

  it('stores the first accepted copy of every id and nothing else, through retries, failures, restarts and time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        await store.clear();
        const { clickhouse, control } = controlled();
        const clock = { at: START, now: () => clock.at };
        let ingest = await startIngest(clickhouse, clock);
        const accepted = new Map<string, number>();
        const expected: Sent[] = [];
        /** The events of a request that are new at this moment, which are accepted with that. */
        const takeNew = (events: readonly Sent[]) =>
          events.filter(({ id }) => {
            const at = accepted.get(id);
            if (at !== undefined && clock.at - at < WINDOW_DAYS * DAY_MS) return false;
            accepted.set(id, clock.at);
            return true;
          });
        for (const current of steps) {
          if (current.kind === 'wait') {
            clock.at += current.days * DAY_MS;
          } else if (current.kind === 'restart') {
            await ingest.close();
            ingest = await startIngest(clickhouse, clock);
          } else {
            control.isBroken = current.kind === 'break';
            const outcomes = await Promise.allSettled(
              current.requests.map((events) => ingest.ingest(body(events, clock.at))),
            );
            for (const [i, events] of current.requests.entries()) {
              const fresh = control.isBroken ? [] : takeNew(events);
              expected.push(...fresh);
              const value = { accepted: fresh.length, duplicates: events.length - fresh.length };
              // While writes fail, a request either fails or has nothing new.
              if (!control.isBroken || outcomes[i]?.status === 'fulfilled') {
                expect(outcomes[i]).toEqual({ status: 'fulfilled', value });
              }
            }
          }
        }
        await ingest.close();
        const stored = (await store.events()).map(
          ({ transaction_id: id, customer_ref: customer, properties }) => ({
            id,
            customer,
            value: properties.value,
          }),
        );
        expect(stored).toEqual(expected);
        expect(await store.rowCount()).toBe(expected.length);
      }),
      { numRuns: 25 },
    );
  }, 120_000);

  it('answers a duplicate of an event that is still being written only when that event is on disk', async () => {
    await store.clear();
    const { clickhouse, control } = controlled();
    const ingest = await startIngest(clickhouse, { now: () => START });
    let openGate = () => {};
    control.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const answered: string[] = [];
    const request = body([{ id: 'tx', customer: 'acme', value: 'a' }], START);
    const first = ingest.ingest(request).then(() => answered.push('first'));
    const second = ingest.ingest(request).then((outcome) => {
      expect(outcome).toEqual({ accepted: 0, duplicates: 1 });
      answered.push('second');
    });
    expect(ingest.stats().waitingRows).toBe(1);
    expect(answered).toEqual([]);
    openGate();
    await Promise.all([first, second]);
    expect(await store.rowCount()).toBe(1);
    await ingest.close();
  });

  it('fails the duplicate as well when the write of the first copy fails, and then takes the id as new', async () => {
    await store.clear();
    const { clickhouse, control } = controlled();
    const ingest = await startIngest(clickhouse, { now: () => START });
    control.isBroken = true;
    const request = body([{ id: 'tx', customer: 'acme', value: 'a' }], START);
    const outcomes = await Promise.allSettled([ingest.ingest(request), ingest.ingest(request)]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
    }
    expect(ingest.stats()).toMatchObject({ ids: 0, acceptedTotal: 0, duplicatesTotal: 0, failedBatches: 1 });
    control.isBroken = false;
    expect(await ingest.ingest(request)).toEqual({ accepted: 1, duplicates: 0 });
    await ingest.close();
  });

  it('stores nothing of a request with one bad event, and its good ids stay new', async () => {
    await store.clear();
    const ingest = await startIngest(store.clickhouse, { now: () => START });
    const bad = body(
      [
        { id: 'good', customer: 'acme', value: 'a' },
        { id: 'bad', customer: '', value: 'b' },
      ],
      START,
    );
    await expect(ingest.ingest(bad)).rejects.toMatchObject({
      kind: 'invalid',
      details: {
        errors: [{ index: 1, transaction_id: 'bad', message: 'customer_id: must have 1 to 256 characters' }],
      },
    });
    const good = body([{ id: 'good', customer: 'acme', value: 'a' }], START);
    expect(await ingest.ingest(good)).toEqual({ accepted: 1, duplicates: 0 });
    await ingest.close();
  });

  it('keeps the new events of a request whose repeats cannot be noted', async () => {
    await store.clear();
    const ingest = createIngest({
      clickhouse: store.clickhouse,
      clock: { now: () => START },
      windowDays: WINDOW_DAYS,
      log: quiet,
      onRepeat: () => {
        throw new Error('no room for notes');
      },
    });
    await ingest.rebuild();
    const one = { id: 'tx', customer: 'acme', value: 'a' };
    await expect(ingest.ingest(body([one, one], START))).rejects.toThrow('no room for notes');
    await ingest.close();
    expect(await store.rowCount()).toBe(1);
  });

  it('refuses as unavailable before the index is built and after it was closed', async () => {
    const ingest = createIngest({
      clickhouse: store.clickhouse,
      clock: { now: () => START },
      windowDays: WINDOW_DAYS,
      log: quiet,
    });
    const request = body([{ id: 'tx', customer: 'acme', value: 'a' }], START);
    await expect(ingest.ingest(request)).rejects.toBeInstanceOf(Refusal);
    await expect(ingest.ingest(request)).rejects.toMatchObject({ kind: 'unavailable' });
    await ingest.rebuild();
    await ingest.close();
    await expect(ingest.ingest(request)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('goes on with later ticks after a restart, even when the clock stands still', async () => {
    await store.clear();
    const clock = { now: () => START };
    for (const id of ['a', 'b', 'c']) {
      const ingest = await startIngest(store.clickhouse, clock);
      await ingest.ingest(
        body(
          [
            { id, customer: 'acme', value: id },
            { id: `${id}2`, customer: 'acme', value: id },
          ],
          START,
        ),
      );
      await ingest.close();
    }
    const events = await store.events();
    expect(events.map((event) => event.transaction_id)).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2']);
    expect(events.map((event) => event.ingested_us - START * 1000)).toEqual([0, 1, 2, 3, 4, 5]);
    const versions = events.map((event) => BigInt(event.version));
    expect(versions.every((version, i) => i === 0 || version < (versions[i - 1] ?? 0n))).toBe(true);
  });

  it('reads an id only within the window when it rebuilds', async () => {
    await store.clear();
    const clock = { at: START, now: () => clock.at };
    const first = await startIngest(store.clickhouse, clock);
    await first.ingest(body([{ id: 'old', customer: 'acme', value: 'a' }], clock.at));
    clock.at += 10 * DAY_MS;
    await first.ingest(body([{ id: 'young', customer: 'acme', value: 'a' }], clock.at));
    await first.close();
    clock.at += 24 * DAY_MS;
    const second = createIngest({ clickhouse: store.clickhouse, clock, windowDays: WINDOW_DAYS, log: quiet });
    expect(await second.rebuild()).toEqual({ ids: 1 });
    const retry = body(
      ['old', 'young'].map((id) => ({ id, customer: 'acme', value: 'b' })),
      clock.at,
    );
    expect(await second.ingest(retry)).toEqual({ accepted: 1, duplicates: 1 });
    await second.close();
  });
});
