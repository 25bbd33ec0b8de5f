/**
 * Usage of a SQL metric for invoices: the cumulative value V(t) of one customer after another, in the form of streaming
 * metrics. A statement only ever names the references of one customer.
 */

import { type Decimal, decimal, ZERO } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { groupBy as groupItems } from '../../../core/group-by.ts';
import { type Instant, type Interval, isHourAligned, SECOND_MS } from '../../../core/time.ts';
import type { UsageSeries, UsageStep } from '../../../core/usage-series.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import type { KeySlice } from '../../query/key-slice.ts';
import type { QueryLimits } from '../../query/query-limits.ts';
import type { UsageOwner } from '../../query/series-sql.ts';
import {
  compileHours,
  compileWhole,
  type EventScope,
  type LeftOutEvents,
  needsEventHours,
} from '../generate/statement-sql.ts';
import type { CheckedSqlMetric } from '../read/read-metric.ts';
import { type EndsRequest, readEnds, readEventHours } from './read-ends.ts';
import {
  BILLING_LIMITS,
  createStatementRunner,
  type StatementRow,
  type StatementRunner,
} from './run-statement.ts';
import { outputColumns } from './sql-metric.ts';

export interface SqlSeriesRequest {
  readonly metric: CheckedSqlMetric;
  readonly customers: readonly UsageOwner[];
  /** On hour boundaries. */
  readonly period: Interval;
  /**
   * `hour`: V at the end of every hour, over the events from the start of the period up to it. Instants, ascending and
   * on the hour: V at these only.
   */
  readonly evaluatedAt: 'hour' | readonly Instant[];
  /** Group columns that form a line; rows with NULL in one of them belong to no line. */
  readonly groupBy: readonly string[];
  /** Only events with one of these values of a property, whether or not the query reads it. */
  readonly usageFilter?: EventScope['usageFilter'];
  /** Only events with these values of properties. */
  readonly having?: EventScope['having'];
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo?: string | null;
  /** Only these line keys; null for all. */
  readonly slice?: KeySlice | null;
  /** Events that are left out (`counted-series.ts`). */
  readonly leftOut?: LeftOutEvents | null;
}

/**
 * The series of every requested customer, an empty list if the query has no row. NULL counts as 0. Series are in byte
 * order of their group values. Throws an `invalid` refusal that names the limit if the query runs too long, needs too
 * much memory or computes too large a number, and a `too_large` one if its result has more rows than `limits` allow.
 */
export async function readSqlSeries(
  clickhouse: ClickHouse,
  request: SqlSeriesRequest,
  limits: QueryLimits = BILLING_LIMITS,
): Promise<Map<string, UsageSeries[]>> {
  const { customers, period, usageFilter = null, ingestedUpTo = null, leftOut = null, having } = request;
  assert(
    isHourAligned(period.start) && isHourAligned(period.end),
    'a billing period starts and ends on the hour',
  );
  const verified = new Set<string>();
  const result = new Map<string, UsageSeries[]>();
  for (const { customerId, refs } of customers) {
    assert(!result.has(customerId), 'no customer is asked for twice');
    const scope: EventScope = { refs, interval: period, usageFilter, ingestedUpTo, leftOut, having };
    const runner = createStatementRunner(clickhouse, limits, refs, verified);
    result.set(customerId, await readCustomer(runner, request, scope));
  }
  return result;
}

async function readCustomer(
  runner: StatementRunner,
  { metric, evaluatedAt, groupBy, slice = null }: SqlSeriesRequest,
  scope: EventScope,
): Promise<UsageSeries[]> {
  const columns = outputColumns(metric, groupBy);
  if (evaluatedAt !== 'hour') {
    const values = await readInstants(runner, { metric, columns, scope, slice, instants: evaluatedAt });
    return joinInstants(groupBy, evaluatedAt, values);
  }
  if (metric.query.mode === 'at_each_hour') {
    const { ends, values } = await readEnds(runner, { metric, columns, scope, slice });
    return joinInstants(groupBy, ends, values);
  }
  const hours = needsEventHours(metric.query) ? await readEventHours(runner, scope) : [];
  const rows = await runner.runQuery(compileHours(metric.query, columns, scope, hours, slice));
  return [...groupItems(rows, lineOf).values()].map((line) => newSeries(groupBy, line, stepsOf(line)));
}

/** V at each of the instants, by line: every instant is a separate query over the earlier events. */
async function readInstants(
  runner: StatementRunner,
  { metric, columns, scope, slice, instants }: InstantsRequest,
): Promise<StatementRow[][]> {
  const values: StatementRow[][] = [];
  for (const end of instants) {
    const until = { ...scope, interval: { start: scope.interval.start, end } };
    values.push(await runner.runQuery(compileWhole(metric.query, columns, until, slice)));
  }
  return values;
}

interface InstantsRequest extends EndsRequest {
  readonly instants: readonly Instant[];
}

/** A line that is absent from an evaluation is 0 there, once it occurs in another one. */
function joinInstants(
  groupBy: readonly string[],
  instants: readonly Instant[],
  values: readonly (readonly StatementRow[])[],
): UsageSeries[] {
  const lines = groupItems(values.flat(), lineOf);
  const byInstant = values.map((rows) => new Map(rows.map((row) => [lineOf(row), changeOf(row)])));
  return [...lines].sort(byBytes).map(([line, rows]) => {
    const first = byInstant.findIndex((found) => found.has(line));
    const steps = instants.map((at, index) => ({ at, value: byInstant[index]?.get(line) ?? ZERO }));
    return newSeries(groupBy, rows, steps.slice(first));
  });
}

/**
 * Drops the steps without a change. A line with group values keeps its first step even at 0, because there was usage; a
 * query without groups has a row without usage as well.
 */
function newSeries(
  groupBy: readonly string[],
  rows: readonly StatementRow[],
  steps: readonly UsageStep[],
): UsageSeries {
  const [row] = rows;
  return {
    groupValues: row === undefined ? {} : groupValues(groupBy, row),
    steps: steps.filter(({ value }, index) => {
      const before = steps[index - 1]?.value;
      return before === undefined ? groupBy.length > 0 || !value.eq(ZERO) : !value.eq(before);
    }),
  };
}

function byBytes([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function lineOf({ group_values }: StatementRow): string {
  return JSON.stringify(group_values);
}

function changeOf({ value }: StatementRow): Decimal {
  return value === null ? ZERO : decimal(value);
}

/** Converts the changes of one line, ascending, to its values. */
function stepsOf(line: readonly StatementRow[]): UsageStep[] {
  let value = ZERO;
  return line.map((row) => {
    value = value.plus(changeOf(row));
    return { at: row.part * SECOND_MS, value };
  });
}

function groupValues(groupBy: readonly string[], row: StatementRow): Record<string, string> {
  return Object.fromEntries(
    groupBy.map((name, index) => {
      const value = row.group_values[index];
      assert(typeof value === 'string', 'a line has all its group values');
      return [name, value];
    }),
  );
}
