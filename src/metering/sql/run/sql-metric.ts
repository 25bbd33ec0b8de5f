/**
 * A SQL metric: its definition, parsed off the event loop and checked before it is stored, and its columns
 * (docs/explanation/sql-metrics.md).
 */
import { invalid } from '../../../core/errors.ts';
import { HOUR_MS } from '../../../core/time.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import {
  type CompiledStatement,
  compileEnds,
  compileHours,
  compileWhole,
  compileWindows,
  type EventScope,
  type OutputColumns,
} from '../generate/statement-sql.ts';
import { createMetricReader } from '../read/metric-reader.ts';
import type { CheckedSqlMetric } from '../read/read-metric.ts';
import { checkPatterns } from './check-patterns.ts';
import { createStatementRunner, DEFINITION_LIMITS } from './run-statement.ts';

/** One per process, because it owns the thread that the first query starts. */
const reader = createMetricReader();

/** A metric that was checked when it was created: parsed once, then cached. Throws like `readSqlMetric`. */
export async function loadSqlMetric(sql: string): Promise<CheckedSqlMetric> {
  return await reader.read(sql);
}

/** Ends the thread that parses queries; a later query restarts it. */
export async function closeMetricReader(): Promise<void> {
  await reader.close();
}

/**
 * Checks a definition before it is stored: parses it and has ClickHouse plan it in every way in which it will be
 * evaluated, over no events. Patterns are compiled first, which planning does not do. Throws like `readSqlMetric`.
 */
export async function checkSqlMetric(clickhouse: ClickHouse, sql: string): Promise<CheckedSqlMetric> {
  const metric = await loadSqlMetric(sql);
  await checkPatterns(clickhouse, metric);
  const runner = createStatementRunner(clickhouse, DEFINITION_LIMITS, []);
  for (const statement of compileAll(metric)) await runner.runQuery(statement);
  return metric;
}

/**
 * The columns used when usage is grouped by these names, ignoring case. Throws an `invalid` refusal (field `group_key`)
 * for a name that is not one of the group columns.
 */
export function outputColumns(
  { query, valueColumn, groupColumns }: CheckedSqlMetric,
  groupBy: readonly string[],
): OutputColumns {
  const groups = groupBy.map((name) => {
    const index = query.columnNames.findIndex((column) => column?.toLowerCase() === name.toLowerCase());
    if (index >= 0 && index !== valueColumn) return index;
    const available = groupColumns.length === 0 ? 'it has none' : `they are ${groupColumns.join(', ')}`;
    throw invalid(['groupKey'], `${name} is not one of the group columns of the query: ${available}`);
  });
  return { value: valueColumn, groups };
}

/** Every way of evaluating, for every group column, over no events. */
function compileAll(metric: CheckedSqlMetric): CompiledStatement[] {
  const { query, valueColumn: value } = metric;
  const groups = query.columnNames.flatMap((name, index) =>
    name === null || index === value ? [] : [index],
  );
  const columns: OutputColumns = { value, groups };
  const page = { size: 'HOUR', groupFilters: [], place: null, limit: 1 } as const;
  return [
    compileWhole(query, columns, NO_EVENTS),
    compileWindows(query, columns, NO_EVENTS, page),
    query.mode === 'along_hours'
      ? compileHours(query, columns, NO_EVENTS, [])
      : compileEnds(query, columns, NO_EVENTS, [HOUR_MS]),
  ];
}

const NO_EVENTS: EventScope = {
  refs: [],
  interval: { start: 0, end: HOUR_MS },
  usageFilter: null,
  ingestedUpTo: null,
};
