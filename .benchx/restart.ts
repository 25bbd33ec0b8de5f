/** What ten million ids in the window cost: the restart, the memory, and finding one of them. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashTransactionId } from '../src/metering/ingest/transaction-hash.ts';
import { applySchema } from '../src/metering/schema.ts';
import { createEmbeddedClickHouse } from '../src/stores.ts';
import { quantile, table } from './report.ts';
import { startTemporaryService } from './temporary-service.ts';

const IDS = 10_000_000;
const IDS_PER_INSERT = 1_000_000;
const SEARCHES = 50;
const FINDABLE = 'findable';

export async function benchRestart(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  await chmod(directory, 0o755);
  try {
    await fill(join(directory, 'clickhouse'));
    const service = await startTemporaryService(directory);
    try {
      const times: number[] = [];
      for (let search = 0; search < SEARCHES; search += 1) {
        const answer = await service.post('/v1/events/search', { transactionIds: [`${FINDABLE}-${search}`] });
        if (!Array.isArray(answer.body) || answer.body.length !== 1)
          throw new Error('the event was not found');
        times.push(answer.milliseconds);
      }
      const memory = await service.memoryMb();
      return table(
        ['with 10 million ids in the window', 'target', 'measured'],
        [
          ['restart to ready', '10 s, aim 3 s', `${(service.startMs / 1000).toFixed(1)} s`],
          ['memory of the process', '1.5 GB, aim 1 GB', `${(memory / 1024).toFixed(2)} GB`],
          [
            'search of one id',
            '100 ms at 100 million',
            `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`,
          ],
        ],
      );
    } finally {
      await service.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Ids with random hashes, as good as real ones for the index, and some that can be searched for. */
async function fill(directory: string): Promise<void> {
  const clickhouse = await createEmbeddedClickHouse({ directory });
  await applySchema(clickhouse, undefined);
  const columns = `transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version,
    id_hash_a, id_hash_b, id_hash_c`;
  for (let from = 0; from < IDS; from += IDS_PER_INSERT) {
    await clickhouse.command(`
      INSERT INTO usage_events (${columns})
      SELECT concat('id-', toString(number)), concat('customer-', toString(number % 1000)), 'use',
             now64(3) - toIntervalSecond(number % 2000000), map('n', toString(number)),
             now64(6) - toIntervalSecond(number % 2000000), 9000000000000000 - number, rand(1), rand(2), rand(3)
      FROM numbers(${from}, ${IDS_PER_INSERT})`);
  }
  const words = new Uint32Array(3);
  const rows = Array.from({ length: SEARCHES }, (_, index) => {
    hashTransactionId(`${FINDABLE}-${index}`, words, 0);
    return `('${FINDABLE}-${index}', 'customer-1', 'use', now64(3), map(), now64(6), 1, ${words.join(', ')})`;
  });
  await clickhouse.command(`INSERT INTO usage_events (${columns}) VALUES ${rows.join(', ')}`);
  await clickhouse.close();
}
