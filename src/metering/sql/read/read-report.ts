/** Parses a query across customers: the grammar, types and SQL of SQL metrics, over views (docs/reference/sql.md). */
import type { QueryParams } from '../../client/clickhouse.ts';
import { createParameters } from '../../query/parameters.ts';
import type { StatementContext } from '../generate/relation.ts';
import { writeSelect } from '../generate/select-sql.ts';
import { refuseLongConditions } from '../syntax/expansion.ts';
import { parseQuery } from '../syntax/parse-query.ts';
import { shownQuery } from '../syntax/parse-show.ts';
import { patternsIn, type TextPattern } from '../syntax/patterns.ts';
import type { SelectQuery } from '../syntax/query-syntax.ts';
import { createNames } from '../values/definitions.ts';
import { locatingProblems, QueryProblem } from '../values/query-refusal.ts';
import type { ValueType } from '../values/value.ts';
import type { ViewName } from '../values/views.ts';
import { readsOf } from './report-reads.ts';

interface ReportColumn {
  /** The name given by the analyst, or `column_1` by its position. */
  readonly name: string;
  readonly type: ValueType;
  /** The name in the statement. */
  readonly sql: string;
}

/** A query that can be run. Plain data; only this module creates it. */
export interface CheckedReport {
  /** As the analyst wrote it. */
  readonly sql: string;
  /** The text after FROM, with placeholders for the views' rows. */
  readonly from: string;
  readonly columns: readonly ReportColumn[];
  /** The column by which rows are ordered; null: unordered. */
  readonly order: string | null;
  readonly parameters: QueryParams;
  readonly nameCount: number;
  readonly patterns: readonly TextPattern[];
  readonly views: readonly ViewName[];
  /** The only customers whose rows the query can show; null: all. */
  readonly customerIds: readonly string[] | null;
}

/** The maximum rows that are numbered if the query orders them without LIMIT: more than an answer may have. */
const ROWS_MAX = 1_000_001;
/** All rows are in one part. */
const PART = 'toInt64(0)';

/** Throws an `invalid` refusal for the field `sql` with line, column and the allowed alternatives. */
export function readReport(sql: string): CheckedReport {
  return locatingProblems(sql, () => {
    const parsed = parseQuery(shownQuery(sql) ?? sql, true);
    const query =
      parsed.orderBy.length > 0 && parsed.limit === null ? { ...parsed, limit: ROWS_MAX } : parsed;
    refuseLongConditions(query);
    const { parameters, values } = boundTexts();
    const names = createNames();
    const reads = readsOf(query);
    const context: StatementContext = {
      parameters,
      names,
      time: { eventPart: PART, firstPart: PART, boundaries: null, everyPart: PART, hourly: null },
      scope: [],
      isByPart: true,
      ofAllCustomers: reads.customerIds === null,
      ordered: query,
    };
    const { from, columns, rowNumber = null } = writeSelect(context, query);
    return {
      ...{ sql, from, order: rowNumber, parameters: values(), nameCount: names.count() },
      columns: namedColumns(query, columns),
      patterns: patternsIn(query),
      ...reads,
    };
  });
}

/** Texts and names of the query, as parameters with unique names. */
function boundTexts() {
  const values = createParameters();
  let bound = 0;
  const bind: typeof values.bind = (name, type, value) => {
    bound += 1;
    return values.bind(`q_${name}_${bound}`, type, value);
  };
  return { parameters: { ...values, bind }, values: values.values };
}

function namedColumns(
  { items, position }: SelectQuery,
  columns: ReadonlyArray<{ readonly name: string | null; readonly type: ValueType; readonly sql: string }>,
): ReportColumn[] {
  const named = columns.map(({ type, sql }, index) => {
    const name = items[index]?.name ?? `column_${index + 1}`;
    return { name, type, sql };
  });
  const names = new Set(named.map(({ name }) => name.toLowerCase()));
  if (names.size < named.length) throw new QueryProblem(position, 'two columns have the same name');
  return named;
}
