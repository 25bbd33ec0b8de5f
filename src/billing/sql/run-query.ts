/**
 * Queries across customers: the rows that they read are copied to ClickHouse, which answers (docs/reference/sql.md).
 */
import { invalid } from '../../core/errors.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import { createConnectionPool } from '../../metering/client/connection-pool.ts';
import type { SentTable } from '../../metering/client/sent-tables.ts';
import type { QueryLimits } from '../../metering/query/query-limits.ts';
import { ownersTable, type ViewRow, viewTable } from '../../metering/sql/generate/view-sql.ts';
import type { CheckedReport } from '../../metering/sql/read/read-report.ts';
import type { ReportRow } from '../../metering/sql/reports/answer-rows.ts';
import {
  type CopiedRows,
  loadReport,
  runParquetReport,
  runReport,
} from '../../metering/sql/reports/run-report.ts';
import { inSnapshot } from '../../store/base/database.ts';
import { type ReportOwners, reportAliasOwners, reportIdOwners } from '../../store/sql/report-rows.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import type { ViewSnapshot } from './cells.ts';
import { type DraftRowLimits, draftRows } from './draft-rows.ts';
import { type CopiedView, readViewRows } from './view-rows.ts';

/** Instead of the usual ones. */
type ReportLimits = Partial<CopyLimits> & { readonly query?: QueryLimits; readonly drafts?: DraftRowLimits };

export interface ReportQuery {
  readonly sql: string;
  readonly limits?: ReportLimits;
  /** Aborted when the client has disconnected: the query is ended. */
  readonly signal?: AbortSignal;
}

/** An answer that is read from ClickHouse while it is consumed. Refusals precede its first part. */
export interface ReportResult {
  readonly columns: CheckedReport['columns'];
  readonly rows: AsyncGenerator<ReportRow[], void, undefined>;
}

/** Maximum of rows that one query may copy from PostgreSQL. */
interface CopyLimits {
  /** Rows of one view; also customers with their aliases, if events are read. */
  readonly copiedRows: number;
  /** Characters of all views together. */
  readonly copiedCharacters: number;
}

const COPY_LIMITS: CopyLimits = { copiedRows: 200_000, copiedCharacters: 24_000_000 };
/** Customers, contracts or holds that are read at once. */
const ITEMS_PER_READ = 1_000;
const ITEM_VIEWS: readonly CopiedView[] = [
  'customers',
  'contracts',
  'holds',
  'custom_fields',
  'provider_prices',
];
/** References of events, which arrive as one text. */
const OWNERS_PER_READ = 20_000;
/** Counted for each cell beside its text. */
const CELL_CHARACTERS = 6;
/** Counted for each alias beside its text: the id of its customer, and two cells. */
const ALIAS_CHARACTERS = 36 + 2 * CELL_CHARACTERS;
/** Invoices with their lines, and customers with their balances. */
const DOCUMENTS_PER_READ = 200;

const COPIES_WAITING_MAX = 10;
/** Rows of PostgreSQL are in memory while they are copied: for two queries at a time. */
const copies = createConnectionPool(['first', 'second'], { waitingMax: COPIES_WAITING_MAX });

/**
 * Answers a query: over every event that was acknowledged and every invoice that was issued before. Refuses a query
 * that is not allowed or meets a limit (`invalid`, field `sql`).
 */
export async function queryRows(
  context: BillingContext,
  { sql, signal, limits = {} }: ReportQuery,
): Promise<ReportResult> {
  const report = await loadReport(sql);
  const rows = whileCopied(context, report, limits, (copied) =>
    runReport(context.clickhouse, report, copied, { limits: limits.query, signal }),
  );
  return { columns: report.columns, rows };
}

/** `queryRows`, as the pieces of a Parquet file. */
export async function* queryParquet(
  context: BillingContext,
  { sql, signal, limits = {} }: ReportQuery,
): AsyncGenerator<Buffer, void, undefined> {
  const report = await loadReport(sql);
  yield* whileCopied(context, report, limits, (copied) =>
    runParquetReport(context.clickhouse, report, copied, { limits: limits.query, signal }),
  );
}

