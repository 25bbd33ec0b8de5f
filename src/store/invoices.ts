/** Issued invoices and their lines. Written once; afterwards only the status may change. */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  max,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Invoice, InvoiceStatus, InvoiceType } from '../core/invoice.ts';
import type { KeysetPosition, PageRequest } from '../core/paging.ts';
import type { Instant, Interval } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { insertInvoiceLines, loadInvoiceLines } from './invoice-lines.ts';
import { queueNumbering } from './invoice-numbers.ts';
import type { InvoiceTermsIds } from './invoice-terms.ts';
import { rowsPerInsert } from './rows-per-insert.ts';
import { invoices } from './schema/invoices.ts';

const regenerated = alias(invoices, 'regenerated');

/** What was frozen with a usage invoice. */
interface FrozenUsage extends InvoiceTermsIds {
  /** Of its hourly lines in ClickHouse. */
  readonly breakdownId: string;
}

export interface IssuedInvoice extends Invoice {
  readonly status: Exclude<InvoiceStatus, 'DRAFT'>;
  /** Null for SCHEDULED invoices. */
  readonly frozen: FrozenUsage | null;
  readonly warningCount: number;
}

/** An invoice to be stored, with the moments of its input. */
interface NewInvoice extends IssuedInvoice {
  /** Null for SCHEDULED invoices, whose terms are read when they are issued. */
  readonly termsReadAt: Instant | null;
  /** Epoch microseconds; null where there was no event. */
  readonly countedUpTo: string | null;
}

/**
 * Stores invoices with their lines, and queues the job that numbers them. A second invoice of one contract and period
 * violates `invoices_contract_period_once`.
 */
export async function insertInvoices(tx: Transaction, issued: readonly NewInvoice[]): Promise<void> {
  for (const chunk of rowsPerInsert(issued.map(toRow))) await tx.insert(invoices).values(chunk);
  await insertInvoiceLines(tx, issued);
  await queueNumbering(tx, issued);
}

export interface InvoiceFilter {
  readonly customerId?: string | undefined;
  readonly contractId?: string | undefined;
  readonly status?: Exclude<InvoiceStatus, 'DRAFT'> | undefined;
  readonly creditTypeId?: string | undefined;
  readonly type?: InvoiceType | undefined;
  readonly periodStartsFrom?: Instant | undefined;
  readonly periodEndsBy?: Instant | undefined;
  readonly hasWarnings?: boolean | undefined;
}

/** A page of invoices in the order of issue date and id. */
export interface InvoicePageRequest extends PageRequest {
  readonly order: 'ascending' | 'descending';
}

/** The issued invoices behind `after`, at most `limit`, without their lines. */
export async function listInvoiceHeads(
  db: Database | Transaction,
  filter: InvoiceFilter,
  page: InvoicePageRequest,
): Promise<Omit<IssuedInvoice, 'lines'>[]> {
  const direction = page.order === 'ascending' ? asc : desc;
  const rows = await db
    .select()
    .from(invoices)
    .where(and(...headConditions(filter), page.after === null ? undefined : beyond(page.after, page.order)))
    .orderBy(direction(invoices.issuedAt), direction(invoices.id))
    .limit(page.limit);
  return rows.map(fromRow);
}

/**
 * The issued invoices whose period shares time with `range`, or whose date lies in it, without their lines: the `limit` earliest
 * ones, or the latest for descending order.
 */
export async function listInvoiceHeadsOverlapping(
  db: Database | Transaction,
  filter: InvoiceFilter,
  range: Interval,
  page: Omit<InvoicePageRequest, 'after'>,
): Promise<Omit<IssuedInvoice, 'lines'>[]> {
  const order =
    page.order === 'ascending'
      ? [asc(invoices.periodStart), asc(invoices.id)]
      : [desc(invoices.periodEnd), desc(invoices.id)];
  const rows = await db
    .select()
    .from(invoices)
    .where(
      and(
        ...headConditions(filter),
        lt(invoices.periodStart, range.end),
        or(
          gt(invoices.periodEnd, range.start),
          and(eq(invoices.type, 'SCHEDULED'), gte(invoices.periodStart, range.start)),
        ),
      ),
    )
    .orderBy(...order)
    .limit(page.limit);
  return rows.map(fromRow);
}

/** One issued invoice of a customer with its lines, or null. */
export async function findInvoice(
  db: Database | Transaction,
  customerId: string,
  invoiceId: string,
): Promise<IssuedInvoice | null> {
  const rows = await db
    .select()
    .from(invoices)
    .where(and(eq(invoices.id, invoiceId), eq(invoices.customerId, customerId)));
  const row = rows[0];
  if (row === undefined) return null;
  return (await withLines(db, [fromRow(row)]))[0] ?? null;
}

/** One issued invoice of any customer, without its lines. */
export async function findInvoiceHead(
  db: Database | Transaction,
  id: string,
): Promise<Omit<IssuedInvoice, 'lines'> | null> {
  const [row] = await db.select().from(invoices).where(eq(invoices.id, id));
  return row === undefined ? null : fromRow(row);
}

/** The same; its status cannot change until the transaction ends. */
export async function lockInvoice(tx: Transaction, id: string): Promise<Omit<IssuedInvoice, 'lines'> | null> {
  const [row] = await tx.select().from(invoices).where(eq(invoices.id, id)).for('no key update');
  return row === undefined ? null : fromRow(row);
}

/** The id of the invoice that was regenerated from this one, or null. */
export async function findRegenerated(db: Database | Transaction, id: string): Promise<string | null> {
  const [row] = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(eq(invoices.regeneratedFromInvoiceId, id));
  return row?.id ?? null;
}

