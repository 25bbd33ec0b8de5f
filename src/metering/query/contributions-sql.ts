/**
 * The contribution of each event to a streaming metric: by how much it changes V(t), in the order of events. Summed by
 * hour and by the values of properties (docs/explanation/spend-breakdowns.md). Contributions of an hour add up to the
 * change of V.
 */
import type { Aggregation, StreamingMetric } from '../../core/metric.ts';
import { type Interval, SECOND_MS } from '../../core/time.ts';
import { ORDER_OF_EVENTS } from './aggregate-sql.ts';
import type { CompiledQuery } from './groups-sql.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import { type LineEvents, lineEvents, type UsageOwner } from './series-sql.ts';
import { renderStatement } from './usage-relation.ts';

export interface ContributionsQuery {
  readonly metric: StreamingMetric;
  readonly customer: UsageOwner;
  /** The period of the counters. */
  readonly period: Interval;
  /** The hours that are returned. */
  readonly within: Interval;
  /** Properties that form a line. */
  readonly groupBy: readonly string[];
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
  readonly ingestedUpTo: string | null;
  /** Properties whose values share the usage. */
  readonly properties: readonly string[];
}

/** Rows `hour` (its end, unix seconds), `group_values`, `shares` (the values of the properties), `value`. */
export function compileContributions(query: ContributionsQuery): CompiledQuery {
  const { metric, customer, within, groupBy } = query;
  const parameters = createParameters();
  const { dependsOnEarlier, changes: changesOf } = CONTRIBUTIONS[metric.aggregation];
  const period = dependsOnEarlier ? query.period : within;
  const events = withShares(
    parameters,
    query.properties,
    lineEvents(parameters, { ...query, customers: [customer], period }, 'exact'),
  );
  const groups = groupBy.map((_, index) => `group_${index}`);
  const { from, value, changes } = changesOf(events, groups);
  const sql = renderStatement({
    definitions: from === null ? events.definitions : [],
    columns: [
      'toString(hour_end) AS hour',
      `CAST([${groups.join(', ')}], 'Array(String)') AS group_values`,
      'shares',
      `toString(${value}) AS value`,
    ],
    ...(from === null ? {} : { from: `(\n${from}\n)` }),
    conditions: [
      ...(from === null ? events.conditions : []),
      ...changes,
      `hour_end > ${parameters.bind('within_start', 'Int64', within.start / SECOND_MS)}`,
      `hour_end <= ${parameters.bind('within_end', 'Int64', within.end / SECOND_MS)}`,
    ],
    groupBy: ['hour_end', ...groups, 'shares'],
  });
  return { sql, parameters };
}

/** The distinct values of the properties, as rows `shares`, at most `limit`. */
export function compileShareValues(
  query: Pick<ContributionsQuery, 'customer' | 'period' | 'ingestedUpTo' | 'properties'>,
  conditions: (parameters: Parameters) => readonly string[],
  limit: number,
): CompiledQuery {
  const parameters = createParameters();
  const sql = renderStatement({
    definitions: [`${sharesSql(parameters, query.properties)} AS shares`],
    columns: ['shares'],
    conditions: conditions(parameters),
    groupBy: ['shares'],
    limit: parameters.bind('limit', 'UInt32', limit),
  });
  return { sql, parameters };
}

function withShares(
  parameters: Parameters,
  properties: readonly string[],
  { definitions, conditions }: LineEvents,
): LineEvents {
  return {
    conditions,
    definitions: [
      ...definitions,
      `${sharesSql(parameters, properties)} AS shares`,
      'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600 AS hour_end',
    ],
  };
}

/** NULL for a property that an event does not have. */
function sharesSql(parameters: Parameters, properties: readonly string[]): string {
  const values = properties.map((name) => propertySql(parameters, name).value);
  return `CAST([${values.join(', ')}], 'Array(Nullable(String))')`;
}

interface ChangesSql {
  /** A relation of changes; null: the events themselves. */
  readonly from: string | null;
  readonly value: string;
  /** Conditions for the rows that are changes. */
  readonly changes: readonly string[];
}

interface Contributions {
  /** Whether the change of an event depends on earlier events. */
  readonly dependsOnEarlier: boolean;
  changes(events: LineEvents, groups: readonly string[]): ChangesSql;
}

const CONTRIBUTIONS: Readonly<Record<Aggregation, Contributions>> = {
  COUNT: {
    dependsOnEarlier: false,
    changes: () => ({ from: null, value: 'count()', changes: [] }),
  },
  SUM: {
    dependsOnEarlier: false,
    changes: () => ({ from: null, value: 'sum(value_number)', changes: [] }),
  },
  UNIQUE: {
    dependsOnEarlier: true,
    changes: (events, groups) => ({ from: firstEventsSql(events, groups), value: 'count()', changes: [] }),
  },
  MAX: {
    dependsOnEarlier: true,
    changes: (events, groups) =>
      stepwise(events, groups, {
        before: `max(value_number) OVER (${eventOrder(groups)} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`,
        change: `if(value_number > value_before, value_number - value_before, ${NOTHING})`,
      }),
  },
  LATEST: {
    dependsOnEarlier: true,
    changes: (events, groups) =>
      stepwise(events, groups, {
        before: `lagInFrame(value_number) OVER (${eventOrder(groups)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`,
        change: 'value_number - value_before',
      }),
  },
};

const NOTHING = 'toDecimal256(0, 30)';

function eventOrder(groups: readonly string[]): string {
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  return `${partition}ORDER BY timestamp, ingested_at, transaction_id`;
}

/** The first event of a group changes V from 0 to its value. */
function stepwise(
  events: LineEvents,
  groups: readonly string[],
  { before, change }: { readonly before: string; readonly change: string },
): ChangesSql {
  const steps = renderStatement({
    ...events,
    columns: [...groups, 'shares', 'hour_end', 'value_number', `${before} AS value_before`],
    groupBy: [],
  });
  const changed = renderStatement({
    definitions: [],
    columns: [
      ...groups,
      'shares',
      'hour_end',
      `if(isNull(value_before), value_number, ${change}) AS value_change`,
    ],
    from: `(\n${steps}\n)`,
    conditions: [],
    groupBy: [],
  });
  return { from: changed, value: 'sum(value_change)', changes: [`value_change != ${NOTHING}`] };
}

/** A UNIQUE value is counted with the first event that has it. */
function firstEventsSql(events: LineEvents, groups: readonly string[]): string {
  const first = renderStatement({
    ...events,
    columns: [
      ...groups,
      `argMin(shares, ${ORDER_OF_EVENTS}) AS first_shares`,
      'min(hour_end) AS first_hour_end',
    ],
    groupBy: [...groups, 'value_text'],
  });
  return renderStatement({
    definitions: [],
    columns: [...groups, 'first_shares AS shares', 'first_hour_end AS hour_end'],
    from: `(\n${first}\n)`,
    conditions: [],
    groupBy: [],
  });
}
