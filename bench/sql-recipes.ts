/**
 * The recipes of docs/explanation/sql-metrics.md over a million events of one customer: by month, and by hour as for an
 * invoice. A recipe ends with the limit of time that an invoice has; CPU is that of the whole process, the engine
 * included.
 *
 * Further quantiles are measured over 200,000 events of another customer: a weighted one by hour sorts the events of the
 * month so far at each of 720 hours, and would take minutes with a million.
 */
import { readFileSync } from 'node:fs';
import { readSqlMetric } from '../src/metering/sql/read/read-metric.ts';
import { readSqlSeries } from '../src/metering/sql/run/read-series.ts';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { table } from './report.ts';

const RECIPES = { ref: 'analysed', events: 1_000_000 };
const OTHERS = { ref: 'sampled', events: 200_000 };
/** Nothing is started later, so that the benchmark ends on a slow machine too. */
const BEGUN_WITHIN_MS = 150_000;
const PERIOD = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 11, 1) };

const QUANTILES: ReadonlyArray<readonly [name: string, sql: string]> = [
  [
    'median by model',
    'SELECT MEDIAN(properties.latency) AS value, properties.model FROM events GROUP BY model',
  ],
  [
    'weighted p99',
    'SELECT quantileExactWeighted(0.99)(properties.latency, properties.tokens) AS value FROM events',
  ],
];

export async function benchSqlRecipes(): Promise<string> {
  const service = await startInProcessService();
  try {
    const rows: string[][] = [];
    const endAt = performance.now() + BEGUN_WITHIN_MS;
    for (const [customer, queries] of [[RECIPES, recipes()] as const, [OTHERS, QUANTILES] as const]) {
      await fill(service, customer);
      for (const [name, sql] of queries) {
        const run = { sql, ref: customer.ref, endAt };
        const whole = await measured(service, [PERIOD.end], run);
        const hours = await measured(service, 'hour', run);
        const events = customer.events.toLocaleString('en-US');
        rows.push([name, events, readSqlMetric(sql).query.mode, ...whole, ...hours]);
      }
    }
    return table(['query', 'events', 'by hours', 'month, ms', 'CPU, ms', '720 hours, ms', 'CPU, ms'], rows);
  } finally {
    await service.close();
  }
}

function recipes(): Array<readonly [string, string]> {
  const page = readFileSync(new URL('../docs/explanation/sql-metrics.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('## Recipes'), page.indexOf('## Types'));
  return [...section.matchAll(/### (.+)\n```sql\n([^`]+)```/g)].map(([, name = '', sql = '']) => [name, sql]);
}

async function measured(
  { clickhouse }: InProcessService,
  evaluatedAt: 'hour' | number[],
  { sql, ref, endAt }: { readonly sql: string; readonly ref: string; readonly endAt: number },
): Promise<[wall: string, cpu: string]> {
  const metric = readSqlMetric(sql);
  const start = performance.now();
  if (start > endAt) return ['not run', ''];
  const cpu = process.cpuUsage();
  try {
    await readSqlSeries(clickhouse, {
      ...{ metric, period: PERIOD, evaluatedAt, groupBy: metric.groupColumns },
      customers: [{ customerId: ref, refs: [ref] }],
    });
  } catch (error) {
    return [error instanceof Error ? error.message : String(error), ''];
  }
  const { user, system } = process.cpuUsage(cpu);
  return [(performance.now() - start).toFixed(0), ((user + system) / 1_000).toFixed(0)];
}

/** Calls, and one session that starts or ends for every nine of them. */
async function fill(
  { clickhouse }: InProcessService,
  { ref, events }: { readonly ref: string; readonly events: number },
): Promise<void> {
  await clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at,
                              version, id_hash_a, id_hash_b, id_hash_c)
    SELECT concat('${ref}-', toString(number)), '${ref}',
           ['session.start', 'session.end', 'call', 'call', 'call', 'call', 'call', 'call', 'call', 'call'][cityHash64(number) % 10 + 1],
           toDateTime64(${PERIOD.start / 1000} + (number * 7919) % ${(PERIOD.end - PERIOD.start) / 1000}, 3, 'UTC'),
           map('latency', toString(cityHash64(number) % 3000), 'tokens', toString(cityHash64(number, 1) % 4000),
               'user', toString(number % 1000), 'project', concat('p', toString(number % 50)),
               'model', ['large', 'small'][number % 2 + 1], 'tags', '["beta","eu"]',
               'usage', concat('{"in":', toString(number % 700), ',"out":12.5}')),
           now64(6), ${events} - number, rand(1), rand(2), rand(3)
    FROM numbers(${events})`);
}
