/** The filter of stored ids lets every stored id through, and what others store while it is in use. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { checkLines } from '../../src/app/commands/backfill/check-lines.ts';
import { createBatchStore, type StoreOptions } from '../../src/app/commands/backfill/store-batch.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { readStoredIdFilter } from '../../src/metering/ingest/stored-id-filter.ts';
import { HASH_WORDS, hashTransactionId } from '../../src/metering/ingest/transaction-hash.ts';
import { createTestClickHouse } from '../support/stores.ts';

const eventsOf = (ids: readonly string[]) =>
  checkLines(
    ids.map((id, at) => ({
      number: at + 1,
      bytes: Buffer.from(
        JSON.stringify({
          transaction_id: id,
          customer_id: 'a',
          event_type: 'b',
          timestamp: '2026-01-01T00:00:00Z',
        }),
      ),
      end: at + 1,
    })),
    Date.now(),
  ).events;

const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => `e-${from + at}`);

function hashOf(id: string): Uint32Array {
  const words = new Uint32Array(HASH_WORDS);
  hashTransactionId(id, words);
  return words;
}

async function count(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.query({
    sql: 'SELECT toUInt32(count()) AS events FROM usage_events',
    schema: z.object({ events: z.number() }),
  });
  return row?.events ?? 0;
}

it('the filter of stored ids lets through every id that is stored and almost no other, also of what is added and followed', async () => {
  const clickhouse = await createTestClickHouse();
  try {
    const startedSeconds = Math.floor(Date.now() / 1000);
    await createBatchStore(clickhouse).store(eventsOf(range(0, 5_000)), Date.now());
    const filter = (await readStoredIdFilter(clickhouse)) ?? expect.fail();
    const letThrough = (ids: readonly string[]) => ids.filter((id) => filter.mayHave(hashOf(id), 0)).length;
    expect(letThrough(range(0, 5_000))).toBe(5_000);
    expect(letThrough(range(5_000, 50_000))).toBeLessThan(50);
    for (const id of range(5_000, 100)) filter.add(hashOf(id), 0);
    expect(letThrough(range(5_000, 100))).toBe(100);
    await createBatchStore(clickhouse).store(eventsOf(range(6_000, 100)), Date.now());
    await filter.follow(startedSeconds);
    expect(letThrough(range(6_000, 100))).toBe(100);
  } finally {
    await clickhouse.close();
  }
});

it.each(['none', 'followed', 'unknown'] as const)(
  'a store of many batches stores every id once, before and after it has a filter (others: %s)',
  async (others: StoreOptions['others']) => {
    const clickhouse = await createTestClickHouse();
    try {
      const store = createBatchStore(clickhouse, { acceptedFrom: 0, others });
      const service = createBatchStore(clickhouse);
      await service.store(eventsOf(range(0, 100)), Date.now());
      const stored: number[] = [];
      for (let batch = 0; batch < 24; batch += 1) {
        // Another process stores an event in the meantime.
        if (others !== 'none') await service.store(eventsOf([`other-${batch}`]), Date.now());
        const repeated = others === 'none' ? [] : [`other-${batch}`];
        const ids = [...range(batch * 10, 20), ...range(batch * 10, 3), ...repeated];
        stored.push((await store.store(eventsOf(ids), Date.now())).stored);
      }
      expect(stored).toEqual(Array.from({ length: 24 }, (_, batch) => (batch < 9 ? 0 : 10)));
      expect(await count(clickhouse)).toBe(250 + (others === 'none' ? 0 : 24));
    } finally {
      await clickhouse.close();
    }
  },
);
