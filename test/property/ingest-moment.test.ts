/**
 * The moment up to which events are complete: no event arrives later at or before it, and no acknowledged one is
 * missing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, HOUR_MS } from '../../src/core/time.ts';
import { createEventBlocks } from '../../src/metering/ingest/event-blocks.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import { withAcknowledgedEvents } from '../../src/metering/ingest/read-events.ts';
import { openLog } from '../support/event-log.ts';
import { holdLog } from '../support/held-log.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';
import { type IngestStore, openIngestStore } from './ingest-store.ts';

const START = Date.UTC(2026, 10, 20, 12);
/** Longer than a batch waits for further requests. */
const BATCH_STARTS_MS = 10;

/** Opens the ingest over the log in a directory, as a start of the service does. */
async function open(store: IngestStore, directory: string, clock: { now(): number }) {
  const log = await openLog(directory);
  const control = holdLog(log);
  const blocks = createEventBlocks({ clickhouse: store.clickhouse, log: control.log });
  const clickhouse = withAcknowledgedEvents(store.clickhouse, blocks);
  const ingest = createIngest({ clickhouse, blocks, clock, windowDays: 34, log: { error() {} } });
  return {
    ...{ ingest, blocks, control },
    close: async () => {
      control.open();
      await ingest.close();
      await blocks.close();
      await log.close();
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('send' as const), events: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('release' as const), isKept: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.integer({ min: -5_000, max: 5_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

describe('the moment up to which events are complete', () => {
  let store: IngestStore;
  beforeAll(async () => {
    store = await openIngestStore();
  });
  afterAll(() => store.close());

  it('the moment up to which events are complete is known neither before the start has read what is stored, nor without a log of this process', async () => {
    await store.clear();
    const clock = { now: () => START };
    const opened = await open(store, await createTestDirectory(), clock);
    expect(opened.ingest.completeUpTo()).toBeNull();
    await opened.ingest.rebuild();
    expect(Number(opened.ingest.completeUpTo())).toBeGreaterThanOrEqual(START * 1_000);
    await opened.close();
    const toServer = createIngest({
      ...{ clickhouse: store.clickhouse, clock },
      windowDays: 34,
      log: { error() {} },
    });
    await toServer.rebuild();
    expect(toServer.completeUpTo()).toBeNull();
    await toServer.close();
  });

  it('the moment up to which events are complete has all acknowledged events before it, and no event later, whatever waits, fails, restarts or sets the clock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
        await store.clear();
        const clock = { at: START, now: () => clock.at };
        const directory = await createTestDirectory();
        let sent = 0;
        const acknowledged = new Set<string>();
        let looks: { readonly upTo: number; readonly ids: readonly string[] }[] = [];
        let requests: Promise<void>[] = [];

        const start = async (): Promise<Opened> => {
          const opened = await open(store, directory, clock);
          await opened.ingest.rebuild();
          return opened;
        };
        const idsUpTo = async (upTo: number) =>
          (await store.events()).filter((one) => one.ingested_us <= upTo).map((one) => one.transaction_id);
        const send = async ({ ingest }: Opened, count: number) => {
          const first = sent + 1;
          sent += count;
          const ids = Array.from({ length: count }, (_, index) => `event-${first + index}`);
          const timestamp = formatInstant(clock.at - HOUR_MS);
          const events = ids.map((transaction_id) => ({
            ...{ transaction_id, customer_id: 'acme', event_type: 'tokens', timestamp, properties: {} },
          }));
          try {
            await ingest.ingest(Buffer.from(JSON.stringify(events)));
            for (const id of ids) acknowledged.add(id);
          } catch {
            // Not acknowledged: whether it is stored is open, but not for a moment that has been seen.
          }
        };
        const look = async ({ ingest, blocks }: Opened) => {
          const before = [...acknowledged];
          const upTo = Number(ingest.completeUpTo());
          await blocks.visible(['acme']);
          const ids = await idsUpTo(upTo);
          expect(ids).toEqual(expect.arrayContaining(before));
          looks.push({ upTo, ids });
        };
        const end = async (opened: Opened) => {
          await opened.close();
          await Promise.all(requests);
          for (const { upTo, ids } of looks) expect(await idsUpTo(upTo)).toEqual(ids);
          looks = [];
          requests = [];
        };

        let opened = await start();
        for (const one of steps) {
          if (one.kind === 'send') {
            requests.push(send(opened, one.events));
            await delay(BATCH_STARTS_MS);
          } else if (one.kind === 'look') await look(opened);
          else if (one.kind === 'release') {
            opened.control.release(one.isKept);
            await delay(BATCH_STARTS_MS);
          } else if (one.kind === 'clock') clock.at += one.ms;
          else {
            await end(opened);
            opened = await start();
          }
        }
        await look(opened);
        await end(opened);
      }),
      { numRuns: runs(60) },
    );
  });
});
