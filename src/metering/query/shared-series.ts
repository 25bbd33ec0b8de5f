/** Usage for invoices of several metrics at once: the series of `readPackedSeries`, from one statement for all. */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { type PackedLine, type PackedSeries, packedSeries } from './packed-series.ts';
import { BILLING_EXECUTION_SECONDS } from './query-limits.ts';
import { readNumbers } from './read-numbers.ts';
import { refsOf } from './series-sql.ts';
import { compileSharedSeries, type SharedSeriesRequest } from './shared-series-sql.ts';
import { queryUsage, tooManyValues } from './usage-relation.ts';

/**
 * For each metric, in their order, what `readPackedSeries` gives. Throws a `too_large` refusal beyond `rowsMax` windows,
 * also where each metric has fewer.
 */
export async function readSharedSeries(
  clickhouse: ClickHouse,
  request: SharedSeriesRequest,
): Promise<Map<string, PackedSeries>[]> {
  const { metrics, customers, groupBy, rowsMax } = request;
  const [first] = metrics;
  assert(first !== undefined, 'a metric is asked for');
  const { rows, windowEnd } = await readNumbers(metrics, async (numbers) => {
    const compiled = compileSharedSeries(request, numbers);
    const found = await queryUsage(clickhouse, first, {
      sql: compiled.sql,
      parameters: compiled.parameters,
      schema: sharedRow,
      rowsMax,
      groupsMax: rowsMax,
      executionSeconds: BILLING_EXECUTION_SECONDS,
      eventsOf: refsOf(customers),
    });
    return { rows: found, windowEnd: compiled.windowEnd };
  });
  if (rows.reduce((sum, row) => sum + row.used_windows, 0) > rowsMax) throw tooManyValues(first, rowsMax);
  return metrics.map(({ aggregation }, index) => {
    const linesOf = customers.map((): PackedLine[] => []);
    for (const row of rows) {
      const line = lineOf(row, index);
      if (line.count > 0) linesOf[row.owner]?.push(line);
    }
    const form = { aggregation, groupBy, windowEnd };
    return new Map(
      customers.map(({ customerId }, owner) => [customerId, packedSeries(linesOf[owner] ?? [], form)]),
    );
  });
}

/** The windows of one metric. */
function lineOf(row: z.output<typeof sharedRow>, index: number): PackedLine {
  const count = row.window_counts[index];
  const values = row.window_values[index];
  assert(count !== undefined && values !== undefined, 'a row has the windows of every metric');
  return { groupValues: row.group_values, count, offsets: row.window_offsets, values };
}

const sharedRow = z.object({
  /** Index into the customers. */
  owner: z.number(),
  group_values: z.array(z.string()),
  /** Windows in which there is usage of any metric. */
  used_windows: z.number(),
  window_offsets: z.string(),
  /** Each with an item for every metric. */
  window_counts: z.array(z.number()),
  window_values: z.array(z.string()),
});
