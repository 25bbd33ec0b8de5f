/** Prints how many rows of events a data directory holds, and how many ids, as JSON. */
import { z } from 'zod';
import { openClickHouse } from '../../../src/backfill/open-clickhouse.ts';
import { loadConfig, processEnvironment } from '../../../src/config.ts';

const { clickhouse, close } = await openClickHouse(loadConfig(processEnvironment()));
const [counted] = await clickhouse.query({
  sql: 'SELECT count() AS rows, uniqExact(transaction_id) AS ids FROM usage_events',
  schema: z.object({ rows: z.coerce.number(), ids: z.coerce.number() }),
});
await close();
process.stdout.write(JSON.stringify(counted));
