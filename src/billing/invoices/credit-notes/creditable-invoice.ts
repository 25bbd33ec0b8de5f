/** Which issued invoices can be credited (docs/explanation/credit-notes.md, "What can be credited"). */

import { ZERO } from '../../../core/decimal.ts';
import { assert, invalid } from '../../../core/errors.ts';
import type { InvoiceStatus } from '../../../core/invoice.ts';
import { payableAmount } from '../../../rating/invoices/payable.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { standingConsolidations } from '../../../store/invoices/invoice-constituents.ts';
import {
  findInvoiceHead,
  type IssuedHead,
  type IssuedInvoice,
  lockInvoice,
} from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';

const PATH = ['invoiceId'];

export function notFinalized(id: string, state: InvoiceStatus) {
  return invalid(PATH, `invoice ${id} is ${state}: only a FINALIZED invoice can be credited`);
}

/**
 * The invoice with its lines, which cannot be voided or credited by others until the transaction ends. Refuses
 * (`invalid`) a voided, consolidated or imported one, and one without a positive amount to pay.
 */
export async function lockCreditable(tx: Transaction, id: string): Promise<IssuedInvoice> {
  return creditable(tx, id, await lockInvoice(tx, id));
}

/** Like `lockCreditable`, for a read that locks nothing. */
export async function findCreditable(tx: Transaction, id: string): Promise<IssuedInvoice> {
  return creditable(tx, id, await findInvoiceHead(tx, id));
}

async function creditable(tx: Transaction, id: string, head: IssuedHead | null): Promise<IssuedInvoice> {
  assert(head !== null, 'issued invoices are not deleted');
  const problem = problemOf(head);
  if (problem !== null) throw problem;
  const [consolidated] = await standingConsolidations(tx, [id]);
  if (consolidated !== undefined) {
    throw invalid(
      PATH,
      `invoice ${id} is on the consolidated invoice ${consolidated}, which cannot be credited`,
    );
  }
  const [invoice] = await withLines(tx, [head]);
  assert(invoice !== undefined, 'an issued invoice is read with its lines');
  return invoice;
}

function problemOf(invoice: IssuedHead) {
  const { id, status, type, isHistorical } = invoice;
  if (status !== 'FINALIZED') return notFinalized(id, status);
  if (type === 'USAGE_CONSOLIDATED') return invalid(PATH, `invoice ${id} is consolidated: it repeats others`);
  if (isHistorical) return invalid(PATH, `invoice ${id} was imported`);
  if (payableAmount(invoice).gt(ZERO)) return null;
  return invalid(PATH, `invoice ${id} has no amount above 0 to pay`);
}
