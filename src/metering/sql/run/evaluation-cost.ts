/** The cost of an evaluation of a SQL metric, for users who try one out. */
import type { Interval } from '../../../core/time.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { ANALYSIS_LIMITS } from '../../query/query-limits.ts';
import type { WrittenQuery } from '../generate/written-query.ts';
import { countEvents } from './event-search.ts';
import { EVALUATED_ROWS_MAX, readEventHours } from './read-ends.ts';
import { createStatementRunner } from './run-statement.ts';
import { loadSqlMetric } from './sql-metric.ts';

export interface EvaluationCost {
  /** How the query is evaluated for a product that is billed hourly (docs/explanation/sql-metrics.md). */
  readonly mode: WrittenQuery['mode'];
  /** The customer's events in the range, of all types: each read of `events` in the query reads them once. */
  readonly events: number;
  /** Rows that all hours of the range read together: equal to `events` if it is carried along the hours. */
  readonly hourlyRows: number;
  /** More `hourlyRows` are refused. */
  readonly hourlyRowsMax: number;
}

/** Throws an `invalid` refusal if the range has more events than an analysis may read. */
export async function evaluationCost(
  clickhouse: ClickHouse,
  sql: string,
  refs: readonly string[],
  range: Interval,
): Promise<EvaluationCost> {
  const { mode } = (await loadSqlMetric(sql)).query;
  const runner = createStatementRunner(clickhouse, ANALYSIS_LIMITS, refs);
  const scope = { refs, interval: range, usageFilter: null, ingestedUpTo: null };
  const { count } = await countEvents(runner, scope);
  const hours = mode === 'along_hours' ? [] : await readEventHours(runner, scope);
  const hourlyRows = mode === 'along_hours' ? count : Math.ceil((count * hours.length) / 2);
  return { mode, events: count, hourlyRows, hourlyRowsMax: EVALUATED_ROWS_MAX };
}