/** Copies the rows of the views, and reads the answer. The next query may copy when the first part of it is there. */
async function* whileCopied<Part>(
  context: BillingContext,
  report: CheckedReport,
  limits: ReportLimits,
  run: (copied: CopiedRows) => AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  const { first, parts } = await copies.withConnection(async () => {
    const drafts = report.views.includes('drafts')
      ? [viewTable('drafts', await draftRows(context, report.customerIds, limits.drafts))]
      : [];
    if (report.views.includes('event_repeats')) await context.repeats.flush();
    const copied = await inSnapshot(context.db, (db) => copyRows({ ...context, db }, report, limits));
    const parts = run({ ...copied, tables: [...copied.tables, ...drafts] });
    return { first: await parts.next(), parts };
  });
  if (first.done === true) return;
  try {
    yield first.value;
    yield* parts;
  } finally {
    await parts.return();
  }
}

async function copyRows(
  context: SnapshotContext,
  report: CheckedReport,
  limits: ReportLimits,
): Promise<CopiedRows> {
  const budget = createBudget({ ...COPY_LIMITS, ...limits });
  const view: ViewSnapshot = {
    db: context.db,
    clickhouse: inLane(context.clickhouse, 'reports'),
    now: context.clock.now(),
  };
  const tables: SentTable[] = [];
  const readsEvents = report.views.some((name) => name === 'events' || name === 'event_repeats');
  if (readsEvents) tables.push(await owners(view, report, budget));
  for (const name of report.views) {
    if (name !== 'events' && name !== 'event_repeats' && name !== 'drafts')
      tables.push(viewTable(name, await copyOf(view, name, report, budget)));
  }
  return { params: { s_now: view.now }, tables };
}

async function copyOf(
  context: ViewSnapshot,
  view: CopiedView,
  { customerIds }: CheckedReport,
  budget: Budget,
): Promise<ViewRow[]> {
  const limit = ITEM_VIEWS.includes(view) ? ITEMS_PER_READ : DOCUMENTS_PER_READ;
  const copied: ViewRow[] = [];
  let after: string | null = null;
  do {
    const part = await readViewRows(context, view, { customerIds, after, limit });
    for (const row of part.rows) copied.push(row);
    budget.take(view, copied.length, charactersOf(part.rows));
    after = part.next;
  } while (after !== null);
  return copied;
}

/** The owners of the references in events. An alias belongs to its customer, even if it looks like an id. */
async function owners(
  { db }: ViewSnapshot,
  { customerIds }: CheckedReport,
  budget: Budget,
): Promise<SentTable> {
  const lines: Buffer[] = [];
  const readers = [
    { read: reportAliasOwners, added: ALIAS_CHARACTERS },
    { read: reportIdOwners, added: CELL_CHARACTERS },
  ];
  for (const { read, added } of readers) {
    let after: string | null = null;
    let count = 0;
    do {
      const part: ReportOwners = await read(db, { customerIds, after, limit: OWNERS_PER_READ });
      count += part.count;
      lines.push(Buffer.from(part.lines));
      budget.take('events', count, part.characters + part.count * added);
      after = part.count < OWNERS_PER_READ ? null : part.last;
    } while (after !== null);
  }
  return ownersTable(lines);
}

function charactersOf(rows: readonly ViewRow[]): number {
  let characters = 0;
  for (const row of rows) for (const cell of row) characters += (cell?.length ?? 4) + CELL_CHARACTERS;
  return characters;
}

interface Budget {
  /** Throws if a view has too many rows, or the whole copy is too large. */
  take(view: string, rowsOfView: number, addedCharacters: number): void;
}

function createBudget({ copiedRows, copiedCharacters }: CopyLimits): Budget {
  let characters = 0;
  return {
    take: (view, rowsOfView, addedCharacters) => {
      characters += addedCharacters;
      if (rowsOfView <= copiedRows && characters <= copiedCharacters) return;
      const what =
        rowsOfView > copiedRows ? `${copiedRows} rows of ${view}` : `${copiedCharacters} characters`;
      throw invalid(
        ['sql'],
        `the query would copy more than ${what}: name customers by customer_id = '…' or IN in the WHERE of every view`,
      );
    },
  };
}
