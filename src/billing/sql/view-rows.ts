/** The rows of the views that lie in PostgreSQL, with the meanings of the API (docs/reference/sql.md). */
import { sum } from '../../core/decimal.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import {
  countsInTotal,
  type InvoiceLine,
  isAppliedLine,
  isConversionLine,
  isScheduledLine,
} from '../../core/invoice.ts';
import { monthOfInvoice } from '../../core/invoice-month.ts';
import { ledgerEntryType } from '../../core/terms/ledger.ts';
import type { Interval } from '../../core/time.ts';
import { readFrozenLines } from '../../metering/frozen-lines/frozen-lines.ts';
import type { ViewRow } from '../../metering/sql/generate/view-sql.ts';
import type { ViewName } from '../../metering/sql/values/views.ts';
import { lineId } from '../../rating/invoices/line-id.ts';
import { dueAt } from '../../rating/invoices/payable.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { shownStatus } from '../../store/holds/holds.ts';
import type { IssuedHead } from '../../store/invoices/invoices.ts';
import { withLines } from '../../store/invoices/whole-invoices.ts';
import {
  type ReportPart,
  reportContracts,
  reportCustomers,
  reportHolds,
  reportInvoices,
} from '../../store/sql/report-rows.ts';
import { catalogueRows } from './catalogue-rows.ts';
import { exact, type RowsPart, time, type ViewSnapshot } from './cells.ts';
import { creditNoteRows } from './credit-note-rows.ts';
import { issuedBalances, issuedLedgers } from './issued-balances.ts';

/** Views whose rows lie in PostgreSQL. Those of drafts are computed (draft-rows.ts). */
export type CopiedView = Exclude<ViewName, 'events' | 'event_repeats' | 'drafts'>;

/** A part of a view's rows: those of at most `part.limit` invoices, customers, contracts or holds. */
export async function readViewRows(
  context: ViewSnapshot,
  view: CopiedView,
  part: ReportPart,
): Promise<RowsPart> {
  switch (view) {
    case 'customers':
      return customerRows(context, part);
    case 'contracts':
      return contractRows(context, part);
    case 'balances':
      return balanceRows(context, part);
    case 'commits':
    case 'ledger':
      return commitRows(context, view, part);
    case 'holds':
      return holdRows(context, part);
    case 'credit_notes':
    case 'credit_note_lines':
      return creditNoteRows(context, view, part);
    case 'invoices':
    case 'invoice_lines':
    case 'invoice_hours': {
      const heads = await reportInvoices(context.db, part);
      return { rows: await invoiceViews[view](context, heads), next: nextOf(heads, part) };
    }
    default:
      return catalogueRows(context, view, part);
  }
}

type Head = Awaited<ReturnType<typeof reportInvoices>>[number];

const invoiceViews: Readonly<
  Record<
    'invoices' | 'invoice_lines' | 'invoice_hours',
    (context: ViewSnapshot, heads: readonly Head[]) => Promise<ViewRow[]>
  >
> = { invoices: invoiceRows, invoice_lines: lineRows, invoice_hours: hourRows };

function nextOf(read: readonly { readonly id: string }[], { limit }: ReportPart): string | null {
  return read.length < limit ? null : (read.at(-1)?.id ?? null);
}

async function customerRows({ db }: ViewSnapshot, part: ReportPart): Promise<RowsPart> {
  const read = await reportCustomers(db, part);
  const rows = read.map(({ id, name, createdAt, archivedAt, country }) => [
    id,
    name,
    time(createdAt),
    time(archivedAt),
    country,
  ]);
  return { rows, next: nextOf(read, part) };
}

async function contractRows({ db }: ViewSnapshot, part: ReportPart): Promise<RowsPart> {
  const read = await reportContracts(db, part);
  const rows = read.map(({ id, customerId, name, rateCardId, ...times }) => [
    ...[id, customerId, name, rateCardId],
    ...[time(times.startingAt), time(times.endingBefore), time(times.archivedAt)],
  ]);
  return { rows, next: nextOf(read, part) };
}

async function commitsOf({ db }: ViewSnapshot, part: ReportPart) {
  const read = await reportCustomers(db, part);
  const customerIds = read.map(({ id }) => id);
  const commits = await loadCommits(db, { customerIds, includeArchived: false });
  return { commits, next: nextOf(read, part) };
}

/** As the API's balances of finalized invoices. */
async function balanceRows(context: ViewSnapshot, part: ReportPart): Promise<RowsPart> {
  const { commits, next } = await commitsOf(context, part);
  const balances = await issuedBalances(context.db, commits, context.now);
  const rows = balances.map(({ commitId, customerId, contractId, type, creditTypeId, balance }) => [
    ...[commitId, customerId, contractId, type, creditTypeId],
    exact(balance),
  ]);
  return { rows, next };
}

async function commitRows(
  context: ViewSnapshot,
  view: 'commits' | 'ledger',
  part: ReportPart,
): Promise<RowsPart> {
  const { commits, next } = await commitsOf(context, part);
  const read = await issuedLedgers(context.db, commits, context.now);
  const rows = view === 'commits' ? read.map(commitRow) : read.flatMap(ledgerRows);
  return { rows, next };
}

type IssuedLedger = Awaited<ReturnType<typeof issuedLedgers>>[number];

function commitRow({ commit, balance }: IssuedLedger): ViewRow {
  const { segments, creditTypeId } = commit.accessSchedule;
  const starts = segments.map(({ startingAt }) => startingAt);
  const ends = segments.map(({ endingBefore }) => endingBefore);
  return [
    ...[commit.id, commit.customerId, commit.contractId, commit.type, commit.name, commit.productId],
    ...[creditTypeId, exact(sum(segments.map(({ amount }) => amount)))],
    time(starts.length === 0 ? null : Math.min(...starts)),
    time(ends.length === 0 ? null : Math.max(...ends)),
    exact(balance.balance),
  ];
}

