/**
 * Senders that wait for their turn, because no more events may wait to be written, while a move of the stores to servers
 * closes the gate: each is answered, and exactly what is acknowledged is in the copy that the move takes.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createApplication } from '../../src/app/application/application.ts';
import type { FrozenTables } from '../../src/app/backups/messages.ts';
import { askMovedService, type MoveChannel, openMoveChannel } from '../../src/app/move/move-channel.ts';
import { createWriteGate, type WriteGate } from '../../src/app/move/write-gate.ts';
import { createPlace, type Place } from '../../src/app/service/moved-place.ts';
import { createEmbeddedClickHouse } from '../../src/app/stores/stores.ts';
import { writeMove } from '../../src/embedded/move-record.ts';
import { createEventBlocks } from '../../src/metering/ingest/event-blocks.ts';
import { withAcknowledgedEvents } from '../../src/metering/ingest/read-events.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { openLog } from '../support/event-log.ts';
import { type HeldLog, holdLog } from '../support/held-log.ts';
import { createTestDatabase, createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-the-sender';
const NOW = Date.UTC(2026, 10, 20, 12);
const log = pino({ level: 'silent' });
const WAIT = { timeout: 60_000, interval: 5 };
const MOVE_ID = '3c1f3e52-9d0c-4c3a-9a38-54f2f6f1d0aa';
const TO = { postgres: 'db.example.com:5432', clickhouse: 'events.example.com:8443' };

/** A batch takes 32 MB, so a third of these wait for the one that follows it. */
const REQUESTS = 50;
const EVENTS = 100;
const BATCH_BYTES = 32 * 1024 * 1024;
const TEXT = 'x'.repeat(10_000);

let dataDir: string;
let gate: WriteGate;
let place: Place;
let channel: MoveChannel;
let held: HeldLog;
let left: Promise<void> | undefined;
let closeAll: () => Promise<void>;

beforeAll(async () => {
  dataDir = await createTestDirectory();
  const [database, embedded] = await Promise.all([
    createTestDatabase(),
    createEmbeddedClickHouse({ directory: join(dataDir, 'clickhouse') }),
  ]);
  await applySchema(embedded, undefined);
  const eventLog = await openLog(dataDir);
  held = holdLog(eventLog);
  const blocks = createEventBlocks({ clickhouse: embedded, log: held.log });
  const clickhouse = withAcknowledgedEvents(embedded, blocks);
  gate = createWriteGate();
  const application = await createApplication({
    config: { apiToken: TOKEN, gracePeriodHours: 24, ingestWindowDays: 34, sandboxNow: NOW },
    stores: { db: database.db, clickhouse, blocks, pingPostgres: database.ping },
    firstToken: async () => ({ token: TOKEN }),
    ...{ log, gate },
  });
  const close = [() => application.close(), () => blocks.close(), () => eventLog.close()];
  const stores = { clickhouse };
  place = createPlace({ dataDir, log, stores, application, waitMs: 10_000, close });
  channel = await openMoveChannel({
    ...{ dataDir, log, gate, clickhouse },
    problem: () => application.problems()[0] ?? null,
    onMoved: () => {
      left = place.leave();
    },
  });
  closeAll = async () => {
    held.open();
    await channel.close();
    await (left ?? place.leave());
    await embedded.close();
    await database.close();
  };
});
afterAll(() => closeAll());
beforeEach(() => held.hold());

interface Answer {
  readonly status: number;
  readonly message: string;
}

let sent = 0;
let acknowledged = 0;

