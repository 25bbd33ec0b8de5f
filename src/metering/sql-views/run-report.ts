/** Runs a query across customers: verified, in a lane of its own, within limits. */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { invalid } from '../../core/errors.ts';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';
import { createParameters } from '../query/parameters.ts';
import { GIBIBYTE, type QueryLimits } from '../query/query-limits.ts';
import { renderStatement } from '../query/usage-relation.ts';
import { checkPatterns } from '../sql-metric/check-patterns.ts';
import { createDefinitions, createNames } from '../sql-metric/definitions.ts';
import { createReportReader } from '../sql-metric/metric-reader.ts';
import { type TreeRules, verifyStatement } from '../sql-metric/parse-tree.ts';
import { refusalOf, settingsOf } from '../sql-metric/run-statement.ts';
import { toText } from '../sql-metric/value.ts';
import type { CheckedReport } from './read-report.ts';

/** One thread, so that other queries are not slowed down. */
export const REPORT_LIMITS: QueryLimits = {
  lane: 'reports',
  executionSeconds: 30,
  memoryBytes: 2 * GIBIBYTE,
  rowsRead: 200_000_000,
  resultRows: 100_000,
  threads: 1,
};
/** Of a result, as ClickHouse holds it. */
const RESULT_BYTES_MAX = 64 * 1024 * 1024;

/** A statement may read rows that come with it alone. */
const RULES: TreeRules = {
  tables: new Map([['usage_events', 'customer_ref']]),
  readsMin: 0,
};

/** One for the process, with a thread that the first query starts. */
const reader = createReportReader();

/** Reads a query off the event loop. Throws as `readReport` does. */
export async function loadReport(sql: string): Promise<CheckedReport> {
  return await reader.read(sql);
}

/** Ends the thread that reads queries; a later query starts it again. */
export async function closeReportReader(): Promise<void> {
  await reader.close();
}

/** A row: the text of each cell, plain decimals and RFC 3339 among them. */
export type ReportRow = ReadonlyArray<string | null>;

const reportRow = z.object({ cells: z.array(z.string().nullable()) });

/** The rows of a query. `rows` are the parameters with the rows of its views. */
export async function runReport(
  clickhouse: ClickHouse,
  report: CheckedReport,
  rows: QueryParams,
  limits: QueryLimits = REPORT_LIMITS,
): Promise<ReportRow[]> {
  const params = { ...report.parameters, ...rows };
  const sql = textRows(report);
  return await withRefusals(limits, async () => {
    await checkPatterns(clickhouse, report);
    await verifyStatement(clickhouse, sql, params, RULES);
    const settings = { ...settingsOf(limits), max_result_bytes: RESULT_BYTES_MAX };
    const found = await clickhouse.query({ sql, params, settings, lane: 'reports', schema: reportRow });
    return found.map(({ cells }) => cells);
  });
}

function textRows({ columns, from, order, nameCount }: CheckedReport): string {
  const definitions = createDefinitions(createNames(nameCount));
  const writer = { parameters: createParameters(), definitions };
  const cells = columns.map((column) => toText(writer, column));
  return renderStatement({
    definitions: definitions.list(),
    columns: [`CAST([${cells.join(', ')}], 'Array(Nullable(String))') AS cells`],
    from,
    conditions: [],
    groupBy: [],
    orderBy: order === null ? [] : [order],
  });
}

async function withRefusals<Result>(limits: QueryLimits, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    if (error.type === 'TOO_MANY_ROWS_OR_BYTES') {
      throw invalid(
        ['sql'],
        `the result has more than ${limits.resultRows} rows or 64 MiB: use LIMIT or group further`,
      );
    }
    throw refusalOf(error, limits) ?? error;
  }
}