function ledgerRows({ commit, balance }: IssuedLedger): ViewRow[] {
  return balance.ledger.map((entry, position) => [
    ...[commit.id, commit.customerId, String(position), time(entry.timestamp)],
    ...[ledgerEntryType(commit.type, entry.kind), exact(entry.amount), commit.accessSchedule.creditTypeId],
    ...[entry.segmentId, entry.invoiceId, entry.contractId, entry.reason],
  ]);
}

async function holdRows({ db, now }: ViewSnapshot, part: ReportPart): Promise<RowsPart> {
  const read = await reportHolds(db, part);
  const rows = read.map((hold) => [
    ...[hold.id, hold.customerId, hold.transactionId, shownStatus(hold, now), hold.eventType],
    ...[time(hold.timestamp), exact(hold.amount), hold.creditTypeId],
    hold.settledAmount === null ? null : exact(hold.settledAmount),
    ...[time(hold.createdAt), time(hold.expiresAt), time(hold.endedAt)],
  ]);
  return { rows, next: nextOf(read, part) };
}

async function invoiceRows({ db }: ViewSnapshot, heads: readonly Head[]): Promise<ViewRow[]> {
  const creditTypes = await loadCreditTypes(db, [...new Set(heads.map(({ creditTypeId }) => creditTypeId))]);
  return heads.map((head) => {
    const { type, period, issuedAt, number, creditTypeId, total } = head;
    const [start, end] = type === 'USAGE' ? [time(period.start), time(period.end)] : [null, null];
    const currency = [creditTypeId, creditTypes.get(creditTypeId)?.name ?? null];
    const times = [start, end, time(issuedAt), time(monthOfInvoice(head)), time(dueAt(head))];
    const paidAt = time(head.external?.paidAt ?? null);
    const own = [...ownerCells(head), type, ...times, paidAt, number, ...currency, exact(total)];
    return [...own, ...externalCells(head.external)];
  });
}

function externalCells(external: ExternalInvoice | null): ViewRow {
  if (external === null) return Array.from({ length: EXTERNAL_COLUMNS }, () => null);
  const { tax } = external;
  return [
    ...[external.billingProvider, external.externalId, external.status],
    ...[time(external.issuedAt), time(external.paidAt), external.paymentId, external.pdfUrl],
    ...[external.subTotal, external.total, tax?.amount, tax?.taxableAmount].map((amount) =>
      amount === null || amount === undefined ? null : exact(amount),
    ),
    ...[tax?.transactionId ?? null, external.error],
  ];
}

/** The copy of an invoice at a billing provider, at the end of its row. */
const EXTERNAL_COLUMNS = 13;

async function lineRows({ db }: ViewSnapshot, heads: readonly Head[]): Promise<ViewRow[]> {
  const invoices = await withLines(db, heads);
  return invoices.flatMap((invoice) =>
    invoice.lines.map((line, position) => [
      ...[lineId(invoice.id, line), ...ownerCells(invoice), time(invoice.issuedAt), String(position)],
      ...lineCells(line),
      String(countsInTotal(line) && line.creditTypeId === invoice.creditTypeId),
    ]),
  );
}

function lineCells(line: InvoiceLine): ViewRow {
  const { interval, creditTypeId, name } = line;
  const amounts = isAppliedLine(line) ? [null, null] : [exact(line.quantity), exact(line.unitPrice)];
  const groups =
    'pricingGroupValues' in line ? line : { pricingGroupValues: {}, presentationGroupValues: {} };
  return [
    lineType(line),
    line.type === 'minimum' ? `${name} (minimum)` : name,
    isConversionLine(line) ? null : line.productId,
    ...[
      ...amounts,
      exact(line.total),
      creditTypeId,
      time(interval.start),
      time(interval.end),
      commitOf(line),
    ],
    ...[JSON.stringify(groups.pricingGroupValues), JSON.stringify(groups.presentationGroupValues)],
  ];
}

/** The type of a line in the API. */
function lineType(line: InvoiceLine): string {
  if (isAppliedLine(line)) return 'applied_commit_or_credit';
  switch (line.type) {
    case 'minimum':
      return 'usage';
    case 'true_up':
      return 'commit_purchase';
    case 'discount':
    case 'professional_service':
      return 'scheduled';
    default:
      return line.type;
  }
}

function commitOf(line: InvoiceLine): string | null {
  if (!isScheduledLine(line)) return line.payer?.commitId ?? null;
  return line.type === 'commit_purchase' || line.type === 'true_up' ? line.sourceId : null;
}

const ALL_TIME: Interval = { start: 0, end: (2 ** 32 - 1) * 1_000 };

async function hourRows({ db, clickhouse }: ViewSnapshot, heads: readonly Head[]): Promise<ViewRow[]> {
  const invoices = await withLines(db, heads);
  const ids = invoices.flatMap(({ frozen }) => frozen?.breakdownId ?? []);
  const frozenLines = await readFrozenLines(clickhouse, ids, ALL_TIME);
  return invoices.flatMap(({ id, customerId, frozen, lines }) =>
    (frozenLines.get(frozen?.breakdownId ?? '') ?? []).map(({ position, window, quantity, total }) => {
      const line = lines[position];
      if (line === undefined) throw new Error(`invoice ${id} has no line ${position}`);
      const amount = isAppliedLine(line) ? null : exact(quantity);
      return [lineId(id, line), id, customerId, time(window.start), amount, exact(total)];
    }),
  );
}

function ownerCells({ id, customerId, contractId, status }: IssuedHead): ViewRow {
  return [id, customerId, contractId, status, status];
}
