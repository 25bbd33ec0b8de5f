/** A consolidated invoice that is regenerated: of the same invoices, or those that were regenerated from them. */
import { Refusal } from '../../../core/errors.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { loadConstituents, lockConstituents } from '../../../store/invoices/invoice-constituents.ts';
import { findInvoiceHead, findRegenerated, type IssuedHead } from '../../../store/invoices/invoices.ts';
import { issueConsolidated } from '../consolidated/issue.ts';
import { type IssueInstead, nothingToBill } from './original.ts';

/**
 * Refuses (`invalid`) one with an invoice that was voided and can still be regenerated: it must be first. The invoices
 * of archived contracts are left out; if none is left of a child, there is nothing to consolidate.
 */
export const regenerateConsolidated: IssueInstead = async (tx, original, identity) => {
  const { invoice, contract } = original;
  const before = (await loadConstituents(tx, [invoice.id])).get(invoice.id) ?? [];
  const present: IssuedHead[] = [];
  for (const constituent of before) {
    const standing = await standingOf(tx, constituent);
    if (standing !== null) present.push(standing);
  }
  if (!present.some(({ contractId }) => contractId !== contract.id)) throw nothingToBill(original);
  const locked = await lockConstituents(
    tx,
    present.map(({ id }) => id),
  );
  if (locked.some(({ status }) => status !== 'FINALIZED')) return false;
  const { period, creditTypeId } = invoice;
  const { id: invoiceId, issuedAt, regeneratedFromInvoiceId } = identity;
  const target = { invoiceId, contract, period, creditTypeId, issueAt: issuedAt };
  await issueConsolidated(tx, target, locked, { issuedAt, regeneratedFromInvoiceId });
  return true;
};

/** A constituent, or the invoice that replaced it, if that is finalized; null if it can no longer be regenerated. */
async function standingOf(tx: Transaction, constituent: IssuedHead): Promise<IssuedHead | null> {
  let last = constituent;
  for (;;) {
    if (last.status === 'FINALIZED') return last;
    const nextId = await findRegenerated(tx, last.id);
    const next = nextId === null ? null : await findInvoiceHead(tx, nextId);
    if (next === null) break;
    last = next;
  }
  const contract = await findContract(tx, last.contractId);
  if (contract?.archivedAt !== null) return null;
  throw new Refusal('invalid', `invoice ${last.id} is on the invoice and is VOID: regenerate it first`);
}
