/**
 * How fast usage, drafts and breakdowns are answered: through the application, beside the query that one
 * would write by hand, on the same engine in the same run.
 */
import { z } from 'zod';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import {
  createMetric,
  createMonthlyCard,
  currentMonth,
  fill,
  type Month,
  PRODUCTS,
} from './monthly-usage.ts';
import { table, timedBeside } from './report.ts';

const RUNS = 101;

export async function benchUsage(): Promise<string> {
  const service = await startInProcessService();
  try {
    const month = currentMonth();
    const groups = await benchGroups(service, month);
    const invoices = await benchInvoices(service, month);
    return table(['what', 'target', 'median ms', 'beside'], [...groups, ...invoices]);
  } finally {
    await service.close();
  }
}

/** 500,000 events of one customer among 2,000,000, by hour and one key. */
async function benchGroups(service: InProcessService, month: Month): Promise<string[][]> {
  await fill(service, 'measured', 500_000, 1, month);
  for (const other of ['a', 'b', 'c']) await fill(service, `other-${other}`, 500_000, 1, month);
  const customerId = await service.create('/v1/customers', { name: 'Usage', ingest_aliases: ['measured'] });
  const metricId = await createMetric(service, 'kind-0', 'SUM');
  const ask = () =>
    service.call('POST', '/v1/usage/groups', {
      customer_id: customerId,
      billable_metric_id: metricId,
      window_size: 'HOUR',
      starting_on: month.start.toISOString(),
      ending_before: month.end.toISOString(),
      group_key: ['model'],
    });
  const what = 'usage/groups, 500,000 events of one customer, by hour and one key';
  const beside = (filters: string) =>
    timedBeside(RUNS, ask, () => service.clickhouse.query(handWritten(month, filters)));
  return [
    row(what, '1.1 × by hand', await beside(''), 'by hand'),
    row('the same', '–', await beside(FILTERS), 'by hand, with the filters of the metric'),
  ];
}

/** The conditions of the metric on properties that are not aggregated. */
const FILTERS = "AND mapContains(properties, 'user') AND mapContains(properties, 'model')";

function handWritten({ start, end }: Month, filters: string) {
  const sql = `
    SELECT toString(toStartOfHour(timestamp)) AS hour, properties['model'] AS model,
           toString(sum(toDecimal128OrZero(properties['tokens'], 12))) AS tokens
    FROM usage_events FINAL
    WHERE customer_ref = 'measured' AND event_type = 'kind-0' ${filters}
      AND timestamp >= toDateTime64(${start.getTime() / 1000}, 3, 'UTC')
      AND timestamp < toDateTime64(${end.getTime() / 1000}, 3, 'UTC')
    GROUP BY hour, model ORDER BY hour, model LIMIT 100`;
  return {
    sql,
    schema: z.object({ hour: z.string(), model: z.string(), tokens: z.string() }),
    settings: { do_not_merge_across_partitions_select_final: 1 },
  };
}

/** A draft over 1,000,000 events and five products, one per aggregation, and its daily breakdown. */
async function benchInvoices(service: InProcessService, month: Month): Promise<string[][]> {
  await fill(service, 'invoiced', 1_000_000, PRODUCTS, month);
  const customerId = await service.create('/v1/customers', { name: 'Invoice', ingest_aliases: ['invoiced'] });
  const cardId = await createMonthlyCard(service);
  await service.create('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: cardId,
    starting_at: month.start.toISOString(),
  });
  const draft = () => service.call('GET', `/v1/customers/${customerId}/invoices`);
  const range = `starting_on=${month.start.toISOString()}&ending_before=${month.end.toISOString()}`;
  const daily = () => service.call('GET', `/v1/customers/${customerId}/invoices/breakdowns?${range}`);
  const target = '500 ms, aim 200 ms; 1.2 × its queries';
  return [
    row('draft invoice, 1,000,000 events, 5 products', target, await besideItsQueries(service, draft)),
    row('daily breakdown of the same', target, await besideItsQueries(service, daily)),
  ];
}

/** The queries that a call sends to ClickHouse are the least that it can take: all of them at once, without it. */
async function besideItsQueries(service: InProcessService, call: () => Promise<unknown>): Promise<Times> {
  const before = () => service.newEvent('invoiced');
  await before();
  const queries = await service.queriesOf(call);
  const floor = () =>
    Promise.all(
      queries.map(({ customer: _, ...query }) => service.clickhouse.query({ ...query, schema: z.unknown() })),
    );
  return await timedBeside(RUNS, call, floor, before);
}

type Times = Awaited<ReturnType<typeof timedBeside>>;

function row(
  what: string,
  target: string,
  { measured, beside, ratio }: Times,
  other = 'its queries, all at once',
): string[] {
  return [what, target, measured.toFixed(0), `${other} ${beside.toFixed(0)} ms: ${ratio.toFixed(2)} ×`];
}
