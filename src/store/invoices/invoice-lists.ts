/** Issued invoices in order, page by page, without their lines. */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  lt,
  lte,
  ne,
  not,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import type { ExternalStatus } from '../../core/external-invoice.ts';
import type { InvoiceStatus, InvoiceType } from '../../core/invoice.ts';
import type { InvoiceTimeFilter } from '../../core/invoice-month.ts';
import type { KeysetPosition, PageRequest } from '../../core/paging.ts';
import { formatInstant, type Instant, type Interval } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { REFUND_DUE } from './former-payments.ts';
import { invoiceMonth, invoices } from './invoices.tables.ts';
import { type IssuedHead, invoiceFromRow } from './invoices.ts';
import { type InvoiceSums, type ReceivableFilter, receivableConditions, sumInvoices } from './receivables.ts';

export interface InvoiceFilter extends InvoiceTimeFilter, ReceivableFilter {
  readonly customerId?: string | undefined;
  readonly contractId?: string | undefined;
  readonly contractIds?: readonly string[] | undefined;
  readonly status?: Exclude<InvoiceStatus, 'DRAFT'> | undefined;
  readonly creditTypeId?: string | undefined;
  readonly type?: InvoiceType | undefined;
  readonly hasWarnings?: boolean | undefined;
  /** The status at the billing provider. */
  readonly externalStatus?: ExternalStatus | undefined;
  /** Whether a payment there has to be refunded. */
  readonly refundDue?: boolean | undefined;
}

/** A page of invoices in the order of issue date and id. */
export interface InvoicePageRequest extends PageRequest {
  readonly order: 'ascending' | 'descending';
}

/** The issued invoices after `after`, at most `limit`, without their lines. */
export async function listInvoiceHeads(
  db: Database | Transaction,
  filter: InvoiceFilter,
  page: InvoicePageRequest,
): Promise<IssuedHead[]> {
  const direction = page.order === 'ascending' ? asc : desc;
  const rows = await db
    .select()
    .from(invoices)
    .where(and(...headConditions(filter), page.after === null ? undefined : beyond(page.after, page.order)))
    .orderBy(direction(invoices.issuedAt), direction(invoices.id))
    .limit(page.limit);
  return rows.map(invoiceFromRow);
}

/** The sums of the invoices of a list by currency. Consolidated ones, which repeat others, only if they are asked for. */
export async function sumInvoiceList(
  db: Database | Transaction,
  filter: InvoiceFilter,
): Promise<InvoiceSums[]> {
  const others = filter.type === undefined ? [ne(invoices.type, 'USAGE_CONSOLIDATED')] : [];
  return sumInvoices(db, [...headConditions(filter), ...others]);
}

/** The date of a SCHEDULED invoice: the date of its schedule, or its issue date, which may be moved. */
export type ScheduledDate = 'schedule' | 'issue';

/**
 * The issued invoices whose period overlaps `range`, or whose date lies in it, without their lines: the `limit`
 * earliest ones, or the latest for descending order. Consolidated ones only if the filter selects their type: they
 * repeat others.
 */
export async function listInvoiceHeadsOverlapping(
  db: Database | Transaction,
  filter: InvoiceFilter,
  range: Interval,
  page: Omit<InvoicePageRequest, 'after'> & { readonly scheduledBy?: ScheduledDate },
): Promise<IssuedHead[]> {
  const [start, end] = timesBy(page.scheduledBy ?? 'schedule');
  const order = page.order === 'ascending' ? [asc(start), asc(invoices.id)] : [desc(end), desc(invoices.id)];
  const rows = await db
    .select()
    .from(invoices)
    .where(
      and(
        ...headConditions(filter),
        filter.type === undefined ? ne(invoices.type, 'USAGE_CONSOLIDATED') : undefined,
        lt(start, sql.param(range.end, invoices.periodStart)),
        or(
          gt(end, sql.param(range.start, invoices.periodEnd)),
          and(eq(invoices.type, 'SCHEDULED'), gte(start, sql.param(range.start, invoices.periodStart))),
        ),
      ),
    )
    .orderBy(...order)
    .limit(page.limit);
  return rows.map(invoiceFromRow);
}

