/** Issued invoices and their lines. Written once; afterwards only the status may change. */
import { eq } from 'drizzle-orm';
import type { Invoice, InvoiceStatus } from '../../core/invoice.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { queueDeliveries } from './invoice-deliveries.ts';
import { insertInvoiceLines } from './invoice-lines.ts';
import { queueNumbering } from './invoice-numbers.ts';
import type { InvoiceTermsIds } from './invoice-terms.ts';
import { invoices } from './invoices.tables.ts';

/** The data that was frozen with a usage invoice. */
interface FrozenUsage extends InvoiceTermsIds {
  /** The id of its hourly lines in ClickHouse. */
  readonly breakdownId: string;
}

export interface IssuedInvoice extends Invoice {
  readonly status: Exclude<InvoiceStatus, 'DRAFT'>;
  /** Null for all but USAGE invoices. */
  readonly frozen: FrozenUsage | null;
  /** The balances offered to it (store/invoices/invoice-terms.ts). Null: none, or an earlier version issued it. */
  readonly balancesId: string | null;
  readonly warningCount: number;
  /** Set for a consolidated invoice read with its lines: the data frozen with its constituents. */
  readonly parts?: readonly Pick<IssuedInvoice, 'id' | 'frozen'>[];
}

/** An issued invoice without its lines. */
export type IssuedHead = Omit<IssuedInvoice, 'lines'>;

/** An invoice to be stored, with the moments of its input. */
interface NewInvoice extends IssuedInvoice {
  /** Null for all but USAGE invoices, whose terms are read when they are issued. */
  readonly termsReadAt: Instant | null;
  /** Epoch microseconds; null if there was no event. */
  readonly countedUpTo: string | null;
}

/**
 * Stores invoices with their lines, queues the job that numbers them, and queues their deliveries. A second invoice of
 * one contract and period violates `invoices_contract_period_once`.
 */
export async function insertInvoices(tx: Transaction, issued: readonly NewInvoice[]): Promise<void> {
  await insertRows(tx, invoices, issued.map(toRow));
  await insertInvoiceLines(tx, issued);
  await queueNumbering(tx, issued);
  await queueDeliveries(
    tx,
    issued.flatMap(({ id, status }) => (status === 'FINALIZED' ? [id] : [])),
  );
}

/** One issued invoice of any customer, without its lines. */
export async function findInvoiceHead(db: Database | Transaction, id: string): Promise<IssuedHead | null> {
  const [row] = await db.select().from(invoices).where(eq(invoices.id, id));
  return row === undefined ? null : invoiceFromRow(row);
}

/** Like `findInvoiceHead`, and its status cannot change until the transaction ends. */
export async function lockInvoice(tx: Transaction, id: string): Promise<IssuedHead | null> {
  const [row] = await tx.select().from(invoices).where(eq(invoices.id, id)).for('no key update');
  return row === undefined ? null : invoiceFromRow(row);
}

/** The id of the invoice that was regenerated from this one, or null. */
export async function findRegenerated(db: Database | Transaction, id: string): Promise<string | null> {
  const [row] = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(eq(invoices.regeneratedFromInvoiceId, id));
  return row?.id ?? null;
}

/** For each invoice, the ingestion time up to which it counted events: epoch microseconds; null if unknown. */
export async function countedUpToOf(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: invoices.id, countedUpTo: invoices.countedUpTo })
    .from(invoices)
    .where(isOneOf(invoices.id, ids));
  return new Map(rows.map(({ id, countedUpTo }) => [id, countedUpTo]));
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
    drawsOnBalances: true,
    regeneratedFromInvoiceId: invoice.regeneratedFromInvoiceId,
    warningCount: invoice.warningCount,
    breakdownId: invoice.frozen?.breakdownId ?? null,
    cardTermsId: invoice.frozen?.cardTermsId ?? null,
    contractTermsId: invoice.frozen?.contractTermsId ?? null,
    balancesId: invoice.balancesId,
    termsReadAt: invoice.termsReadAt,
    countedUpTo: invoice.countedUpTo,
  };
}

export function invoiceFromRow(row: typeof invoices.$inferSelect): IssuedHead {
  const {
    periodStart: start,
    periodEnd: end,
    countedFrom,
    termsReadAt: _,
    countedUpTo: __,
    voidedAt: ____,
    ...rest
  } = row;
  const { breakdownId, cardTermsId, contractTermsId, drawsOnBalances: ___, ...head } = rest;
  return {
    ...head,
    period: { start, end, countedFrom: countedFrom ?? start },
    frozen:
      breakdownId === null || cardTermsId === null || contractTermsId === null
        ? null
        : { breakdownId, cardTermsId, contractTermsId },
  };
}

/** The issue dates of invoices by id. */
export async function loadInvoiceDates(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, Instant>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: invoices.id, issuedAt: invoices.issuedAt })
    .from(invoices)
    .where(isOneOf(invoices.id, ids));
  return new Map(rows.map(({ id, issuedAt }) => [id, issuedAt]));
}
