/**
 * Refuses edits of terms on an issued invoice (docs/explanation/contracts.md, "Edits"): invoiced items of schedules do
 * not change, and their terms are archived only after the invoice is voided.
 */
import { Refusal } from '../../../core/errors.ts';
import type { Contract, ContractTerms } from '../../../core/terms/contract.ts';
import type { InvoiceItem } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';
import { loadManualEntries } from '../../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { type InvoicedItem, loadInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { loadFinalDeductions } from '../../balances/final-deductions.ts';
import { holdNextFinalizations } from '../../invoice-queue/finalization.ts';
import { drawnProblem, lostBalances, loweredProblem } from './drawn-terms.ts';

/** The members of a scheduled charge or a commit that affect its invoices. */
interface Scheduled {
  readonly what: string;
  readonly archivedAt: Instant | null;
  readonly items: readonly InvoiceItem[];
}

interface EditedContract {
  /** The former contract of the terms, locked. Null: they belong to a customer, whose balances are locked already. */
  readonly contract: Contract | null;
  /** The contract's end after the edit. */
  readonly contractEnd: Instant | null;
}

/**
 * Compares the terms before and after an edit. Items that a new end of the contract cuts off do not count as changed:
 * their invoices stay as they are.
 */
export async function refuseInvoicedChanges(
  tx: Transaction,
  before: ContractTerms,
  after: ContractTerms,
  { contract, contractEnd }: EditedContract,
): Promise<void> {
  await refuseDrawnChanges(tx, before, after, { contract, contractEnd });
  const invoiced = await loadInvoicedItems(tx, itemIdsOf(before));
  const now = new Map(scheduledOf(after));
  for (const [id, was] of scheduledOf(before)) {
    const is = now.get(id);
    for (const item of was.items) {
      const invoice = invoiced.get(item.id);
      const done = invoice === undefined ? null : changeOf(item, was, is, invoice, contractEnd);
      if (invoice !== undefined && done !== null) throw refusal(was, item, invoice, done);
    }
  }
}

/** The effect of an edit on an invoiced item; null: no relevant effect. */
function changeOf(
  item: InvoiceItem,
  was: Scheduled,
  is: Scheduled | undefined,
  invoice: InvoicedItem,
  contractEnd: Instant | null,
): 'archived' | 'removed' | 'changed' | null {
  const isArchived = was.archivedAt === null && is !== undefined && is.archivedAt !== null;
  if (isArchived && invoice.status === 'FINALIZED') return 'archived';
  if (contractEnd !== null && item.timestamp >= contractEnd) return null;
  const kept = is?.items.find((one) => one.id === item.id);
  if (kept === undefined) return 'removed';
  return isSame(kept, item) ? null : 'changed';
}

/**
 * Balances that issued invoices draw down can be removed, or lowered below the drawn amount, only after these are
 * voided.
 */
async function refuseDrawnChanges(
  tx: Transaction,
  before: ContractTerms,
  after: ContractTerms,
  { contract, contractEnd }: EditedContract,
): Promise<void> {
  const lost = lostBalances(before.commits, after.commits, contractEnd);
  if (lost.commits.length === 0) return;
  if (contract !== null) {
    // An invoice that is being issued precedes, or is recomputed. Its issuer holds its job before balances.
    await holdNextFinalizations(tx, [contract]);
    await lockBalances(tx, [contract.customerId]);
  }
  const deductions = await loadFinalDeductions(tx, lost.commits);
  const byHand = await loadManualEntries(
    tx,
    lost.commits.map(({ id }) => id),
  );
  const problem =
    drawnProblem(lost, deductions) ?? loweredProblem(lost, deductions, [...byHand.values()].flat());
  if (problem !== null) throw new Refusal('invalid', problem);
}

function itemIdsOf(terms: ContractTerms): string[] {
  return scheduledOf(terms).flatMap(([, { items }]) => items.map(({ id }) => id));
}

function scheduledOf({ scheduledCharges, commits }: ContractTerms): [id: string, Scheduled][] {
  return [
    ...scheduledCharges.map(({ id, kind, archivedAt, schedule }): [string, Scheduled] => [
      id,
      {
        what: `${kind === 'CHARGE' ? 'scheduled charge' : 'discount'} ${id}`,
        archivedAt,
        items: schedule.items,
      },
    ]),
    ...commits.map(({ id, archivedAt, invoiceSchedule }): [string, Scheduled] => [
      id,
      { what: `commit ${id}`, archivedAt, items: invoiceSchedule?.items ?? [] },
    ]),
  ];
}

function isSame(a: InvoiceItem, b: InvoiceItem): boolean {
  return a.timestamp === b.timestamp && a.unitPrice.eq(b.unitPrice) && a.quantity.eq(b.quantity);
}

function refusal({ what }: Scheduled, item: InvoiceItem, { invoiceId, status }: InvoicedItem, done: string) {
  const state = status === 'VOID' ? 'voided' : 'finalized';
  const advice = done === 'archived' ? ': void the invoice first' : '';
  return new Refusal(
    'invalid',
    `${what} cannot be ${done}: its item ${item.id} is on invoice ${invoiceId}, which is ${state}${advice}`,
  );
}
