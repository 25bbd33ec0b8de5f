/**
 * The events of the usage of a line: the contributions to a metric by hour, of events with the same values of
 * properties (docs/explanation/spend-breakdowns.md).
 */
import { z } from 'zod';
import { type Decimal, decimal, ZERO } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { mapInChunks } from '../../core/in-chunks.ts';
import type { BillableMetric, SqlMetric, StreamingMetric } from '../../core/metric.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import {
  type ContributionsQuery,
  compileContributions,
  compileShareValues,
} from '../query/contributions-sql.ts';
import { ingestedCondition } from '../query/groups-sql.ts';
import { BILLING_EXECUTION_SECONDS } from '../query/query-limits.ts';
import { queryUsage, scopeConditions } from '../query/usage-relation.ts';
import { readCountedSeries } from '../sql/run/counted-series.ts';
import type { SqlSeriesRequest } from '../sql/run/read-series.ts';
import { loadSqlMetric } from '../sql/run/sql-metric.ts';

export interface ContributionsRequest extends Omit<ContributionsQuery, 'metric'> {
  readonly metric: BillableMetric;
  readonly evaluatedAt: SqlSeriesRequest['evaluatedAt'];
}

export interface Contribution {
  /** The group values of the line. */
  readonly groupValues: Readonly<Record<string, string>>;
  /** The values of the properties in order; null for events without the property. */
  readonly shares: readonly (string | null)[];
  /** End of the hour. */
  readonly at: Instant;
  readonly value: Decimal;
}

/**
 * For a streaming metric the exact contributions, which may be negative. A SQL metric is evaluated over the events of
 * each combination of values separately; its contributions are the sizes of the changes. Refuses (`too_large`) a
 * million contributions, and a SQL metric with more than a hundred combinations of values.
 */
export async function readContributions(
  clickhouse: ClickHouse,
  { metric, evaluatedAt, ...query }: ContributionsRequest,
): Promise<Contribution[]> {
  return metric.kind === 'streaming'
    ? await readStreaming(clickhouse, { ...query, metric })
    : await readSql(clickhouse, metric, evaluatedAt, query);
}

const contributionRow = z.object({
  hour: z.string().transform((seconds) => Number(seconds) * SECOND_MS),
  group_values: z.array(z.string()),
  shares: z.array(z.string().nullable()),
  value: z.string(),
});

async function readStreaming(
  clickhouse: ClickHouse,
  query: ContributionsQuery & { readonly metric: StreamingMetric },
): Promise<Contribution[]> {
  const { metric, groupBy, customer } = query;
  const rows = await queryUsage(clickhouse, metric, {
    ...compileContributions(query),
    schema: contributionRow,
    executionSeconds: BILLING_EXECUTION_SECONDS,
    customer: customer.customerId,
    eventsOf: customer.refs,
  });
  return await mapInChunks(rows, ({ hour, group_values, shares, value }) => ({
    groupValues: Object.fromEntries(groupBy.map((name, index) => [name, group_values[index] ?? ''])),
    shares,
    at: hour,
    value: decimal(value),
  }));
}

/** Each combination of values is a separate evaluation. */
const COMBINATIONS_MAX = 100;
const VALUES_MAX = 100_000;

async function readSql(
  clickhouse: ClickHouse,
  metric: SqlMetric,
  evaluatedAt: SqlSeriesRequest['evaluatedAt'],
  query: Omit<ContributionsQuery, 'metric'>,
): Promise<Contribution[]> {
  const { customer, period, groupBy, usageFilter, ingestedUpTo, properties } = query;
  const checked = await loadSqlMetric(metric.sql);
  const contributions: Contribution[] = [];
  for (const shares of await combinationsOf(clickhouse, metric, query)) {
    const found = await readCountedSeries(clickhouse, {
      metric: checked,
      evaluatedAt,
      customers: [customer],
      period,
      groupBy,
      usageFilter,
      ingestedUpTo,
      having: properties.map((property, index) => ({ property, value: shares[index] ?? null })),
      rowsMax: VALUES_MAX,
    });
    const own = found.get(customer.customerId);
    if (own?.problem) throw own.problem;
    for (const series of own?.series ?? []) contributions.push(...changesOf(series, shares));
  }
  return contributions;
}

const sharesRow = z.object({ shares: z.array(z.string().nullable()) });

async function combinationsOf(
  clickhouse: ClickHouse,
  metric: SqlMetric,
  query: Omit<ContributionsQuery, 'metric'>,
): Promise<(readonly (string | null)[])[]> {
  const { customer, period, ingestedUpTo, properties } = query;
  const compiled = compileShareValues(
    query,
    (parameters) => [
      ...scopeConditions(parameters, customer.refs, period),
      ...ingestedCondition(parameters, ingestedUpTo),
    ],
    COMBINATIONS_MAX + 1,
  );
  const rows = await clickhouse.query({
    sql: compiled.sql,
    params: compiled.parameters.values(),
    schema: sharesRow,
    customer: customer.customerId,
    eventsOf: customer.refs,
  });
  if (rows.length <= COMBINATIONS_MAX) return rows.map(({ shares }) => shares);
  throw new Refusal(
    'too_large',
    `the events have more than ${COMBINATIONS_MAX} values of ${properties.join(', ')}, too many for the SQL metric "${metric.name}"`,
  );
}

function changesOf({ groupValues, steps }: UsageSeries, shares: Contribution['shares']): Contribution[] {
  let before = ZERO;
  return steps.map(({ at, value }) => {
    const change = value.minus(before).abs();
    before = value;
    return { groupValues, shares, at, value: change };
  });
}
