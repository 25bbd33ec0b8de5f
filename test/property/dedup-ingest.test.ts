import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/core/errors.ts';
import { DAY_MS, formatInstant, HOUR_MS, SECOND_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import type { Ingest } from '../../src/metering/ingest/ingest-operations.ts';
import { createOlderIds, type OlderIdsForTest } from '../support/older-ids.ts';
import { runs } from '../support/shares-of-tests.ts';
import { type IngestStore, openIngestStore } from './ingest-store.ts';

const START = Date.UTC(2026, 10, 20, 12, 0, 0, 250);
const WINDOW_DAYS = 34;

const quiet = { error() {} };

interface Sent {
  readonly id: string;
  readonly customer: string;
  readonly value: string;
  /** How far its timestamp lies from now, an hour back by default; 'first' is that of the event accepted before. */
  readonly dated?: number | 'first';
}

function body(events: readonly Sent[], now: number, timestampOf = timestampFrom(now)): Buffer {
  return Buffer.from(
    JSON.stringify(
      events.map((event) => ({
        transaction_id: event.id,
        customer_id: event.customer,
        event_type: 'tokens',
        timestamp: formatInstant(timestampOf(event)),
        properties: { value: event.value },
      })),
    ),
  );
}

/** The timestamp of `firsts` is taken while ingest accepts it. */
function timestampFrom(now: number, firsts: ReadonlyMap<string, number> = new Map()) {
  return ({ id, dated = -HOUR_MS }: Sent): number => {
    const first = firsts.get(id) ?? now - HOUR_MS;
    if (dated === 'first') return first < now - WINDOW_DAYS * DAY_MS ? now - HOUR_MS : first;
    return now + dated;
  };
}

/** The events that are accepted and stored after one order of requests. */
interface Model {
  readonly accepted: ReadonlyMap<string, { readonly at: number; readonly timestamp: number }>;
  readonly stored: readonly Sent[];
}

interface Sending {
  readonly at: number;
  timestampOf(event: Sent): number;
}

/** One request after the other: which of their events are new, and what is accepted with them. */
function afterRequests(
  before: Model,
  requests: readonly (readonly Sent[])[],
  { at, timestampOf }: Sending,
): { readonly model: Model; readonly fresh: readonly number[] } {
  const accepted = new Map(before.accepted);
  const stored = [...before.stored];
  const fresh = requests.map((events) => {
    const taken = events.filter((event) => {
      const known = accepted.get(event.id);
      const timestamp = timestampOf(event);
      const isWithin = known !== undefined && at - known.at < WINDOW_DAYS * DAY_MS;
      // Past the window the accepted event itself is still known, by a timestamp that it may have.
      if (isWithin || (known !== undefined && timestamp <= Math.max(known.at, known.timestamp))) return false;
      accepted.set(event.id, { at, timestamp });
      return true;
    });
    stored.push(...taken);
    return taken.length;
  });
  return { model: { accepted, stored }, fresh };
}

function isAnswer(
  outcome: PromiseSettledResult<unknown> | undefined,
  events: readonly Sent[],
  fresh: number,
): boolean {
  const value = { accepted: fresh, duplicates: events.length - fresh };
  return outcome?.status === 'fulfilled' && isDeepStrictEqual(outcome.value, value);
}

/** Requests in flight together have no fixed order where some of them wait for a lookup. */
function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

/** The same for models that the same steps lead on from. */
function keyOf({ accepted, stored }: Model): string {
  return JSON.stringify([
    inOrder(
      [...accepted].map(([id, one]) => ({ id, ...one })),
      true,
    ),
    inOrder(stored, true),
  ]);
}

/** By id and content where the order of storing says nothing. */
function inOrder<Item extends { readonly id: string }>(items: readonly Item[], isSorted: boolean): Item[] {
  const keyed = items.map((item) => ({ item, key: JSON.stringify(item) }));
  if (isSorted) keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return keyed.map(({ item }) => item);
}

const sent = fc.record({
  id: fc.constantFrom(...Array.from({ length: 12 }, (_, i) => `tx-${i}`)),
  customer: fc.constantFrom('acme', 'globex'),
  value: fc.stringMatching(/^[a-z]{1,4}$/),
  dated: fc.constantFrom<number | 'first'>(-HOUR_MS, 'first', 'first', 0, 5 * HOUR_MS, DAY_MS),
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
    arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(0.5, 20, WINDOW_DAYS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      requests: fc.array(fc.array(sent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 }),
    }),
  },
);

