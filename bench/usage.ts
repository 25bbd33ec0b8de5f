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
import { quantile, table, timed } from './report.ts';

const RUNS = 9;
const DAY_SECONDS = 86_400;

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
  const ours = await timed(RUNS, () =>
    service.call('POST', '/v1/usage/groups', {
      customer_id: customerId,
      billable_metric_id: metricId,
      window_size: 'HOUR',
      starting_on: month.start.toISOString(),
      ending_before: month.end.toISOString(),
      group_key: ['model'],
    }),
  );
  const byHand = await timed(RUNS, () => service.clickhouse.query(handWritten(month)));
  const ratio = quantile(ours, 0.5) / quantile(byHand, 0.5);
  return [
    [
      'usage/groups, 500,000 events of one customer, by hour and one key',
      '2 × by hand, aim 1.3 ×',
      quantile(ours, 0.5).toFixed(0),
      `by hand ${quantile(byHand, 0.5).toFixed(0)} ms: ${ratio.toFixed(2)} ×`,
    ],
  ];
}

function handWritten({ start, end }: Month) {
  const sql = `
    SELECT toString(toStartOfHour(timestamp)) AS hour, properties['model'] AS model,
           toString(sum(toDecimal128OrZero(properties['tokens'], 12))) AS tokens
    FROM usage_events FINAL
    WHERE customer_ref = 'measured' AND event_type = 'kind-0'
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
  const draft = await timed(RUNS, () => service.call('GET', `/v1/customers/${customerId}/invoices`));
  const range = `starting_on=${month.start.toISOString()}&ending_before=${month.end.toISOString()}`;
  const daily = await timed(RUNS, () =>
    service.call('GET', `/v1/customers/${customerId}/invoices/breakdowns?${range}`),
  );
  const days = (month.end.getTime() - month.start.getTime()) / 1000 / DAY_SECONDS;
  return [
    ['draft invoice, 1,000,000 events, 5 products', '500, aim 200', quantile(draft, 0.5).toFixed(0), ''],
    ['daily breakdown of the same', '500, aim 200', quantile(daily, 0.5).toFixed(0), `${days} days`],
  ];
}
