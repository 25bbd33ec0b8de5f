/**
 * Acknowledged events on their way from the log to ClickHouse: no read misses one, no crash loses one, and none is
 * stored twice.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createRowEncoder, rowBytes, USAGE_EVENTS_INSERT } from '../../src/metering/ingest/encode-events.ts';
import {
  createEventBlocks,
  type EventBlocks,
  type EventLog,
} from '../../src/metering/ingest/event-blocks.ts';
import { EventRows } from '../../src/metering/ingest/event-rows.ts';
import { hashTransactionId } from '../../src/metering/ingest/transaction-hash.ts';
import { type IngestStore, openIngestStore } from '../property/ingest-store.ts';
import { openLog } from '../support/event-log.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const MONTH_MS = 31 * 86_400_000;

let store: IngestStore;
beforeAll(async () => {
  store = await openIngestStore();
});
afterAll(async () => {
  await store.close();
});
beforeEach(async () => {
  await store.clear();
});

const encoder = createRowEncoder();

/** One encoded row. */
function row(id: string, customer = 'acme', timestamp = NOW): Buffer {
  const rows = new EventRows();
  hashTransactionId(id, rows.hashes);
  rows.add(timestamp, [id, customer, 'tokens'], ['n', '1']);
  const bytes = Buffer.alloc(rowBytes(rows, 0));
  encoder.encode(rows, 0, NOW, bytes, 0);
  return bytes;
}

/** The real store, whose inserts fail or wait while the test says so. */
function controlled() {
  const control = { failures: 0, gate: Promise.resolve(), inserts: 0 };
  const clickhouse: ClickHouse = {
    ...store.clickhouse,
    async insertRows(insert) {
      control.inserts += 1;
      await control.gate;
      if (control.failures > 0) {
        control.failures -= 1;
        throw new Error('the disk is full');
      }
      await store.clickhouse.insertRows(insert);
    },
  };
  return { clickhouse, control };
}

function gate(): { promise: Promise<void>; open(): void } {
  let openGate = () => {};
  const promise = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  return { promise, open: () => openGate() };
}

async function ids(): Promise<string[]> {
  return (await store.events()).map((event) => event.transaction_id).sort();
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  return settled;
}