/** The same invoices in the same order, each with its lines in their order. */
export async function withLines(
  db: Database | Transaction,
  heads: readonly Omit<IssuedInvoice, 'lines'>[],
): Promise<IssuedInvoice[]> {
  const lines = await loadInvoiceLines(
    db,
    heads.map((head) => head.id),
  );
  return heads.map((head) => ({ ...head, lines: lines.get(head.id) ?? [] }));
}

/**
 * For each contract that has issued usage invoices: where the last issued period ends. Historical ones do not count:
 * billing from events starts behind them, where the contract says so. Of an invoice that was
 * regenerated, only the new one counts: its period is shorter if the contract now ends within it.
 */
export async function lastIssuedPeriodEnds(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select({ contractId: invoices.contractId, end: max(invoices.periodEnd) })
    .from(invoices)
    .where(
      and(
        inArray(invoices.contractId, [...contractIds]),
        eq(invoices.type, 'USAGE'),
        eq(invoices.isHistorical, false),
        notExists(
          db
            .select({ id: regenerated.id })
            .from(regenerated)
            .where(eq(regenerated.regeneratedFromInvoiceId, invoices.id)),
        ),
      ),
    )
    .groupBy(invoices.contractId);
  return new Map(rows.flatMap(({ contractId, end }) => (end === null ? [] : [[contractId, end]])));
}

/** The first finalized usage invoice of the contract that bills time from `at` on; null where none does. Not voided ones. */
export async function finalizedInvoiceBeyond(
  tx: Transaction,
  contractId: string,
  at: Instant,
): Promise<{ readonly id: string; readonly periodEnd: Instant } | null> {
  const rows = await tx
    .select({ id: invoices.id, periodEnd: invoices.periodEnd })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'FINALIZED'),
        gt(invoices.periodEnd, at),
      ),
    )
    .orderBy(asc(invoices.periodStart))
    .limit(1);
  return rows[0] ?? null;
}

/** A usage invoice of the contract that bills some of `period` and is not voided; null where none does. */
export async function usageInvoiceIn(
  tx: Transaction,
  contractId: string,
  period: Interval,
): Promise<string | null> {
  const rows = await tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'FINALIZED'),
        lt(invoices.periodStart, period.end),
        gt(invoices.periodEnd, period.start),
      ),
    )
    .limit(1);
  return rows[0]?.id ?? null;
}

/** Whether the contract has a finalized invoice of usage from events that has not been voided. */
export async function hasFinalizedInvoice(tx: Transaction, contractId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.isHistorical, false),
        eq(invoices.status, 'FINALIZED'),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Which of these invoices exist already: an invoice run that is repeated skips them. */
export async function existingInvoiceIds(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(inArray(invoices.id, [...ids]));
  return new Set(rows.map((row) => row.id));
}

function beyond(after: KeysetPosition, order: InvoicePageRequest['order']): SQL | undefined {
  const further = order === 'ascending' ? gt : lt;
  return or(
    further(invoices.issuedAt, after.at),
    and(eq(invoices.issuedAt, after.at), further(invoices.id, after.id)),
  );
}

function headConditions(filter: InvoiceFilter): (SQL | undefined)[] {
  const { customerId, contractId, status, creditTypeId, type, periodStartsFrom, periodEndsBy, hasWarnings } =
    filter;
  return [
    customerId === undefined ? undefined : eq(invoices.customerId, customerId),
    contractId === undefined ? undefined : eq(invoices.contractId, contractId),
    status === undefined ? undefined : eq(invoices.status, status),
    creditTypeId === undefined ? undefined : eq(invoices.creditTypeId, creditTypeId),
    type === undefined ? undefined : eq(invoices.type, type),
    periodStartsFrom === undefined ? undefined : gte(invoices.periodStart, periodStartsFrom),
    periodEndsBy === undefined ? undefined : lte(invoices.periodEnd, periodEndsBy),
    // Written out, without parameters: only so it is the condition of `invoices_issued_with_warnings`.
    hasWarnings === undefined
      ? undefined
      : hasWarnings
        ? sql`${invoices.warningCount} > 0`
        : sql`${invoices.warningCount} = 0`,
  ];
}

function toRow(invoice: NewInvoice): typeof invoices.$inferInsert {
  return {
    id: invoice.id,
    customerId: invoice.customerId,
    contractId: invoice.contractId,
    type: invoice.type,
    status: invoice.status,
    periodStart: invoice.period.start,
    periodEnd: invoice.period.end,
    countedFrom: invoice.period.countedFrom,
    issuedAt: invoice.issuedAt,
    creditTypeId: invoice.creditTypeId,
    total: invoice.total,
    netPaymentTermsDays: invoice.netPaymentTermsDays,
    isHistorical: invoice.isHistorical,
    regeneratedFromInvoiceId: invoice.regeneratedFromInvoiceId,
    warningCount: invoice.warningCount,
    ...invoice.frozen,
    termsReadAt: invoice.termsReadAt,
    countedUpTo: invoice.countedUpTo,
  };
}

function fromRow(row: typeof invoices.$inferSelect): Omit<IssuedInvoice, 'lines'> {
  const { periodStart: start, periodEnd: end, countedFrom, termsReadAt: _, countedUpTo: __, ...rest } = row;
  const { breakdownId, cardTermsId, contractTermsId, ...head } = rest;
  return {
    ...head,
    period: { start, end, countedFrom: countedFrom ?? start },
    frozen:
      breakdownId === null || cardTermsId === null || contractTermsId === null
        ? null
        : { breakdownId, cardTermsId, contractTermsId },
  };
}