async function send(): Promise<Answer> {
  const events = Array.from({ length: EVENTS }, () => {
    sent += 1;
    const event = { transaction_id: `event-${sent}`, customer_id: 'acme', event_type: 'call' };
    return { ...event, timestamp: new Date(NOW).toISOString(), properties: { text: TEXT } };
  });
  const request = new Request('http://localhost/v1/ingest', {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  const { status, text } = await answerTo(request);
  const { message = '', accepted = 0 } = JSON.parse(text) as { message?: string; accepted?: number };
  acknowledged += accepted;
  return { status, message };
}

async function answerTo(request: Request): Promise<{ status: number; text: string }> {
  const answer = await place.fetch(request);
  return { status: answer.status, text: await answer.text() };
}

async function waitingBytes(): Promise<number> {
  const { text } = await answerTo(new Request('http://localhost/metrics'));
  return Number(/^tallyhouse_ingest_waiting_bytes (\d+)$/m.exec(text)?.[1]);
}

/** Resolves when one batch waits for the log and another is full; the rest of the senders waits for its turn. */
async function sendTooMuch(): Promise<{ readonly answers: Promise<Answer[]> }> {
  const answers = Promise.all(Array.from({ length: REQUESTS }, send));
  await vi.waitUntil(async () => held.waiting() === 1 && (await waitingBytes()) > BATCH_BYTES, WAIT);
  const requestsWithRoom = Math.ceil((await waitingBytes()) / (EVENTS * TEXT.length));
  expect(requestsWithRoom).toBeLessThan(REQUESTS);
  return { answers };
}

const taken = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length;

/** Rows of events in the parts that a move copies. */
async function eventsIn({ directory, tables }: FrozenTables): Promise<number> {
  const id = tables.find(({ name }) => name === 'usage_events')?.id;
  const paths = await readdir(directory, { recursive: true });
  const counts = paths.filter((path) => path.includes(`${id}`) && path.endsWith('/count.txt'));
  const rows = await Promise.all(counts.map((path) => readFile(join(directory, path), 'utf8')));
  return rows.reduce((sum, text) => sum + Number(text), 0);
}

async function copied(move: Awaited<ReturnType<typeof askMovedService>>): Promise<number> {
  const reply = await move.ask({ ask: 'freeze' });
  if (!('frozen' in reply)) throw new Error(JSON.stringify(reply));
  return await eventsIn(reply.frozen);
}

const MOVING = { status: 503, message: expect.stringContaining('are being moved') };

test('senders that wait for their turn are taken when a move that waits for them is given up, and so are later ones', async () => {
  const { answers } = await sendTooMuch();
  const move = await askMovedService(dataDir);
  const holding = move.ask({ ask: 'hold' }).catch((error: unknown) => error);
  await vi.waitUntil(() => gate.isClosed(), WAIT);
  expect(await send()).toEqual(MOVING);
  move.close();
  held.open();
  expect(taken(await answers)).toBe(REQUESTS);
  await holding;
  await vi.waitUntil(() => !gate.isClosed(), WAIT);
  expect(await send()).toEqual({ status: 200, message: '' });
});

test('senders whose batch cannot be written while a move waits for them are refused, the others are taken, and the copy has exactly what was acknowledged', async () => {
  const { answers } = await sendTooMuch();
  const move = await askMovedService(dataDir);
  const holding = move.ask({ ask: 'hold' });
  await vi.waitUntil(() => gate.isClosed(), WAIT);
  held.release(false);
  // The batch that was full waits for the log now.
  await vi.waitUntil(() => held.waiting() === 1, WAIT);
  held.open();
  const all = await answers;
  const refused = all.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ message }) => message))).toEqual(
    new Set(['the events could not be written; none of them was acknowledged, send them again']),
  );
  expect(taken(all)).toBe(REQUESTS - refused.length);
  expect(await holding).toEqual({ done: true });
  expect(await copied(move)).toBe(acknowledged);
  move.close();
  await vi.waitUntil(() => !gate.isClosed(), WAIT);
});

test('senders that wait for their turn while a move closes the gate are taken and moved, and later ones get the address of the stores', async () => {
  const { answers } = await sendTooMuch();
  await writeMove(dataDir, { id: MOVE_ID, to: TO, startedAt: new Date(NOW).toISOString(), movedAt: null });
  const move = await askMovedService(dataDir);
  let isHeld = false;
  const holding = move.ask({ ask: 'hold' }).then((reply) => {
    isHeld = true;
    return reply;
  });
  await vi.waitUntil(() => gate.isClosed(), WAIT);
  expect(await send()).toEqual(MOVING);
  expect(isHeld).toBe(false);
  held.open();
  const all = await answers;
  expect(taken(all)).toBe(REQUESTS);
  expect(await holding).toEqual({ done: true });
  expect(await copied(move)).toBe(acknowledged);
  expect(await move.ask({ ask: 'leave', id: MOVE_ID })).toEqual({ done: true });
  move.close();
  await vi.waitUntil(() => left !== undefined, WAIT);
  // The record of the move is read again after the gate has closed.
  await expect.poll(send, WAIT).toEqual({ status: 503, message: expect.stringContaining(TO.clickhouse) });
  await left;
});