describe('a block of acknowledged events', () => {
  let log: EventLog;
  beforeEach(async () => {
    log = await openLog(await createTestDirectory());
  });

  async function ended(blocks: EventBlocks): Promise<void> {
    await blocks.close();
    await log.close();
  }

  it('a block of acknowledged events is in ClickHouse when a read of its customers has waited for it, at once rather than after a second', async () => {
    const blocks = createEventBlocks({ clickhouse: store.clickhouse, log });
    await blocks.append(row('a'), 1);
    expect(await ids()).toEqual([]);
    await blocks.visible(['acme']);
    expect(await ids()).toEqual(['a']);
    await blocks.append(row('b'), 1);
    await blocks.visible(null);
    expect(await ids()).toEqual(['a', 'b']);
    await ended(blocks);
  });

  it('a block of acknowledged events does not hold up reads of other customers', async () => {
    const { clickhouse, control } = controlled();
    const blocks = createEventBlocks({ clickhouse, log });
    const held = gate();
    control.gate = held.promise;
    await blocks.append(row('a'), 1);
    await blocks.visible(['globex']);
    const own = blocks.visible(['globex', 'acme']);
    expect(await isSettled(own)).toBe(false);
    await blocks.visible(['globex']);
    held.open();
    await own;
    expect(await ids()).toEqual(['a']);
    await ended(blocks);
  });

  it('a block of acknowledged events is inserted whenever it is closed, also at the moment at which the one before has left the log', async () => {
    // The read begins this number of microtasks after that moment.
    for (let turns = 0; turns < 12; turns += 1) {
      let read: Promise<void> | undefined;
      const left = gate();
      const blocks: EventBlocks = createEventBlocks({
        clickhouse: store.clickhouse,
        log: {
          append: (rows, count) => log.append(rows, count),
          entries: () => log.entries(),
          close: () => log.close(),
          async removeUpTo(number) {
            await log.removeUpTo(number);
            if (read !== undefined) return;
            await blocks.append(row(`second ${turns}`), 1);
            let turn = Promise.resolve();
            for (let count = 0; count < turns; count += 1) turn = turn.then(() => {});
            read = turn.then(() => blocks.visible(null));
            left.open();
          },
        },
      });
      await blocks.append(row(`first ${turns}`), 1);
      await blocks.visible(null);
      await left.promise;
      await read;
      expect(await ids()).toContain(`second ${turns}`);
      await blocks.close();
    }
    await log.close();
  }, 120_000);

  it('a block of acknowledged events goes to ClickHouse by itself after a second, and leaves the log', async () => {
    const blocks = createEventBlocks({ clickhouse: store.clickhouse, log });
    await blocks.append(row('a'), 1);
    await expect.poll(ids, { timeout: 10_000 }).toEqual(['a']);
    await expect.poll(() => [...log.entries()].length).toBe(0);
    expect(blocks.stats()).toMatchObject({ waitingRows: 0, waitingBytes: 0, inserts: 1 });
    await ended(blocks);
  });

  it('a block of acknowledged events is tried again until ClickHouse takes it; a read that waited meanwhile is refused, not wrong', async () => {
    const { clickhouse, control } = controlled();
    control.failures = 2;
    const failures: number[] = [];
    const blocks = createEventBlocks({ clickhouse, log, onFailure: (_, rows) => failures.push(rows) });
    await blocks.append(row('a'), 1);
    await expect(blocks.visible(['acme'])).rejects.toMatchObject({ kind: 'unavailable' });
    await expect.poll(ids, { timeout: 10_000 }).toEqual(['a']);
    expect(failures).toEqual([1, 1]);
    await blocks.visible(['acme']);
    await ended(blocks);
  });

  it('a block of acknowledged events is stored once where a failed insert had stored some of it', async () => {
    const { clickhouse, control } = controlled();
    const rows = [row('a'), row('b', 'acme', NOW - MONTH_MS), row('c')];
    const partly: ClickHouse = {
      ...clickhouse,
      async insertRows(insert) {
        if (control.inserts === 0) {
          await store.clickhouse.insertRows({ ...USAGE_EVENTS_INSERT, rows: rows[1] ?? Buffer.alloc(0) });
          control.failures = 1;
        }
        await clickhouse.insertRows(insert);
      },
    };
    const blocks = createEventBlocks({ clickhouse: partly, log });
    await blocks.append(Buffer.concat(rows), 3);
    await blocks.visible(null).catch(() => {});
    await blocks.visible(null);
    expect(await store.rowCount()).toBe(3);
    await ended(blocks);
  });

  it('a block of acknowledged events stays in the log when the service ends while ClickHouse refuses it, and is stored at the next start', async () => {
    const { clickhouse, control } = controlled();
    control.failures = 1;
    const first = createEventBlocks({ clickhouse, log });
    await first.append(row('a'), 1);
    await first.close();
    expect(await ids()).toEqual([]);
    const second = createEventBlocks({ clickhouse, log });
    await second.visible(['acme']);
    expect(await ids()).toEqual(['a']);
    await ended(second);
    expect(await store.rowCount()).toBe(1);
  });

  it('a block of acknowledged events makes later events wait while two blocks are waiting, in their order, and refuses none of them', async () => {
    const { clickhouse, control } = controlled();
    const blocks = createEventBlocks({ clickhouse, log });
    const held = gate();
    control.gate = held.promise;
    // The count alone decides when a block is full.
    for (const id of ['a', 'b', 'c']) await blocks.append(row(id), 100_000);
    const fourth = blocks.append(row('d'), 1);
    expect(await isSettled(fourth)).toBe(false);
    expect([...log.entries()]).toHaveLength(3);
    held.open();
    await fourth;
    await blocks.visible(null);
    expect(await ids()).toEqual(['a', 'b', 'c', 'd']);
    await ended(blocks);
  });

  it('a block of acknowledged events makes later events wait as well where reads have closed many small blocks meanwhile', async () => {
    const { clickhouse, control } = controlled();
    const blocks = createEventBlocks({ clickhouse, log });
    const held = gate();
    control.gate = held.promise;
    const reads: Promise<void>[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await blocks.append(row(id), 60_000);
      reads.push(blocks.visible(null));
    }
    const sixth = blocks.append(row('f'), 1);
    expect(await isSettled(sixth)).toBe(false);
    held.open();
    await Promise.all([sixth, ...reads]);
    await blocks.visible(null);
    expect(await ids()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await ended(blocks);
  });

  it('a block of acknowledged events is not closed by every read: reads beyond ten share an insert in each tenth of a second', async () => {
    const { clickhouse, control } = controlled();
    const blocks = createEventBlocks({ clickhouse, log });
    const held = gate();
    control.gate = held.promise;
    const start = performance.now();
    const reads: Promise<void>[] = [];
    const names = Array.from({ length: 60 }, (_, index) => `event-${index}`).sort();
    for (const name of names) {
      await blocks.append(row(name), 1);
      reads.push(blocks.visible(null));
    }
    held.open();
    await Promise.all(reads);
    const tenths = Math.ceil((performance.now() - start) / 100);
    expect(control.inserts).toBeLessThanOrEqual(10 + tenths + 1);
    expect(await ids()).toEqual(names);
    await ended(blocks);
  });
});

describe('after the process has died', () => {
  it('every acknowledged event is stored exactly once, wherever it died, also several times in a row', async () => {
    const step = fc.record({
      appended: fc.integer({ min: 0, max: 4 }),
      /** How far the events got before the process died. */
      reached: fc.constantFrom('log', 'partition', 'insert', 'trim'),
      deaths: fc.integer({ min: 1, max: 3 }),
    });
    let next = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        await store.clear();
        const directory = await createTestDirectory();
        const acknowledged: string[] = [];
        for (const { appended, reached, deaths } of steps) {
          const log = await openLog(directory);
          const appends: { number: number; rows: Buffer }[] = [];
          for (let i = 0; i < appended; i += 1) {
            next += 1;
            const id = `tx-${String(next).padStart(9, '0')}`;
            const rows = row(id, 'acme', i % 2 === 0 ? NOW : NOW - MONTH_MS);
            appends.push({ number: await log.append(rows, 1), rows });
            acknowledged.push(id);
          }
          const stored = appends.filter(
            (_, i) => reached === 'insert' || (reached === 'partition' && i % 2 === 0),
          );
          for (const { rows } of reached === 'trim' ? appends : stored) {
            await store.clickhouse.insertRows({ ...USAGE_EVENTS_INSERT, rows });
          }
          if (reached === 'trim') await log.removeUpTo(appends.at(-1)?.number ?? 0);
          await log.close();
          for (let death = 0; death < deaths; death += 1) {
            const replayed = await openLog(directory);
            // The insert of a replay succeeds and the process dies before the log is trimmed.
            const untrimmed: EventLog = {
              append: (rows, count) => replayed.append(rows, count),
              entries: () => replayed.entries(),
              removeUpTo: async () => {},
              close: async () => {},
            };
            const blocks = createEventBlocks({ clickhouse: store.clickhouse, log: untrimmed });
            await blocks.visible(null);
            await blocks.close();
            await replayed.close();
          }
        }
        expect(await ids()).toEqual(acknowledged);
        expect(await store.rowCount()).toBe(acknowledged.length);
      }),
      { numRuns: runs(6) },
    );
  }, 120_000);
});