describe.each([
  { ids: 'all known ids in memory', hasFiles: false },
  { ids: 'most known ids in files', hasFiles: true },
])('ingest into a real ClickHouse, $ids', ({ hasFiles }) => {
  let store: IngestStore;
  let olderIds: OlderIdsForTest | undefined;
  beforeAll(async () => {
    store = await openIngestStore();
    if (hasFiles) olderIds = await createOlderIds(store.clickhouse, 1);
  });
  afterAll(async () => {
    await store.close();
  });

  async function clear(): Promise<void> {
    await store.clear();
    await olderIds?.clear();
  }

  async function startIngest(clickhouse: ClickHouse, clock: { now(): number }): Promise<Ingest> {
    const log = quiet;
    const ingest = createIngest({ clickhouse, clock, windowDays: WINDOW_DAYS, log, olderIds });
    await ingest.rebuild();
    return ingest;
  }

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

  it('ingest stores the first accepted copy of every id and nothing else, through retries, failures, restarts and time', async () => {
    const met = { files: 0, lookups: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        await clear();
        const { clickhouse, control } = controlled();
        const clock = { at: START, now: () => clock.at };
        let ingest = await startIngest(clickhouse, clock);
        const end = async () => {
          const { runs: files, lookups } = ingest.stats().knownIds;
          met.files = Math.max(met.files, files);
          met.lookups += lookups.known;
          await ingest.close();
        };
        let models: readonly Model[] = [{ accepted: new Map(), stored: [] }];
        for (const current of steps) {
          await ingest.tidied();
          // Ids leave memory when the second of their acceptance is over.
          clock.at += SECOND_MS;
          if (current.kind === 'wait') {
            clock.at += current.days * DAY_MS;
          } else if (current.kind === 'restart') {
            await end();
            ingest = await startIngest(clickhouse, clock);
          } else {
            control.isBroken = current.kind === 'break';
            const firsts = new Map(
              [...(models[0]?.accepted ?? [])].map(([id, { timestamp }]) => [id, timestamp]),
            );
            const timestampOf = timestampFrom(clock.at, firsts);
            const outcomes = await Promise.allSettled(
              current.requests.map((events) => ingest.ingest(body(events, clock.at, timestampOf))),
            );
            if (control.isBroken) {
              // While writes fail, a request either fails or has nothing new.
              for (const [i, events] of current.requests.entries()) {
                if (outcomes[i]?.status !== 'fulfilled') continue;
                expect(outcomes[i].value).toEqual({ accepted: 0, duplicates: events.length });
              }
              continue;
            }
            const orders = hasFiles ? permutations(current.requests) : [current.requests];
            const answers = new Map(current.requests.map((events, i) => [events, outcomes[i]]));
            const next = models.flatMap((model) =>
              orders.flatMap((order) => {
                const after = afterRequests(model, order, { at: clock.at, timestampOf });
                return order.every((events, i) => isAnswer(answers.get(events), events, after.fresh[i] ?? 0))
                  ? [after.model]
                  : [];
              }),
            );
            expect(next.length, JSON.stringify(outcomes)).toBeGreaterThan(0);
            models = [...new Map(next.map((model) => [keyOf(model), model])).values()];
          }
        }
        await end();
        const stored = (await store.events()).map(
          ({ transaction_id: id, customer_ref: customer, properties }) => ({
            id,
            customer,
            value: properties.value,
          }),
        );
        const possible = models.map((model) =>
          inOrder(
            model.stored.map(({ dated: _, ...event }) => event),
            hasFiles,
          ),
        );
        expect(possible).toContainEqual(inOrder(stored, hasFiles));
        expect(await store.rowCount()).toBe(stored.length);
      }),
      { numRuns: runs(25) },
    );
    if (hasFiles) {
      expect(met.files).toBeGreaterThan(1);
      expect(met.lookups).toBeGreaterThan(20);
    }
  });

  it('ingest answers a duplicate of an event that is still being written only when that event is on disk', async () => {
    await clear();
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

  it('ingest fails the duplicate as well when the write of the first copy fails, and then takes the id as new', async () => {
    await clear();
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

  it('ingest stores nothing of a request with one bad event, and its good ids stay new', async () => {
    await clear();
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

  it('ingest keeps the new events of a request whose repeats cannot be recorded', async () => {
    await clear();
    const ingest = createIngest({
      clickhouse: store.clickhouse,
      clock: { now: () => START },
      windowDays: WINDOW_DAYS,
      log: quiet,
      olderIds,
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

  it('ingest refuses as unavailable before the index is built and after it was closed', async () => {
    const ingest = createIngest({
      clickhouse: store.clickhouse,
      clock: { now: () => START },
      windowDays: WINDOW_DAYS,
      log: quiet,
      olderIds,
    });
    const request = body([{ id: 'tx', customer: 'acme', value: 'a' }], START);
    await expect(ingest.ingest(request)).rejects.toBeInstanceOf(Refusal);
    await expect(ingest.ingest(request)).rejects.toMatchObject({ kind: 'unavailable' });
    await ingest.rebuild();
    await ingest.close();
    await expect(ingest.ingest(request)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('ingest continues with later ticks after a restart, even when the clock stands still', async () => {
    await clear();
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

  it('ingest never says accepted of an event that would collapse with the first, however far ahead that was dated', async () => {
    await clear();
    const clock = { at: START, now: () => clock.at };
    const dated = START + DAY_MS;
    const request = (at: number) => body([{ id: 'ahead', customer: 'acme', value: 'a' }], clock.at, () => at);
    let ingest = await startIngest(store.clickhouse, clock);
    expect(await ingest.ingest(request(dated))).toEqual({ accepted: 1, duplicates: 0 });
    for (const wait of [WINDOW_DAYS * DAY_MS, DAY_MS]) {
      clock.at += wait;
      for (let restarts = 0; restarts < 2; restarts += 1) {
        expect(await ingest.ingest(request(dated))).toEqual({ accepted: 0, duplicates: 1 });
        await ingest.close();
        ingest = await startIngest(store.clickhouse, clock);
      }
    }
    clock.at += 1;
    await expect(ingest.ingest(request(dated))).rejects.toMatchObject({ kind: 'invalid' });
    // Dated later, it is another event, as any with the id after the window.
    expect(await ingest.ingest(request(clock.at))).toEqual({ accepted: 1, duplicates: 0 });
    await ingest.close();
    expect(await store.events()).toHaveLength(2);
  });

  it('learns from another process how far ahead its events are dated', async () => {
    await clear();
    const clock = { at: START, now: () => clock.at };
    const first = await startIngest(store.clickhouse, clock);
    const second = await startIngest(store.clickhouse, clock);
    const request = body([{ id: 'ahead', customer: 'acme', value: 'a' }], START, () => START + DAY_MS);
    expect(await first.ingest(request)).toEqual({ accepted: 1, duplicates: 0 });
    expect(await second.tail()).toEqual({ rows: 1 });
    clock.at += (WINDOW_DAYS + 1) * DAY_MS;
    expect(await second.ingest(request)).toEqual({ accepted: 0, duplicates: 1 });
    await first.close();
    await second.close();
  });

  it('ingest reads an id only within the window when it rebuilds', async () => {
    await clear();
    const clock = { at: START, now: () => clock.at };
    const first = await startIngest(store.clickhouse, clock);
    await first.ingest(body([{ id: 'old', customer: 'acme', value: 'a' }], clock.at));
    clock.at += 10 * DAY_MS;
    await first.ingest(body([{ id: 'young', customer: 'acme', value: 'a' }], clock.at));
    await first.close();
    // To the whole second in which an event of that age could still be the one that is stored.
    clock.at += 24 * DAY_MS + 1_000;
    const second = createIngest({
      clickhouse: store.clickhouse,
      clock,
      windowDays: WINDOW_DAYS,
      log: quiet,
      olderIds,
    });
    const { ids } = await second.rebuild();
    // A file goes when all of its ids are past the window.
    expect(ids).toBe(hasFiles ? 2 : 1);
    const retry = body(
      ['old', 'young'].map((id) => ({ id, customer: 'acme', value: 'b' })),
      clock.at,
    );
    expect(await second.ingest(retry)).toEqual({ accepted: 1, duplicates: 1 });
    await second.close();
  });
});
