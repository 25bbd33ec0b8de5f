/**
 * Usage of a SQL metric for invoices: the cumulative value V(t) of one customer after another, as the series
 * of streaming metrics. A statement only ever names the references of one customer.
 */

import { z } from 'zod';
import { type Decimal, decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { groupBy as groupItems } from '../../core/group-by.ts';
import { type Interval, isHourAligned, SECOND_MS } from '../../core/time.ts';
import type { UsageSeries, UsageStep } from '../../core/usage-series.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { QueryLimits } from '../query/query-limits.ts';
import type { UsageOwner } from '../query/usage-series.ts';
import {
  BILLING_LIMITS,
  createStatementRunner,
  type StatementRow,
  type StatementRunner,
} from './run-statement.ts';
import { type CheckedSqlMetric, outputColumns } from './sql-metric.ts';
import {
  compileEventHours,
  compileHours,
  compileWhole,
  type EventScope,
  needsEventHours,
} from './statement-sql.ts';

export interface SqlSeriesRequest {
  readonly metric: CheckedSqlMetric;
  readonly customers: readonly UsageOwner[];
  /** On hour boundaries. */
  readonly period: Interval;
  /**
   * `hour`: V at the end of every hour, over the events from the start of the period up to it.
   * `service_period`: V once, over the whole period, as one step at its end.
   */
  readonly granularity: 'hour' | 'service_period';
  /** Group columns that make a line; rows where one is NULL belong to no line. */
  readonly groupBy: readonly string[];
  /** Only events with one of these values of a property, whether or not the query reads it. */
  readonly usageFilter?: EventScope['usageFilter'];
}

/**
 * The series of every requested customer, an empty list where the query has no row. NULL counts as 0.
 * Series are in byte order of their group values. Throws an `invalid` refusal that names the limit where
 * the query runs too long, needs too much memory or computes too large a number.
 */
export async function readSqlSeries(
  clickhouse: ClickHouse,
  request: SqlSeriesRequest,
  limits: QueryLimits = BILLING_LIMITS,
): Promise<Map<string, UsageSeries[]>> {
  const { customers, period, usageFilter = null } = request;
  assert(
    isHourAligned(period.start) && isHourAligned(period.end),
    'a billing period starts and ends on the hour',
  );
  const runner = createStatementRunner(clickhouse, limits);
  const result = new Map<string, UsageSeries[]>();
  for (const { customerId, refs } of customers) {
    assert(!result.has(customerId), 'no customer is asked for twice');
    const scope: EventScope = { refs, interval: period, usageFilter, ingestedUpTo: null };
    result.set(customerId, await readCustomer(runner, request, scope));
  }
  return result;
}

async function readCustomer(
  runner: StatementRunner,
  { metric, granularity, groupBy, period }: SqlSeriesRequest,
  scope: EventScope,
): Promise<UsageSeries[]> {
  const columns = outputColumns(metric, groupBy);
  if (granularity === 'service_period') {
    const rows = await runner.runQuery(compileWhole(metric.query, columns, scope));
    return rows.map((row) => ({
      groupValues: groupValues(groupBy, row),
      steps: stepsOf([{ at: period.end, change: changeOf(row) }]),
    }));
  }
  const hours = needsEventHours(metric.query) ? await readEventHours(runner, scope) : [];
  const rows = await runner.runQuery(compileHours(metric.query, columns, scope, hours));
  return [...groupItems(rows, (row) => JSON.stringify(row.group_values)).values()].map((line) => ({
    groupValues: line[0] === undefined ? {} : groupValues(groupBy, line[0]),
    steps: stepsOf(line.map((row) => ({ at: row.part * SECOND_MS, change: changeOf(row) }))),
  }));
}

const hourRow = z.object({ part: z.string().transform((seconds) => Number(seconds) * SECOND_MS) });

/** Ends of the hours with events: between them no value changes. */
async function readEventHours(runner: StatementRunner, scope: EventScope): Promise<number[]> {
  const rows = await runner.run(compileEventHours(scope), hourRow);
  return rows.map(({ part }) => part);
}

function changeOf({ value }: StatementRow): Decimal {
  return value === null ? ZERO : decimal(value);
}

/** `changes` ascending. Instants at which nothing changes give no step. */
function stepsOf(changes: ReadonlyArray<{ readonly at: number; readonly change: Decimal }>): UsageStep[] {
  const steps: UsageStep[] = [];
  let value = ZERO;
  for (const { at, change } of changes) {
    if (change.eq(ZERO)) continue;
    value = value.plus(change);
    steps.push({ at, value });
  }
  return steps;
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
