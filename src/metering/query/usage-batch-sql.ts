/**
 * The query of `readUsageBatch`: one metric, any number of customers, each window aggregated separately; with a group
 * key both the whole of every window and each of its groups, in one pass over the events.
 */
import type { StreamingMetric } from '../../core/metric.ts';
import type { Interval } from '../../core/time.ts';
import { ANY_VERSION } from '../corrections/parameter-names.ts';
import { aggregateSql } from './aggregate-sql.ts';
import { type CompiledQuery, ingestedCondition, momentSql, windowSql } from './groups-sql.ts';
import { guaranteesProperty, inCondition, matchSql } from './match-sql.ts';
import type { NumberReader } from './number-sql.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import { ownerSql, type UsageOwner } from './series-sql.ts';
import { renderStatement, scopeConditions } from './usage-relation.ts';
import type { UsageWindowSize } from './usage-windows.ts';

export interface UsageBatchQuery {
  readonly metric: StreamingMetric;
  /** Customers with at least one reference each. Never empty. */
  readonly customers: readonly UsageOwner[];
  /** Aligned to windows. */
  readonly range: Interval;
  readonly windowSize: UsageWindowSize;
  readonly groupBy: UsageBatchGrouping | null;
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo: string | null;
}

export interface UsageBatchGrouping {
  readonly key: string;
  /** Only these groups; null for all. */
  readonly values: readonly string[] | null;
}

/** Rows: `owner`, `window_start` (unix seconds), `group_value` (null for the whole window), `value`. */
export function compileUsageBatch(query: UsageBatchQuery, numbers: NumberReader): CompiledQuery {
  const { metric, customers, range, groupBy } = query;
  const parameters = createParameters();
  const refs = customers.flatMap((customer) => customer.refs);
  const scope = scopeConditions(parameters, refs, range);
  const group = groupBy === null ? [] : [`${groupSql(parameters, metric, groupBy)} AS group_value`];
  const match = matchSql(parameters, metric, numbers);
  const whole = 'owner, window_seconds';
  const sql = renderStatement({
    definitions: [
      `${ownerSql(parameters, customers)} AS owner`,
      ...group,
      ...match.definitions,
      `${windowSql(parameters, query.windowSize, range)} AS window_seconds`,
    ],
    columns: [
      'owner',
      'toString(window_seconds) AS window_start',
      groupBy === null
        ? 'NULL AS row_group'
        : `if(grouping(group_value) = 1, NULL, group_value) AS row_group`,
      `${aggregateSql(metric.aggregation)} AS value`,
    ],
    conditions: [...scope, ...match.conditions, ...ingestedCondition(parameters, query.ingestedUpTo)],
    groupBy: [groupBy === null ? whole : `GROUPING SETS ((${whole}), (${whole}, group_value))`],
    // Events of groups that were not requested count for their window only.
    having: groupBy === null ? [] : ['(grouping(group_value) = 1 OR isNotNull(group_value))'],
  });
  return { sql, parameters };
}

/** The last ingestion time of these customers' events in the range, as one row `ingested_up_to`. */
export function compileBatchWatermark(refs: readonly string[] | null, range: Interval): CompiledQuery {
  const parameters = createParameters();
  const [ofCustomers, ...ofTime] = scopeConditions(parameters, refs ?? [], range);
  const sql = renderStatement({
    definitions: [],
    columns: [`${momentSql(parameters, 'max(ingested_at)')} AS ingested_up_to`],
    from: 'usage_events',
    conditions: refs === null || ofCustomers === undefined ? ofTime : [ofCustomers, ...ofTime],
    groupBy: [],
  });
  return { sql, parameters };
}

/** Which of these references have events in the range, as rows `ref`. */
export function compilePresentRefs(refs: readonly string[], range: Interval): CompiledQuery {
  const parameters = createParameters();
  parameters.note(ANY_VERSION, '1');
  const sql = renderStatement({
    definitions: [],
    columns: ['customer_ref AS ref'],
    from: 'usage_events',
    conditions: scopeConditions(parameters, refs, range),
    groupBy: ['customer_ref'],
  });
  return { sql, parameters };
}

/** The group of an event, null if it is not requested. */
function groupSql(parameters: Parameters, metric: StreamingMetric, groupBy: UsageBatchGrouping): string {
  const { key, values } = groupBy;
  const { text, value } = propertySql(parameters, key);
  if (values !== null) return `if(${inCondition(parameters, key, values)}, ${text}, NULL)`;
  return guaranteesProperty(metric, key) ? `toNullable(${text})` : value;
}
