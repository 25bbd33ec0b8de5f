/**
 * Requests whose ids have to be looked up, while the lookup takes its time: nothing of them is reserved or stored before
 * it, and one that is late, or one too many, is refused as a whole.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { DAY_MS, formatInstant, HOUR_MS, type Instant } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { fill, type KnownIdsStore, openKnownIdsStore } from '../support/known-ids-store.ts';

const PAGE_BYTES = 4_096;
const EVENTS_MAX = 100;
/** `docs/reference/limits.md`. */
const WAITING_IDS_MAX = 100_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
const WAIT_SECONDS_MAX = 10;

let store: KnownIdsStore;
/** Ids that are in files. */
let known: string[];
/** While it is closed ClickHouse answers no question. */
let gate: { readonly opened: Promise<void>; open(): void; asked: number };

beforeEach(async () => {
  store = await openKnownIdsStore();
  known = await fill(store);
  await store.stop();
  gate = { opened: Promise.resolve(), open() {}, asked: 0 };
  const slow: ClickHouse = {
    ...store.clickhouse,
    async query(query) {
      gate.asked += 1;
      await gate.opened;
      return await store.clickhouse.query(query);
    },
  };
  await store.start(slow);
  for (const file of await store.files()) await spoil(store.path(file));
});
afterEach(async () => {
  vi.useRealTimers();
  gate.open();
  await store.close();
});

/** Then ClickHouse is asked for what the first page of the file may have. */
async function spoil(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[PAGE_BYTES + 5] = (bytes[PAGE_BYTES + 5] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

function close(): void {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { opened, open, asked: 0 };
}

interface Sent {
  readonly ids: readonly string[];
  readonly at?: Instant;
  readonly text?: string;
}

function send({ ids, at = store.clock.at - HOUR_MS, text = '' }: Sent) {
  const events = ids.map((transaction_id) => ({
    ...{ transaction_id, customer_id: 'globex', event_type: 'use', timestamp: formatInstant(at) },
    properties: { text },
  }));
  return store.ingest().ingest(Buffer.from(JSON.stringify(events)));
}

const oneKnown = () => known[7] ?? '';
const manyKnown = () => Array.from({ length: EVENTS_MAX }, oneKnown);

async function rows(): Promise<number> {
  const [row] = await store.clickhouse.query({
    sql: 'SELECT count() AS rows FROM usage_events',
    schema: z.object({ rows: z.coerce.number() }),
  });
  return row?.rows ?? 0;
}

it('requests are refused as a whole when the lookup takes longer than ten seconds, and stored once when sent again', async () => {
  const before = await rows();
  close();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const late = send({ ids: ['new-1', oneKnown()] });
  const outcome = expect(late).rejects.toMatchObject({ kind: 'unavailable' });
  while (gate.asked === 0) await nextTurn();
  vi.advanceTimersByTime(WAIT_SECONDS_MAX * 1_000 - 1);
  expect(await Promise.race([late.catch(() => 'refused'), nextTurn('waits')])).toBe('waits');
  vi.advanceTimersByTime(1);
  await outcome;
  vi.useRealTimers();
  gate.open();
  expect(await rows()).toBe(before);
  expect(await send({ ids: ['new-1', oneKnown()] })).toEqual({ accepted: 1, duplicates: 1 });
  expect(await rows()).toBe(before + 1);
});

it('requests are refused while too many ids wait for their lookup, and those that wait get their answer', async () => {
  close();
  // On a slow machine the lookups would end by their limit of time before the refusal is seen.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const first = send({ ids: [oneKnown()] });
  // It is asked for alone, so everything after it waits.
  while (gate.asked === 0) await nextTurn();
  const waiting = Array.from({ length: WAITING_IDS_MAX / EVENTS_MAX }, () => send({ ids: manyKnown() }));
  await expect(send({ ids: [oneKnown(), 'new-1'] })).rejects.toMatchObject({ kind: 'overloaded' });
  vi.useRealTimers();
  // Events that need no lookup are taken in the meantime.
  expect(await send({ ids: ['new-2'] })).toEqual({ accepted: 1, duplicates: 0 });
  gate.open();
  expect(await first).toEqual({ accepted: 0, duplicates: 1 });
  for (const each of waiting) expect(await each).toEqual({ accepted: 0, duplicates: EVENTS_MAX });
  // Many requests are looked up together.
  expect(gate.asked).toBeLessThan(waiting.length / 4);
  expect(await send({ ids: [oneKnown(), 'new-1'] })).toEqual({ accepted: 1, duplicates: 1 });
});

it('requests are refused while too many bytes of events wait for a lookup, and taken afterwards', async () => {
  const text = 'x'.repeat(15_000);
  close();
  const large = () => send({ ids: manyKnown(), text });
  const waiting = [];
  for (
    let bytes = 0;
    bytes + EVENTS_MAX * text.length < WAITING_BYTES_MAX;
    bytes += EVENTS_MAX * text.length
  ) {
    const sent = large();
    sent.catch(() => undefined);
    waiting.push(sent);
  }
  // Rows are a little larger than their text, so the last ones may not fit.
  await expect(large()).rejects.toMatchObject({ kind: 'overloaded' });
  gate.open();
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeLessThanOrEqual(1);
  expect(await large()).toEqual({ accepted: 0, duplicates: EVENTS_MAX });
});

it.each([
  { moves: 'back by an hour', by: -HOUR_MS },
  { moves: 'back by three days', by: -3 * DAY_MS },
  { moves: 'ahead by an hour', by: HOUR_MS },
])('know the same ids when the clock is set $moves meanwhile', async ({ by }) => {
  const before = await rows();
  close();
  const at = store.clock.at - 4 * DAY_MS;
  const sent = send({ ids: [oneKnown(), 'new-1'], at });
  while (gate.asked === 0) await nextTurn();
  store.clock.at += by;
  gate.open();
  expect(await sent).toEqual({ accepted: 1, duplicates: 1 });
  expect(await send({ ids: [oneKnown(), 'new-1'], at })).toEqual({ accepted: 0, duplicates: 2 });
  expect(await rows()).toBe(before + 1);
});

it.each([
  { what: 'too old', hours: 0, by: 35 * DAY_MS },
  { what: 'too far ahead', hours: 24, by: -HOUR_MS },
])('events are refused where their timestamps are $what by the time of the answer', async ({ hours, by }) => {
  const before = await rows();
  close();
  const sent = send({ ids: [oneKnown(), 'new-1'], at: store.clock.at + hours * HOUR_MS });
  while (gate.asked === 0) await nextTurn();
  store.clock.at += by;
  gate.open();
  await expect(sent).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await rows()).toBe(before);
});
