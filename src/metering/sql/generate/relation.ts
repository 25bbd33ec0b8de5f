/**
 * A SELECT of a SQL metric as a statement whose rows carry the time for which they are valid.
 *
 * A metric is evaluated over a whole interval, separately over windows, or cumulatively at the end of every hour. All
 * three are one statement over one scan of the events. Every row carries its part, in unix seconds: 0 for a whole
 * interval, the start of its window, or the end of the hour from which it is valid. In the last case rows that
 * aggregate others also carry their end: the next hour in which their group changed. Rows without an end stay valid.
 */
import type { Parameters } from '../../query/parameters.ts';
import type { SelectQuery } from '../syntax/query-syntax.ts';
import type { NameSource } from '../values/definitions.ts';
import type { ValueType } from '../values/value.ts';

/** How an evaluation reads time, in SQL. */
export interface TimeSql {
  /** The part of an event, or from which it is valid. Int64. */
  readonly eventPart: string;
  /** The first part in which an aggregate without GROUP BY has a row even without events; null for none. */
  readonly firstPart: string | null;
  /** Array(Int64) of the ends of hours at which values may change; null if parts do not overlap. */
  readonly boundaries: string | null;
  /** Like `firstPart`, for a query inside an expression, which has a value in every part. */
  readonly everyPart: string;
  /** Set if an event is valid in many parts: its hour alone, and the parts from an hour on. */
  readonly hourly: HourlyParts | null;
}

/** For groups of events that are aggregated within each hour first, and then for every later part. */
interface HourlyParts {
  /** End of an event's hour. Int64. */
  readonly eventHour: string;
  readonly firstEnd: string;
  /** Array(Int64) of the parts, which are ends of hours. */
  readonly ends: string;
}

/** The state shared by all SELECTs of one statement. */
export interface StatementContext {
  readonly parameters: Parameters;
  readonly names: NameSource;
  readonly time: TimeSql;
  /** Conditions on the events in every evaluation: their customer and their time. */
  readonly scope: readonly string[];
  /**
   * Whether the query needs more than sums along the hours: rows are joined, ordered or compared with each other. Then
   * every row carries its part as a column, and is compared only with rows of its part.
   */
  readonly isByPart: boolean;
  /** Whether views have the rows of all customers, because the query names none. Metrics have no views. */
  readonly ofAllCustomers?: boolean;
  /** The query whose order the statement keeps; absent if rows are summed. */
  readonly ordered?: SelectQuery;
}

export interface RelationColumn {
  /** The name in the query; null for an unnamed expression. */
  readonly name: string | null;
  readonly type: ValueType;
  /** The name in the statement. */
  readonly sql: string;
}

/** The rows that a SELECT reads, or returns. */
export interface Relation {
  /** The text after FROM. */
  readonly from: string;
  /** The names of all readable columns. */
  readonly names: readonly string[];
  /** The names in `from` of columns that are renamed here. */
  readonly origins: ReadonlyMap<string, string>;
  readonly conditions: readonly string[];
  readonly columns: readonly RelationColumn[];
  /** Whether rows are events, so that properties can be read. */
  readonly hasProperties: boolean;
  readonly part: string;
  /** The expression of the column `part`, if it is not yet in `from`; else null. */
  readonly partSql: string | null;
  /** Null if rows stay valid, or if parts do not overlap. */
  readonly until: string | null;
  /** The order of events, as a tuple; null if rows are not events. */
  readonly eventOrder: string | null;
  /** The number of a row of the query whose order the statement keeps. */
  readonly rowNumber?: string | null;
}

/** After the end of every period. */
export const FOREVER = "toInt64('9223372036854775807')";

const EVENT_COLUMNS = ['event_type', 'timestamp', 'ingested_at', 'transaction_id'] as const;

/**
 * The deduplicated events, restricted to those of the evaluation. Nothing else reads a table. If they are joined with
 * events again, every read names its columns differently.
 */
export function eventsRelation({ scope, time, isByPart, names }: StatementContext): Relation {
  const [eventType, timestamp, ingestedAt, transactionId] = EVENT_COLUMNS.map((column) =>
    isByPart ? names.fresh('e') : column,
  ) as [string, string, string, string];
  const own = [eventType, timestamp, ingestedAt, transactionId];
  return {
    from: 'usage_events FINAL',
    names: own,
    origins: new Map(own.map((name, index) => [name, EVENT_COLUMNS[index] ?? name])),
    conditions: scope,
    columns: [
      { name: 'event_type', type: 'text', sql: eventType },
      { name: 'timestamp', type: 'timestamp', sql: timestamp },
      { name: 'transaction_id', type: 'text', sql: transactionId },
    ],
    hasProperties: true,
    part: isByPart ? names.fresh('p') : time.eventPart,
    partSql: isByPart ? time.eventPart : null,
    until: null,
    eventOrder: `tuple(${timestamp}, ${ingestedAt}, ${transactionId})`,
  };
}

/** The input of a SELECT without FROM. */
export function oneRow({ names, time }: StatementContext): Relation {
  const part = names.fresh('p');
  return relationOf(`SELECT ${time.eventPart} AS ${part}`, [], { part, until: null, eventOrder: null });
}

/** `sql AS name`, or the name alone if it is already that. */
export function named(sql: string, name: string): string {
  return sql === name ? name : `${sql} AS ${name}`;
}

/** A written SELECT as a source. */
export function relationOf(
  sql: string,
  columns: Relation['columns'],
  held: Pick<Relation, 'part' | 'until' | 'eventOrder' | 'rowNumber'>,
): Relation {
  const names = [held.part, held.until, held.eventOrder, ...columns.map((column) => column.sql)];
  return {
    ...held,
    from: `(\n${sql}\n)`,
    names: names.filter((name) => name !== null),
    conditions: [],
    columns,
    origins: new Map(),
    hasProperties: false,
    partSql: null,
  };
}
