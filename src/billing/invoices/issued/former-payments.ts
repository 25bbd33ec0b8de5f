/**
 * A payment for a voided invoice is not collected again by the invoice that replaces it, unless that is decided
 * explicitly (docs/explanation/payments.md, "What is paid already").
 */
import { notFound, Refusal } from '../../../core/errors.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import {
  type FormerPayment,
  formerPayments,
  noteCollectAgain,
  noteRefunded,
} from '../../../store/invoices/former-payments.ts';
import { loadExternalInvoices } from '../../../store/invoices/invoice-deliveries.ts';
import { findInvoiceHead } from '../../../store/invoices/invoices.ts';
import type { RowContext } from '../../billing-context.ts';

/** Refuses (`conflict`) to regenerate a voided invoice that was paid, or whose predecessor was. */
export async function requireUnpaid(db: Database | Transaction, id: string): Promise<void> {
  const paid = (await formerPayments(db, id, { lock: false })).filter(({ isPaid }) => isPaid);
  if (paid.length > 0) throw collectedTwice(paid);
}

/**
 * `requireUnpaid` in the transaction that regenerates the invoice: a payment is reported before, or waits for its end.
 */
export async function lockPayments(
  tx: Transaction,
  id: string,
  { collectAgain }: { readonly collectAgain: boolean },
): Promise<void> {
  const paid = (await formerPayments(tx, id, { lock: true })).filter(({ isPaid }) => isPaid);
  if (paid.length > 0 && !collectAgain) throw collectedTwice(paid);
  await noteCollectAgain(
    tx,
    paid.map(({ invoiceId }) => invoiceId),
  );
}

function collectedTwice(paid: readonly FormerPayment[]): Refusal {
  const text =
    `${paid.map(described).join(', ')}: regenerating it would collect this again. Give it back at the billing provider ` +
    'and report that by POST /v1/invoices/refunded, or send collect_again: true';
  return new Refusal('conflict', text);
}

/** `invoice … (in_…) is PAID at its billing provider`. */
export function described({ invoiceId, externalId, status }: FormerPayment): string {
  const id = externalId === null ? '' : ` (${externalId})`;
  const state = status === 'PARTIALLY_PAID' ? 'partly paid' : 'paid';
  return `invoice ${invoiceId}${id} was ${state} at its billing provider`;
}

/** The warning for an invoice that is voided here although it is paid at its provider; null if it is not. */
export async function paymentWarning(db: Database | Transaction, id: string): Promise<string | null> {
  const external = (await loadExternalInvoices(db, [id])).get(id);
  if (external?.refundDue !== true) return null;
  const { externalId, status } = external;
  const payment = described({ invoiceId: id, externalId, status, isVoiding: false, isPaid: true });
  return `${payment}: voiding it here gives nothing back. Give it back there`;
}

/**
 * Records that the payment of a voided invoice was refunded. Idempotent. Refuses an unknown invoice (`not_found`), and
 * one without a refund that is or was due (`invalid`).
 */
export async function reportRefund(
  { db, clock }: Pick<RowContext, 'db' | 'clock'>,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    if ((await findInvoiceHead(tx, id)) === null) throw notFound('invoice', id);
    const outcome = await noteRefunded(tx, id, clock.now());
    if (outcome === 'none') throw new Refusal('invalid', `no refund of invoice ${id} is due`);
  });
}
