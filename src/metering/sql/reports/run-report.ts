/** Runs a query across customers: verified, in a separate lane, within limits. */
import { ClickHouseError } from '@clickhouse/client';
import { invalid, type Refusal } from '../../../core/errors.ts';
import type { ClickHouse, QueryParams, QuerySettings, StreamedSelect } from '../../client/clickhouse.ts';
import type { StatementWithParams } from '../../client/parameter-pieces.ts';
import type { SentTable } from '../../client/sent-tables.ts';
import { GIBIBYTE, type QueryLimits } from '../../query/query-limits.ts';
import { OWNERS_TABLE, viewTableName } from '../generate/view-sql.ts';
import { createReportReader } from '../read/metric-reader.ts';
import type { CheckedReport } from '../read/read-report.ts';
import { checkPatterns } from '../run/check-patterns.ts';
import { type TreeRules, verifyStatement } from '../run/parse-tree.ts';
import { refusalOf, settingsOf } from '../run/run-statement.ts';
import { VIEW_NAMES } from '../values/views.ts';
import { afterBeginning, type ReportRow, rowsOf, wholeParquet } from './answer-rows.ts';
import { textStatement, typedStatement } from './report-sql.ts';

/** One thread, so that other queries are not slowed down. */
export const REPORT_LIMITS: QueryLimits = {
  lane: 'reports',
  executionSeconds: 30,
  memoryBytes: 2 * GIBIBYTE,
  rowsRead: 200_000_000,
  resultRows: 1_000_000,
  threads: 1,
};
/** The maximum size of a result, by the column sizes of ClickHouse. */
const RESULT_BYTES_MAX = 512 * 1024 * 1024;

/** A statement may read only tables that are sent with it. */
const TABLES: TreeRules['tables'] = new Map([
  ['usage_events', 'customer_ref'],
  ['event_repeats', 'customer_ref'],
  [OWNERS_TABLE, null],
  ...VIEW_NAMES.map((view) => [viewTableName(view), null] as const),
]);

/** One per process, with a thread that the first query starts. */
const reader = createReportReader();

/** Parses a query off the event loop. Throws like `readReport`. */
export async function loadReport(sql: string): Promise<CheckedReport> {
  return await reader.read(sql);
}

/** Ends the thread that parses queries; a later query restarts it. */
export async function closeReportReader(): Promise<void> {
  await reader.close();
}

/** The input of a query besides events. */
export interface CopiedRows {
  readonly params: QueryParams;
  readonly tables: readonly SentTable[];
}

export interface ReportOptions {
  /** Replaces the usual limits. */
  readonly limits?: QueryLimits | undefined;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** The rows of a query, a few at a time, while they are read. */
export async function* runReport(
  clickhouse: ClickHouse,
  report: CheckedReport,
  copied: CopiedRows,
  { limits = REPORT_LIMITS, signal }: ReportOptions = {},
): AsyncGenerator<ReportRow[], void, undefined> {
  yield* rowsOf(answerOf(clickhouse, report, { ...ROWS, ...textStatement(report), copied, limits, signal }));
}

/** The answer to a query as a Parquet file, in pieces, while its rows are read. */
export async function* runParquetReport(
  clickhouse: ClickHouse,
  report: CheckedReport,
  copied: CopiedRows,
  { limits = REPORT_LIMITS, signal }: ReportOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  yield* wholeParquet(
    answerOf(clickhouse, report, { ...PARQUET, ...typedStatement(report), copied, limits, signal }),
  );
}

interface AnswerForm {
  readonly format: StreamedSelect['format'];
  readonly settings: QuerySettings;
}

const ROWS: AnswerForm = { format: 'JSONEachRow', settings: { output_format_json_array_of_rows: 1 } };

/** Rows are buffered until a group of them is full. Set here, so that files do not depend on a server's profile. */
const PARQUET: AnswerForm = {
  format: 'Parquet',
  settings: {
    output_format_parquet_row_group_size: 100_000,
    output_format_parquet_row_group_size_bytes: 32 * 1024 * 1024,
    output_format_parquet_string_as_string: 1,
    output_format_parquet_compression_method: 'zstd',
  },
};

interface Asked extends AnswerForm, StatementWithParams {
  readonly copied: CopiedRows;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal | undefined;
}

async function* answerOf(
  clickhouse: ClickHouse,
  report: CheckedReport,
  { sql, format, limits, signal, copied, ...asked }: Asked,
): AsyncGenerator<Buffer, void, undefined> {
  const params = { ...report.parameters, ...copied.params, ...asked.params };
  const settings = { ...settingsOf(limits), max_result_bytes: RESULT_BYTES_MAX, ...asked.settings };
  try {
    await checkPatterns(clickhouse, report);
    await verifyStatement(clickhouse, sql, params, {
      tables: TABLES,
      readsMin: 0,
      ofAllCustomers: report.customerIds === null,
    });
    const pieces = clickhouse.queryStream({
      ...{ sql, params, format, settings, signal },
      tables: copied.tables,
      lane: 'reports',
    });
    yield* afterBeginning(pieces);
  } catch (error) {
    throw error instanceof ClickHouseError ? (reportRefusal(error, limits) ?? error) : error;
  }
}

function reportRefusal(error: ClickHouseError, limits: QueryLimits): Refusal | null {
  if (error.type !== 'TOO_MANY_ROWS_OR_BYTES') return refusalOf(error, limits);
  const bytes = `${RESULT_BYTES_MAX / 1024 ** 2} MiB`;
  return invalid(
    ['sql'],
    `the result has more than ${limits.resultRows} rows or ${bytes}: use LIMIT or group further`,
  );
}
