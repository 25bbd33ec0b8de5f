/**
 * A query as SQL, without the customer and the period: these are filled in at every evaluation (`statement-sql.ts`).
 * Plain data: it is created on the worker thread and cached (`metric-reader.ts`).
 */
import type { QueryParams } from '../../client/clickhouse.ts';
import { createParameters, type Parameters } from '../../query/parameters.ts';
import { isHourly } from '../syntax/hourly.ts';
import { isAggregate, queriesIn, type SelectQuery } from '../syntax/query-syntax.ts';
import { createNames } from '../values/definitions.ts';
import type { RelationColumn, TimeSql } from './relation.ts';
import { writeSelect } from './select-sql.ts';

/** The placeholders of the parts that every evaluation fills in. No name or operator contains a `$`. */
export const OPEN_PARTS = {
  scope: '$scope$',
  eventPart: '$event_part$',
  firstPart: '$first_part$',
  boundaries: '$boundaries$',
  everyPart: '$every_part$',
  eventHour: '$event_hour$',
  firstEnd: '$first_end$',
  ends: '$ends$',
} as const;

/** The rows of a query, for one way of evaluating it. */
export interface WrittenRelation {
  /** The text after FROM, with open parts. */
  readonly from: string;
  readonly columns: readonly RelationColumn[];
  readonly part: string;
  readonly until: string | null;
  /** The number of names in use. */
  readonly nameCount: number;
}

export interface WrittenQuery {
  /** The names of its columns as the analyst wrote them. */
  readonly columnNames: ReadonlyArray<string | null>;
  /** Whether one aggregate reads another. */
  readonly readsGroups: boolean;
  /** `along_hours`: states are carried along; `at_each_hour`: it is evaluated again at every requested hour. */
  readonly mode: 'along_hours' | 'at_each_hour';
  /** The texts of the query. Their names begin with `q_`, so that those of an evaluation cannot collide. */
  readonly parameters: QueryParams;
  readonly whole: WrittenRelation;
  readonly windows: WrittenRelation;
  readonly hours: WrittenRelation;
}

/** Throws a `QueryProblem` if the query is inconsistent. */
export function writeQuery(query: SelectQuery): WrittenQuery {
  const values = createParameters();
  let bound = 0;
  const parameters: Parameters = {
    ...values,
    bind: (name, type, value) => {
      // A separate name each time: searching for an equal value is not worth it.
      bound += 1;
      return values.bind(`q_${name}_${bound}`, type, value);
    },
  };
  const { eventPart, firstPart, boundaries, everyPart, eventHour, firstEnd, ends } = OPEN_PARTS;
  const hourly = isHourly(query);
  const write = (time: TimeSql) => writeRelation(query, parameters, time, !hourly);
  const zero = 'toInt64(0)';
  return {
    columnNames: query.items.map(({ name }) => name),
    readsGroups: readsGroups(query),
    mode: hourly ? 'along_hours' : 'at_each_hour',
    whole: write({ eventPart: zero, firstPart: zero, boundaries: null, everyPart: zero, hourly: null }),
    windows: write({ eventPart, firstPart: null, boundaries: null, everyPart, hourly: null }),
    hours: write({
      ...{ eventPart, firstPart, everyPart },
      boundaries: hourly ? boundaries : null,
      hourly: hourly ? null : { eventHour, firstEnd, ends },
    }),
    parameters: parameters.values(),
  };
}

function writeRelation(
  query: SelectQuery,
  parameters: Parameters,
  time: TimeSql,
  isByPart: boolean,
): WrittenRelation {
  const names = createNames();
  const context = { parameters, names, time, scope: [OPEN_PARTS.scope], isByPart };
  const { from, columns, part, until } = writeSelect(context, query);
  return { from, columns, part, until, nameCount: names.count() };
}

function readsGroups(query: SelectQuery): boolean {
  return queriesIn(query).some((each) => isAggregate(each) || readsGroups(each));
}
