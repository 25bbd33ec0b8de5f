/**
 * Sets JE_MALLOC_CONF to its first argument, opens the embedded ClickHouse in the directory that is the second, and says
 * how its allocator keeps memory.
 */
import { z } from 'zod';
import { createEmbeddedClickHouse } from '../../../src/app/stores/stores.ts';

const [settings = '', directory = ''] = process.argv.slice(2);
process.env.JE_MALLOC_CONF = settings;
const clickhouse = await createEmbeddedClickHouse({ directory });
const [row] = await clickhouse.query({
  sql: `SELECT extract(stats, 'opt\\\\.thp: "(\\\\w+)"') AS pages, extract(stats, 'opt\\\\.dirty_decay_ms: (\\\\d+)') AS kept_ms
        FROM system.jemalloc_stats`,
  schema: z.object({ pages: z.string(), kept_ms: z.string() }),
});
process.stdout.write(JSON.stringify(row));
await clickhouse.close();
