/**
 * Payments at a provider for the former invoices of an invoice: those that it was regenerated from, and the
 * consolidated ones that contained them. All of these are voided here, and may still be paid there.
 */
import { eq, type SQL, sql } from 'drizzle-orm';
import { type ExternalStatus, PAID_STATUSES } from '../../core/external-invoice.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';

export interface FormerPayment {
  readonly invoiceId: string;
  readonly externalId: string | null;
  readonly status: ExternalStatus;
  /** Whether its void is still pending at the provider, so that its customer may still pay it. */
  readonly isVoiding: boolean;
  /** Whether it was paid there, and neither a refund nor a decision to collect it again is recorded. */
  readonly isPaid: boolean;
}

/** The condition for a delivery `d` whose payment has to be refunded, as `external_invoice.refund_due` has it. */
export const REFUND_DUE: SQL = sql`d.void_wanted and d.refunded_at is null and
  (d.was_paid or d.status in (${sql.join(
    PAID_STATUSES.map((status) => sql`${status}`),
    sql`, `,
  )}))`;

/**
 * Payments for the invoice itself, if it is voided, and for its former ones. With `lock` none of them changes until the
 * transaction ends.
 */
export async function formerPayments(
  tx: Database | Transaction,
  invoiceId: string,
  { lock }: { readonly lock: boolean },
): Promise<FormerPayment[]> {
  const rows = await tx.execute<{
    invoice_id: string;
    external_id: string | null;
    status: ExternalStatus;
    is_voiding: boolean;
    is_paid: boolean;
  }>(sql`
    with recursive former (id) as (
      select ${invoiceId}::uuid
      union
      select before.id
      from former f
      join invoices i on i.id = f.id
      cross join lateral (
        select i.regenerated_from_invoice_id as id
        union all
        select c.invoice_id from invoice_constituents c where c.constituent_id = i.id
      ) before
      where before.id is not null
    )
    select d.invoice_id, d.external_id, d.status,
      d.void_wanted and not d.void_ended as is_voiding,
      (${REFUND_DUE}) and not d.collect_again as is_paid
    from invoice_deliveries d
    where d.invoice_id in (select id from former) and d.void_wanted
    order by d.invoice_id
    ${lock ? sql`for update of d` : sql``}`);
  return rows.map((row) => ({
    invoiceId: row.invoice_id,
    externalId: row.external_id,
    status: row.status,
    isVoiding: row.is_voiding,
    isPaid: row.is_paid,
  }));
}

/** Records that the amounts of these invoices, which were paid there, are collected again. */
export async function noteCollectAgain(tx: Transaction, invoiceIds: readonly string[]): Promise<void> {
  if (invoiceIds.length === 0) return;
  await tx
    .update(invoiceDeliveries)
    .set({ collectAgain: true })
    .where(isOneOf(invoiceDeliveries.invoiceId, invoiceIds));
}

/**
 * Records that the payment for a voided invoice was refunded. `before`: that was recorded already; `none`: nothing was
 * paid for it.
 */
export async function noteRefunded(
  tx: Transaction,
  invoiceId: string,
  now: Instant,
): Promise<'noted' | 'before' | 'none'> {
  const [row] = await tx
    .select({ refundedAt: invoiceDeliveries.refundedAt })
    .from(invoiceDeliveries)
    .where(eq(invoiceDeliveries.invoiceId, invoiceId))
    .for('update');
  if (row !== undefined && row.refundedAt !== null) return 'before';
  const noted = await tx.execute(sql`
    update invoice_deliveries d set refunded_at = ${formatInstant(now)}::timestamptz
    where d.invoice_id = ${invoiceId} and ${REFUND_DUE}
    returning d.invoice_id`);
  return noted.length > 0 ? 'noted' : 'none';
}
