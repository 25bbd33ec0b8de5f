/**
 * Batch usage of a SQL metric. Each query runs for one customer, because it must not read the events of another;
 * a page takes as many queries as it has customers.
 */
import type { Decimal } from '../../core/decimal.ts';
import { groupBy as groupItems } from '../../core/group-by.ts';
import type { SqlMetric } from '../../core/metric.ts';
import type { Interval } from '../../core/time.ts';
import type { UsageOwner } from '../../metering/query/series-sql.ts';
import type { UsageBatchGrouping, UsageBatchWindow } from '../../metering/query/usage-batch.ts';
import type { UsageGroupRow } from '../../metering/query/usage-groups.ts';
import type { UsageWindowSize } from '../../metering/query/usage-windows.ts';
import { loadSqlMetric } from '../../metering/sql/run/sql-metric.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';

/** Rows of one answer; a range has as many answers as it takes. */
const ROWS_PER_QUERY = 10_000;

interface SqlBatch {
  readonly metric: SqlMetric;
  readonly groupBy: UsageBatchGrouping | null;
  readonly windowSize: UsageWindowSize;
  readonly range: Interval;
  /** The watermark of all queries, epoch microseconds; null: each reads the events that are there when it runs. */
  readonly ingestedUpTo: string | null;
  /** Texts of statements that were verified already. A metric has the same for all customers. */
  readonly verified: Set<string>;
}

/**
 * The windows of a customer in which the query has a row; by group if a group key is requested. Refuses (`invalid`)
 * time whose events were removed.
 */
export async function measureSqlMetric(
  usageSource: UsageSource,
  batch: SqlBatch,
  { customerId, refs }: UsageOwner,
): Promise<UsageBatchWindow[]> {
  const { groupBy } = batch;
  const totals = await allRows(usageSource, batch, refs, null);
  const groupRows = groupBy === null ? [] : await allRows(usageSource, batch, refs, groupBy);
  const byWindow = groupItems(groupRows, ({ startingOn }) => startingOn);
  return totals.flatMap(({ startingOn, value }) =>
    value === null
      ? []
      : [{ customerId, start: startingOn, value, groups: groupsOf(byWindow.get(startingOn) ?? [], groupBy) }],
  );
}

/** Rows without a value of the group column belong to no group. */
function groupsOf(rows: readonly UsageGroupRow[], groupBy: UsageBatchGrouping | null): Map<string, Decimal> {
  const groups = new Map<string, Decimal>();
  for (const { group, value } of rows) {
    const name = groupBy === null ? undefined : group[groupBy.key];
    if (typeof name === 'string' && value !== null) groups.set(name, value);
  }
  return groups;
}

async function allRows(
  usageSource: UsageSource,
  { metric, windowSize, range, ingestedUpTo, verified }: SqlBatch,
  refs: readonly string[],
  groupBy: UsageBatchGrouping | null,
): Promise<UsageGroupRow[]> {
  const rows: UsageGroupRow[] = [];
  const request = {
    metric: await loadSqlMetric(metric.sql),
    metricName: metric.name,
    refs,
    range,
    windowSize,
    ingestedUpTo,
    verified,
    groupKey: groupBy === null ? null : [groupBy.key],
    groupFilters: groupBy === null || groupBy.values === null ? {} : { [groupBy.key]: groupBy.values },
    limit: ROWS_PER_QUERY,
  };
  let page = await usageSource.sqlGroups({ ...request, cursor: null });
  rows.push(...page.rows);
  while (page.next !== null) {
    page = await usageSource.sqlGroups({ ...request, cursor: page.next });
    rows.push(...page.rows);
  }
  return rows;
}
