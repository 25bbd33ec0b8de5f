/**
 * `POST /v1/sql` over ten million events, while the number of customers grows. The customers of events are sent as a
 * table, so a query costs as much as its events. Beside it in turns: the same question by hand, which does not ask for
 * the customer of an event, on as many threads.
 */
import { sql } from 'drizzle-orm';
import { REPORT_LIMITS } from '../src/metering/sql/reports/run-report.ts';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { millisecondsOf, quantile, table } from './report.ts';

const EVENTS = 10_000_000;
const ROWS_PER_INSERT = 1_000_000;
const CUSTOMERS = [1_000, 20_000, 200_000] as const;
const MOST = 200_000;
const RUNS = 5;
const START = Date.UTC(2026, 10, 1) / 1_000;

const QUESTION =
  'SELECT customer_id, COUNT(*) AS number FROM events GROUP BY customer_id ORDER BY number DESC LIMIT 10';
const BY_HAND = `SELECT customer_ref, count() AS events FROM usage_events FINAL GROUP BY customer_ref
  ORDER BY events DESC LIMIT 10 FORMAT TSV`;

export async function benchManyCustomersSql(): Promise<string> {
  const service = await startInProcessService();
  try {
    await fill(service);
    const rows: string[][] = [];
    let first: number | undefined;
    let known = 0;
    for (const customers of CUSTOMERS) {
      await addCustomers(service, known, customers);
      known = customers;
      const [ours, byHand] = await inTurns(service);
      first ??= ours;
      const growth = [(customers / CUSTOMERS[0]).toFixed(0), (ours / first).toFixed(2)];
      rows.push([
        customers.toLocaleString('en-US'),
        ...[ours, byHand].map((ms) => ms.toFixed(0)),
        (ours / byHand).toFixed(2),
        ...growth,
      ]);
    }
    return `POST /v1/sql over ${EVENTS.toLocaleString('en-US')} events (target 2,000 ms with 200,000 customers)\n\n${table(
      ['customers', 'ms', 'by hand, ms', 'ratio', 'times the customers', 'times the cost'],
      rows,
    )}`;
  } finally {
    await service.close();
  }
}

/** Medians. */
async function inTurns({ call, clickhouse }: InProcessService): Promise<[ours: number, byHand: number]> {
  const ours: number[] = [];
  const others: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    ours.push(await millisecondsOf(() => call('POST', '/v1/sql', { sql: QUESTION })));
    others.push(
      await millisecondsOf(() =>
        clickhouse.queryBytes({ sql: BY_HAND, settings: { max_threads: REPORT_LIMITS.threads ?? 1 } }),
      ),
    );
  }
  return [quantile(ours, 0.5), quantile(others, 0.5)];
}

/** Customers that begin at `from`, each with an alias under which its events come. */
async function addCustomers({ db }: InProcessService, from: number, to: number): Promise<void> {
  await db.execute(sql`
    insert into customers (id, name, created_at, updated_at)
    select ('c0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Customer ' || n, now(), now()
    from generate_series(${from}::int, ${to - 1}::int) as n`);
  await db.execute(sql`
    insert into ingest_aliases (alias, customer_id, position)
    select 'customer-' || n, ('c0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 0
    from generate_series(${from}::int, ${to - 1}::int) as n`);
}

async function fill({ clickhouse }: InProcessService): Promise<void> {
  for (let from = 0; from < EVENTS; from += ROWS_PER_INSERT) {
    await clickhouse.command(`
      INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version,
                                id_hash_a, id_hash_b, id_hash_c)
      SELECT toString(number), concat('customer-', toString(cityHash64(number) % ${MOST})), 'call',
             toDateTime64(${START} + number % 2000000, 3, 'UTC'), map('tokens', toString(number % 4000)),
             now64(6), ${EVENTS} - number, rand(1), rand(2), rand(3)
      FROM numbers(${from}, ${ROWS_PER_INSERT})`);
  }
}
