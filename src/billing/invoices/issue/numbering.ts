/**
 * Assigns invoice numbers. A job does it after the invoices of an instant are issued, so that an invoice run does not
 * wait for a shared sequence.
 *
 * One lock and one transaction per batch: concurrent processes, and one that is killed, leave no gap and assign no
 * number twice. A number never changes.
 */
import { z } from 'zod';
import type { Invoice } from '../../../core/invoice.ts';
import { invoiceNumber, numberYear } from '../../../core/invoice-number.ts';
import type { Transaction } from '../../../store/base/database.ts';
import {
  type AssignedNumber,
  insertInvoiceNumbers,
  lastNumberPositions,
  loadInvoiceNumbers,
  lockInvoiceNumbers,
  queueNumberingFrom,
  unnumberedInvoices,
} from '../../../store/invoices/invoice-numbers.ts';
import type { Job } from '../../../store/jobs/jobs.ts';
import type { BillingContext, RowContext } from '../../billing-context.ts';

const payloadSchema = z.object({ issued_from: z.int() });

/** Maximum numbers per transaction: other processes wait for its lock. */
const NUMBERS_PER_BATCH_MAX = 5_000;

/**
 * Numbers the issued invoices without a number in the order of issue date and id, within the year of the issue date in
 * UTC. A job queued here numbers the rest. Returns the numbers.
 */
export async function numberInvoices(
  { numberPattern }: Pick<BillingContext, 'numberPattern'>,
  tx: Transaction,
  batch: readonly Job[],
): Promise<AssignedNumber[]> {
  const issuedFrom = Math.min(...batch.map(({ payload }) => payloadSchema.parse(payload).issued_from));
  await lockInvoiceNumbers(tx);
  const unnumbered = await unnumberedInvoices(tx, issuedFrom, NUMBERS_PER_BATCH_MAX);
  const last = await lastNumberPositions(tx, [...new Set(unnumbered.map((one) => numberYear(one.issuedAt)))]);
  const assigned = unnumbered.map(({ id, issuedAt }): AssignedNumber => {
    const year = numberYear(issuedAt);
    const position = (last.get(year) ?? 0) + 1;
    last.set(year, position);
    return { invoiceId: id, year, position, number: invoiceNumber(numberPattern, { year, position }) };
  });
  await insertInvoiceNumbers(tx, assigned);
  const reached = unnumbered.at(-1);
  if (unnumbered.length === NUMBERS_PER_BATCH_MAX && reached !== undefined) {
    await queueNumberingFrom(tx, reached.id, reached.issuedAt);
  }
  return assigned;
}

/** By invoice; drafts and invoices that are not numbered yet are absent. */
export async function numbersOfInvoices(
  { db }: Pick<RowContext, 'db'>,
  invoices: readonly Pick<Invoice, 'id' | 'status'>[],
): Promise<Map<string, string>> {
  const issued = invoices.filter(({ status }) => status !== 'DRAFT');
  return loadInvoiceNumbers(
    db,
    issued.map(({ id }) => id),
  );
}
