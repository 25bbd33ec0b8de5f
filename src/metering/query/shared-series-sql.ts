/**
 * The query of `readSharedSeries`: the series of several metrics in one statement, which reads each event once. A row
 * for each line and window in which an event matched a metric; empty text for the metrics that no event matched.
 */
import { assert } from '../../core/errors.ts';
import { type Aggregation, readsProperty, type StreamingMetric } from '../../core/metric.ts';
import { AGGREGATES } from './aggregate-sql.ts';
import { eventConditions } from './match-sql.ts';
import { type NumberReader, numbersSql, wholeNumberSql, wholeTextSql } from './number-sql.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import {
  type CompiledSeries,
  lineEvents,
  seriesWindows,
  type UsageSeriesRequest,
  windowOffsetSql,
} from './series-sql.ts';
import { renderStatement } from './usage-relation.ts';

export interface SharedSeriesRequest
  extends Omit<UsageSeriesRequest, 'metric' | 'slice' | 'countsEvents' | 'rowsMax'> {
  readonly metrics: readonly SharingMetric[];
  /** Maximum windows with usage of any metric, for all lines together. */
  readonly rowsMax: number;
}

/** The aggregations that need only whether an event matches and one number. */
type SharedAggregation = {
  [Each in Aggregation]: (typeof AGGREGATES)[Each]['shared'] extends null ? never : Each;
}[Aggregation];

export type SharingMetric = StreamingMetric & { readonly aggregation: SharedAggregation };

export function canShare(metric: StreamingMetric): metric is SharingMetric {
  return AGGREGATES[metric.aggregation].shared !== null;
}

/**
 * Rows of `readWindowRows`. With the reader `whole` the statement ends at any other text of an event that a metric
 * matches (`readNumbers`).
 */
export function compileSharedSeries(request: SharedSeriesRequest, reader: NumberReader): CompiledSeries {
  const { metrics, groupBy, period } = request;
  const parameters = createParameters();
  const windows = seriesWindows(parameters, request);
  const keys = ['owner', ...groupBy.map((_, index) => `group_${index}`)];
  // Counting reads no numbers.
  const events = lineEvents(parameters, { ...request, metric: anyEvent(metrics) }, 'exact');
  const numbers = numbersOf(parameters, metrics, reader);
  const matches = metrics.map((metric) => {
    return ['1', ...eventConditions(parameters, metric), ...numbers.conditions(metric)].join(' AND ');
  });
  const sql = renderStatement({
    definitions: [
      ...(request.customers.length > 1 ? [] : ['toUInt32(0) AS owner']),
      ...events.definitions,
      ...numbers.definitions,
      ...matches.map((match, index) => `(${match}) AS matches_${index}`),
      `${windows.startSql} AS window_seconds`,
    ],
    columns: [
      ...keys,
      windowOffsetSql(parameters, period),
      ...metrics.map((metric, index) => {
        const match = `matches_${index}`;
        return `${valueSql(metric, match, () => numbers.number(metric, match))} AS value_${index}`;
      }),
    ],
    conditions: [...events.conditions, `(${matches.map((_, index) => `matches_${index}`).join(' OR ')})`],
    groupBy: [...keys, 'window_seconds'],
    orderBy: [...keys, 'window_offset'],
  });
  return { sql, parameters, windowEnd: windows.endOf };
}

/** How the numbers of the metrics are read. */
interface NumbersSql {
  readonly definitions: readonly string[];
  /** Further conditions for an event to match. */
  conditions(metric: SharingMetric): string[];
  /** The number of an event that matches; undefined for others. */
  number(metric: SharingMetric, match: string): string;
}

function numbersOf(
  parameters: Parameters,
  metrics: readonly SharingMetric[],
  reader: NumberReader,
): NumbersSql {
  const reading = metrics.filter(({ aggregation }) => readsProperty(aggregation));
  const names = [...new Set(reading.flatMap(({ aggregationKey }) => aggregationKey ?? []))];
  const texts = names.map((name) => propertySql(parameters, name).text);
  const placeOf = ({ aggregationKey }: SharingMetric) => names.indexOf(aggregationKey ?? '');
  const conditions = (sqlOf: (place: number) => string) => (metric: SharingMetric) =>
    readsProperty(metric.aggregation) ? [sqlOf(placeOf(metric))] : [];
  if (reader === 'whole') {
    return {
      definitions: texts.map((text, place) => `${text} AS text_${place}`),
      conditions: conditions((place) => wholeTextSql(`text_${place}`)),
      number: (metric, match) => wholeNumberSql(`text_${placeOf(metric)}`, match),
    };
  }
  return {
    definitions: texts.length === 0 ? [] : [`${numbersSql(texts)} AS numbers`],
    conditions: conditions((place) => `isNotNull(numbers[${place + 1}])`),
    number: (metric) => `assumeNotNull(numbers[${placeOf(metric) + 1}])`,
  };
}

/** A metric that matches every event that one of the metrics can match: those of their event types. */
function anyEvent(metrics: readonly SharingMetric[]): StreamingMetric {
  const [first] = metrics;
  assert(first !== undefined, 'a metric is asked for');
  const types = metrics.map(({ eventTypeFilter }) => eventTypeFilter?.inValues ?? null);
  const inValues = types.every((values) => values !== null) ? [...new Set(types.flat())] : null;
  return {
    ...first,
    aggregation: 'COUNT',
    aggregationKey: null,
    propertyFilters: [],
    eventTypeFilter: inValues === null ? null : { inValues, notInValues: null },
  };
}

/** Empty text if no event matched. */
function valueSql({ aggregation }: SharingMetric, match: string, number: () => string): string {
  return `if(countIf(${match}) = 0, '', toString(${AGGREGATES[aggregation].shared(match, number)}))`;
}
