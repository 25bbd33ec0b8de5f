/** Known ids that do not fit in memory: so few do that every event meets files, lookups and merges. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { OlderIds } from '../../src/metering/ingest/known-ids/known-ids.ts';
import { createRunRecord } from '../../src/metering/ingest/known-ids/run-record.ts';

const TINY_RECENT = 4;

export interface OlderIdsForTest extends OlderIds {
  /** Forgets all runs, for the next test. */
  clear(): Promise<void>;
}

export async function createOlderIds(
  clickhouse: ClickHouse,
  recentMax = TINY_RECENT,
): Promise<OlderIdsForTest> {
  const directory = join(await mkdtemp(join(inject('storeDirectory'), 'older-')), 'known-ids');
  return {
    directory,
    recentMax,
    recentSeconds: 0,
    record: createRunRecord(clickhouse),
    storeState: async () => 'whole',
    clear: () => clickhouse.command('TRUNCATE TABLE known_id_runs'),
  };
}
