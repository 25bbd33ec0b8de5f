/**
 * Usage of customers with few events, by day, beside the query that one would write by hand on the same engine in the
 * same run: for so few events most of a request is what surrounds its query.
 */
import { z } from 'zod';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { createMetric, currentMonth, fill, type Month } from './monthly-usage.ts';
import { table, timedBeside } from './report.ts';

const RUNS = 101;
const EVENTS = [100, 1_000, 10_000] as const;
const EVENTS_OF_OTHERS = 500_000;

/** Prints a Markdown table with how many times the events grow, and the cost. */
export async function benchSmallCustomers(): Promise<string> {
  const service = await startInProcessService();
  try {
    const month = currentMonth();
    await fill(service, 'others', EVENTS_OF_OTHERS, 1, month);
    const metric = await createMetric(service, 'kind-0', 'SUM');
    const rows: string[][] = [];
    let first: number | undefined;
    for (const events of EVENTS) {
      const alias = `of-${events}`;
      await fill(service, alias, events, 1, month);
      const customer = await service.create('/v1/customers', { name: alias, ingest_aliases: [alias] });
      const { measured, beside, ratio } = await timedBeside(
        RUNS,
        () => askedUsage(service, customer, metric, month),
        () => service.clickhouse.query(handWritten(alias, month)),
      );
      first ??= measured;
      rows.push([
        events.toLocaleString('en'),
        measured.toFixed(1),
        beside.toFixed(1),
        ratio.toFixed(2),
        (events / EVENTS[0]).toFixed(0),
        (measured / first).toFixed(2),
      ]);
    }
    return `beside ${EVENTS_OF_OTHERS.toLocaleString('en')} events of another customer; target 1.3 × by hand\n\n${table(
      ['events', 'usage by day, p50 ms', 'by hand, p50 ms', 'ratio', 'times the events', 'times the cost'],
      rows,
    )}`;
  } finally {
    await service.close();
  }
}

function askedUsage(service: InProcessService, customer: string, metric: string, month: Month) {
  return service.call('POST', '/v1/usage', {
    customer_ids: [customer],
    billable_metrics: [{ id: metric }],
    window_size: 'DAY',
    starting_on: month.start.toISOString(),
    ending_before: month.end.toISOString(),
  });
}

function handWritten(alias: string, { start, end }: Month) {
  const sql = `
    SELECT toString(toStartOfDay(timestamp)) AS day, toString(sum(toDecimal128OrZero(properties['tokens'], 12))) AS tokens
    FROM usage_events FINAL
    WHERE customer_ref = '${alias}' AND event_type = 'kind-0'
      AND timestamp >= toDateTime64(${start.getTime() / 1000}, 3, 'UTC')
      AND timestamp < toDateTime64(${end.getTime() / 1000}, 3, 'UTC')
    GROUP BY day ORDER BY day`;
  return {
    sql,
    schema: z.object({ day: z.string(), tokens: z.string() }),
    settings: { do_not_merge_across_partitions_select_final: 1 },
  };
}
