/**
 * The definition of a SQL metric: reading it, and checking it before it is stored (docs/sql-metrics.md).
 *
 * The text never reaches ClickHouse. It is read by a grammar of its own (`parse-query.ts`) that knows only
 * what is allowed, typed and written anew as SQL; ClickHouse's own parse tree of what was written is checked
 * against a list (`parse-tree.ts`) before it runs.
 */
import { invalid } from '../../core/errors.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { parseQuery } from './parse-query.ts';
import { locatingProblems, QueryProblem } from './query-refusal.ts';
import { identityOf, type SelectItem, type SelectQuery } from './query-syntax.ts';
import { createStatementRunner, DEFINITION_LIMITS } from './run-statement.ts';
import {
  type CompiledStatement,
  compileHours,
  compileWhole,
  compileWindows,
  type EventScope,
  type OutputColumns,
  outputTypes,
} from './statement-sql.ts';
import { describe } from './value.ts';

/** A SQL metric that can be evaluated. Only this module makes one. */
export interface CheckedSqlMetric {
  /** As the analyst wrote it. */
  readonly sql: string;
  readonly query: SelectQuery;
  /** Index of the column that is the quantity: the one named `value`, or the first. */
  readonly valueColumn: number;
  /** The other named columns: what usage can be grouped by. */
  readonly groupColumns: readonly string[];
}

/**
 * Reads a definition, without asking ClickHouse; for metrics that were checked when they were created.
 * Throws an `invalid` refusal for the field `sql` that names line and column and says what is allowed.
 */
export function readSqlMetric(sql: string): CheckedSqlMetric {
  return locatingProblems(sql, () => {
    const query = parseQuery(sql);
    const value = query.items.findIndex(({ name }) => name?.toLowerCase() === 'value');
    const valueColumn = Math.max(value, 0);
    const groupColumns = query.items.flatMap(({ name }, index) =>
      name === null || index === valueColumn ? [] : [name],
    );
    requireQuantity(query, valueColumn);
    const metric = { sql, query, valueColumn, groupColumns };
    // Writing the statements is what finds a wrong name or type.
    compileAll(metric);
    return metric;
  });
}

/**
 * Checks a definition before it is stored: reads it and lets ClickHouse plan it in every way in which it
 * is going to be evaluated, over no events. Throws as `readSqlMetric` does.
 */
export async function checkSqlMetric(clickhouse: ClickHouse, sql: string): Promise<CheckedSqlMetric> {
  const metric = readSqlMetric(sql);
  const runner = createStatementRunner(clickhouse, DEFINITION_LIMITS);
  for (const statement of compileAll(metric)) await runner.runQuery(statement);
  return metric;
}

/**
 * The columns that count when usage is grouped by these names, compared without regard to case. Throws an
 * `invalid` refusal (field `group_key`) for a name that is not one of the group columns.
 */
export function outputColumns(
  { query, valueColumn, groupColumns }: CheckedSqlMetric,
  groupBy: readonly string[],
): OutputColumns {
  const groups = groupBy.map((name) => {
    const index = query.items.findIndex((item) => item.name?.toLowerCase() === name.toLowerCase());
    if (index >= 0 && index !== valueColumn) return index;
    const available = groupColumns.length === 0 ? 'it has none' : `they are ${groupColumns.join(', ')}`;
    throw invalid(['groupKey'], `${name} is not one of the group columns of the query: ${available}`);
  });
  return { value: valueColumn, groups };
}

/** Every way of evaluating, for every group column, over no events. */
function compileAll(metric: CheckedSqlMetric): CompiledStatement[] {
  const { query, valueColumn: value } = metric;
  const groups = query.items.flatMap(({ name }, index) => (name === null || index === value ? [] : [index]));
  const columns: OutputColumns = { value, groups };
  const page = { size: 'HOUR', groupFilters: [], place: null, limit: 1 } as const;
  return [
    compileWhole(query, columns, NO_EVENTS),
    compileWindows(query, columns, NO_EVENTS, page),
    compileHours(query, columns, NO_EVENTS, []),
  ];
}

const NO_EVENTS: EventScope = {
  refs: [],
  interval: { start: 0, end: 3_600_000 },
  usageFilter: null,
  ingestedUpTo: null,
};

/** Refuses a quantity that is no number, and a key of GROUP BY, which is most likely a mistake. */
function requireQuantity(query: SelectQuery, index: number): void {
  const item = query.items[index];
  const type = outputTypes(query, NO_EVENTS)[index];
  if (item === undefined || type === undefined) throw new QueryProblem(query.position, 'a query has columns');
  const which = item.name?.toLowerCase() === 'value' ? 'the column value' : 'the first column';
  if (type === 'property' && isGroupKey(query, item)) {
    throw new QueryProblem(
      item.expression.position,
      `${which} is the quantity, and here it is what is grouped by: name the quantity with AS value`,
    );
  }
  if (type !== 'number' && type !== 'property' && type !== 'null') {
    throw new QueryProblem(
      item.expression.position,
      `${which} is the quantity and must be a number, not ${describe(type)}: name the quantity with AS value`,
    );
  }
}

function isGroupKey({ groupBy }: SelectQuery, { expression }: SelectItem): boolean {
  return groupBy.some((key) => identityOf(key) === identityOf(expression));
}
