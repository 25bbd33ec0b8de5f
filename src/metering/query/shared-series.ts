/** Usage for invoices of several metrics at once: the series of `readPackedSeries`, from one statement for all. */
import { assert } from '../../core/errors.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { type PackedLine, type PackedSeries, packedSeries } from './packed-series.ts';
import { BILLING_EXECUTION_SECONDS } from './query-limits.ts';
import { readNumbers } from './read-numbers.ts';
import { refsOf } from './series-sql.ts';
import { compileSharedSeries, type SharedSeriesRequest } from './shared-series-sql.ts';
import { queryUsageBytes } from './usage-relation.ts';
import { readWindowRows } from './window-rows.ts';

/** Each row repeats the group values of its line, which may be long. */
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;

/**
 * For each metric, in their order, the result of `readPackedSeries`. Throws a `too_large` refusal beyond `rowsMax`
 * windows, even if each metric has fewer.
 */
export async function readSharedSeries(
  clickhouse: ClickHouse,
  request: SharedSeriesRequest,
): Promise<Map<string, PackedSeries>[]> {
  const { metrics, customers, groupBy, rowsMax } = request;
  const [first] = metrics;
  assert(first !== undefined, 'a metric is asked for');
  const { lines, windowEnd } = await readNumbers(metrics, async (numbers) => {
    const compiled = compileSharedSeries(request, numbers);
    const answer = await queryUsageBytes(clickhouse, first, {
      sql: compiled.sql,
      format: 'Native',
      parameters: compiled.parameters,
      rowsMax,
      bytesMax: ANSWER_BYTES_MAX,
      groupsMax: rowsMax,
      executionSeconds: BILLING_EXECUTION_SECONDS,
      customer: customers.length === 1 ? customers[0]?.customerId : undefined,
      eventsOf: refsOf(customers),
    });
    const columns = { groupCount: groupBy.length, metricCount: metrics.length };
    return { lines: readWindowRows(answer, columns), windowEnd: compiled.windowEnd };
  });
  return metrics.map(({ aggregation }, index) => {
    const linesOf = customers.map((): PackedLine[] => []);
    for (const { owner, metrics: own } of lines) {
      const line = own[index];
      if (line !== undefined && line.count > 0) linesOf[owner]?.push(line);
    }
    const form = { aggregation, groupBy, windowEnd };
    return new Map(
      customers.map(({ customerId }, owner) => [customerId, packedSeries(linesOf[owner] ?? [], form)]),
    );
  });
}
