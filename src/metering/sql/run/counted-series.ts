/**
 * Usage of a SQL metric for invoices, without events with which it cannot be evaluated: they must not block an invoice.
 * Which events are left out depends on the events alone (docs/explanation/sql-metrics.md, "Events that cannot be
 * counted").
 */
import { Refusal } from '../../../core/errors.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import type { QueryLimits } from '../../query/query-limits.ts';
import type { MeteredSeries } from '../../query/usage-series.ts';
import type { EventScope, LeftOutEvents } from '../generate/statement-sql.ts';
import { BILLING_SEARCH, countEvents, findEndOfCount, findUncountable, listEvents } from './event-search.ts';
import { readSqlSeries, type SqlSeriesRequest } from './read-series.ts';
import { BILLING_LIMITS, createStatementRunner, isOverflow, type StatementRunner } from './run-statement.ts';
import { outputColumns } from './sql-metric.ts';

/** Maximum ids of excluded events that are listed. */
const NAMED_EVENTS_MAX = 100;

/** `readSqlSeries`, customer by customer. Throws a `too_large` refusal beyond `rowsMax` values of a customer. */
export async function readCountedSeries(
  clickhouse: ClickHouse,
  { rowsMax, ...request }: SqlSeriesRequest & { readonly rowsMax: number },
): Promise<Map<string, MeteredSeries>> {
  const limits = { ...BILLING_LIMITS, resultRows: rowsMax };
  const result = new Map<string, MeteredSeries>();
  for (const customer of request.customers) {
    const own = { ...request, customers: [customer] };
    result.set(customer.customerId, await readCounted(clickhouse, own, limits));
  }
  return result;
}

async function readCounted(
  clickhouse: ClickHouse,
  request: SqlSeriesRequest,
  limits: QueryLimits,
): Promise<MeteredSeries> {
  const evaluate = async (leftOut: LeftOutEvents | null) => {
    const [series] = (await readSqlSeries(clickhouse, { ...request, leftOut }, limits)).values();
    return { series: series ?? [], uncounted: null, problem: null };
  };
  try {
    return await evaluate(null);
  } catch (error) {
    if (isOverflow(error))
      return await withoutSome(
        createStatementRunner(clickhouse, limits, scopeOf(request).refs),
        request,
        evaluate,
      );
    // It may need more time or memory than its limits. Other metrics are not affected.
    if (error instanceof Refusal && error.kind === 'invalid') {
      return { series: [], uncounted: null, problem: error };
    }
    throw error;
  }
}

async function withoutSome(
  runner: StatementRunner,
  request: SqlSeriesRequest,
  evaluate: (leftOut: LeftOutEvents) => Promise<MeteredSeries>,
): Promise<MeteredSeries> {
  const scope = scopeOf(request);
  const searched = {
    query: request.metric.query,
    columns: outputColumns(request.metric, request.groupBy),
    scope,
  };
  let leftOut = await findUncountable(runner, searched, BILLING_SEARCH);
  let found: MeteredSeries;
  try {
    found = await evaluate(leftOut);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    leftOut = { ...leftOut, from: await findEndOfCount(runner, scope, leftOut, evaluate) };
    found = await evaluate(leftOut);
  }
  return { ...found, uncounted: await named(runner, scope, leftOut) };
}

function scopeOf({
  customers,
  period,
  usageFilter = null,
  ingestedUpTo = null,
  having,
}: SqlSeriesRequest): EventScope {
  return { refs: customers.flatMap(({ refs }) => refs), interval: period, usageFilter, ingestedUpTo, having };
}

/** The events that are left out one by one, then those from an instant on. */
async function named(
  runner: StatementRunner,
  scope: EventScope,
  { ids, from }: LeftOutEvents,
): Promise<NonNullable<MeteredSeries['uncounted']>> {
  if (from === null) return { count: ids.length, transactionIds: ids.slice(0, NAMED_EVENTS_MAX) };
  const rest: EventScope = {
    ...scope,
    interval: { start: from, end: scope.interval.end },
    leftOut: { ids, from: null },
  };
  const { count } = await countEvents(runner, rest);
  const others = await listEvents(runner, rest, NAMED_EVENTS_MAX);
  return {
    count: ids.length + count,
    transactionIds: [...ids, ...others.map(({ id }) => id)].slice(0, NAMED_EVENTS_MAX),
  };
}