function timesBy(scheduledBy: ScheduledDate): readonly [start: SQLWrapper, end: SQLWrapper] {
  const { type, periodStart, periodEnd, issuedAt } = invoices;
  if (scheduledBy === 'schedule') return [periodStart, periodEnd];
  const by = (time: SQLWrapper) => sql`case when ${type} = 'SCHEDULED' then ${issuedAt} else ${time} end`;
  return [by(periodStart), by(periodEnd)];
}

function beyond(after: KeysetPosition, order: InvoicePageRequest['order']): SQL | undefined {
  const further = order === 'ascending' ? gt : lt;
  return or(
    further(invoices.issuedAt, after.at),
    and(eq(invoices.issuedAt, after.at), further(invoices.id, after.id)),
  );
}

function headConditions(filter: InvoiceFilter): (SQL | undefined)[] {
  const {
    customerId,
    contractId,
    contractIds,
    status,
    creditTypeId,
    type,
    hasWarnings,
    externalStatus,
    refundDue,
  } = filter;
  return [
    customerId === undefined ? undefined : eq(invoices.customerId, customerId),
    contractId === undefined ? undefined : eq(invoices.contractId, contractId),
    contractIds === undefined ? undefined : isOneOf(invoices.contractId, contractIds),
    status === undefined ? undefined : eq(invoices.status, status),
    creditTypeId === undefined ? undefined : eq(invoices.creditTypeId, creditTypeId),
    type === undefined ? undefined : eq(invoices.type, type),
    ...timeConditions(filter),
    externalStatus === undefined
      ? undefined
      : sql`exists (select 1 from invoice_deliveries d where d.invoice_id = ${invoices.id} and d.status = ${externalStatus})`,
    refundDue === undefined ? undefined : refundCondition(refundDue),
    ...receivableConditions(filter),
    // Written out, without parameters, so that it matches the condition of `invoices_issued_with_warnings`.
    hasWarnings === undefined
      ? undefined
      : hasWarnings
        ? sql`${invoices.warningCount} > 0`
        : sql`${invoices.warningCount} = 0`,
  ];
}

function refundCondition(isDue: boolean): SQL {
  const due = sql`${invoices.id} in (select d.invoice_id from invoice_deliveries d where ${REFUND_DUE})`;
  return isDue ? due : not(due);
}

/**
 * The finalized usage invoices of these contracts whose periods start at or after `from`, without their lines and
 * without historical ones.
 */
export async function finalizedUsageInvoices(
  db: Database | Transaction,
  contractIds: readonly string[],
  from: Instant,
): Promise<IssuedHead[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select()
    .from(invoices)
    .where(
      and(
        ...headConditions({ contractIds, type: 'USAGE', status: 'FINALIZED', startingOn: from }),
        eq(invoices.isHistorical, false),
      ),
    )
    .orderBy(asc(invoices.periodStart), asc(invoices.id));
  return rows.map(invoiceFromRow);
}

/**
 * The issued invoices of these customers with a date since `from`, without their lines. Excludes voided and
 * consolidated invoices; the latter repeat others.
 */
export async function issuedSince(
  db: Database | Transaction,
  customerIds: readonly string[],
  from: Instant,
): Promise<IssuedHead[]> {
  if (customerIds.length === 0) return [];
  const rows = await db
    .select()
    .from(invoices)
    .where(
      and(
        isOneOf(invoices.customerId, customerIds),
        gte(invoices.issuedAt, from),
        eq(invoices.status, 'FINALIZED'),
        ne(invoices.type, 'USAGE_CONSOLIDATED'),
      ),
    );
  return rows.map(invoiceFromRow);
}

function timeConditions({ startingOn, endingBefore, month }: InvoiceTimeFilter): (SQL | undefined)[] {
  const { type, periodStart, periodEnd } = invoices;
  return [
    startingOn === undefined ? undefined : gte(periodStart, startingOn),
    endingBefore === undefined
      ? undefined
      : and(lte(periodEnd, endingBefore), or(ne(type, 'SCHEDULED'), lt(periodEnd, endingBefore))),
    // Equal to an expression that is indexed with the order of lists.
    month === undefined
      ? undefined
      : sql`${invoiceMonth(invoices)} = ${formatInstant(month).slice(0, -1)}::timestamp`,
  ];
}
