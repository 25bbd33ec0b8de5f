/** Stored calls are found whether ClickHouse is asked for them or not: after restarts, and when few are kept in memory. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CountedCall } from '../../src/metering/otlp/counted-call.ts';
import { createKnownCalls } from '../../src/metering/otlp/known-calls.ts';
import { createRecentCalls } from '../../src/metering/otlp/recent-calls.ts';
import type { Span } from '../../src/metering/otlp/span.ts';
import { type StoredCalls, soughtTime } from '../../src/metering/otlp/stored-calls.ts';
import { runs } from '../support/shares-of-tests.ts';

const START = Date.UTC(2026, 10, 1);
const RECENT_MAX = 4;

type Step =
  | { readonly kind: 'request'; readonly trace: number; readonly ended: number; readonly lasted: number }
  | { readonly kind: 'restart' };

const minutes = (max: number) => fc.nat(max).map((minute) => minute * 60_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      trace: fc.nat(2),
      ended: minutes(12),
      lasted: minutes(90),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

function callOf(
  number: number,
  { trace, ended }: { readonly trace: number; readonly ended: number },
): CountedCall {
  return {
    ...{ transactionId: `call-${number}`, customer: 'c', endedAt: START + ended, traceId: `t${trace}` },
    ...{ spanId: `s${number}`, parentSpanId: '', input: 1n, uncached: 1n, output: 1n },
  };
}

/** A process on a store whose calls are those of the processes before it. */
function startOn(store: readonly CountedCall[], isShared: boolean) {
  let queries = 0;
  const stored: StoredCalls = {
    lastOfOthers: async () => (isShared ? null : Math.max(0, ...store.map(({ endedAt }) => endedAt))),
    async inTraces({ traceIds, customers, from, to }) {
      queries += 1;
      return store.filter(
        (call) =>
          traceIds.includes(call.traceId) &&
          customers.includes(call.customer) &&
          call.endedAt >= from &&
          call.endedAt <= to,
      );
    },
    byId: async () => [],
  };
  const known = createKnownCalls(stored, () => {}, createRecentCalls(RECENT_MAX));
  return { known, queries: () => queries };
}

const spanFrom = (began: number): Span => ({ startTimeUnixNano: BigInt(began) * 1_000_000n }) as Span;
const idsOf = (calls: readonly CountedCall[]) => calls.map(({ transactionId }) => transactionId).sort();

test('the calls that a span may restate are found with and without a query, after restarts too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, isShared) => {
      const store: CountedCall[] = [];
      let { known } = startOn(store, isShared);
      for (const [number, one] of steps.entries()) {
        if (one.kind === 'restart') {
          ({ known } = startOn(store, isShared));
          continue;
        }
        const call = callOf(number, one);
        const began = call.endedAt - one.lasted;
        const { from, to } = soughtTime(began, call.endedAt);
        const expected = store.filter(
          ({ traceId, endedAt }) => traceId === call.traceId && endedAt >= from && endedAt <= to,
        );
        const found = (await known.find([call], [spanFrom(began)], [])).inTraces();
        expect(idsOf(found)).toEqual(expect.arrayContaining(idsOf(expected)));
        store.push(call);
        known.recent.add(call);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a request whose spans began after all others asks ClickHouse nothing, and a shared store is always asked', async () => {
  const earlier = callOf(0, { trace: 0, ended: 0 });
  for (const [isShared, expected] of [
    [false, 0],
    [true, 2],
  ] as const) {
    const { known, queries } = startOn([earlier], isShared);
    for (const ended of [600_000, 660_000]) {
      const call = callOf(ended, { trace: 1, ended });
      await known.find([call], [spanFrom(call.endedAt - 1_000)], []);
      known.recent.add(call);
    }
    expect(queries()).toBe(expected);
  }
});
