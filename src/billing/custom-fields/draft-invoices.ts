/** Finds draft invoices by id, for their custom fields. Drafts are not stored, so their contracts are searched. */
import { invalid, notFound } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { listContracts } from '../../store/contracts/contracts.ts';
import { existingInvoiceIds, lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import { holdFinalization } from '../invoice-queue/finalization.ts';
import { type InvoiceTarget, openPeriods, usageInvoiceId } from '../invoice-queue/usage-periods.ts';

/** Contracts read at once: an id does not show the contract that it was derived from. */
const CONTRACTS_PER_READ = 1_000;

/**
 * Prevents the finalization of a draft until the transaction ends, so that it is finalized with the new values. Refuses
 * an issued invoice (`invalid`), and an unknown one (`not_found`).
 */
export async function holdDraftInvoice(tx: Transaction, invoiceId: string, now: Instant): Promise<void> {
  await refuseIssued(tx, invoiceId);
  const target = await findDraft(tx, invoiceId, now);
  if (target === null) throw notFound('invoice', invoiceId);
  await holdFinalization(tx, target);
  // It may have been finalized during the search.
  await refuseIssued(tx, invoiceId);
}

async function refuseIssued(tx: Transaction, invoiceId: string): Promise<void> {
  if (!(await existingInvoiceIds(tx, [invoiceId])).has(invoiceId)) return;
  throw invalid(['entityId'], `invoice ${invoiceId} is finalized, and its custom fields with it`);
}

async function findDraft(tx: Transaction, invoiceId: string, now: Instant): Promise<InvoiceTarget | null> {
  let after: string | null = null;
  do {
    const contracts = await listContracts(tx, { after, limit: CONTRACTS_PER_READ });
    const issuedUntil = await lastIssuedPeriodEnds(
      tx,
      contracts.map(({ id }) => id),
    );
    for (const contract of contracts) {
      const periods = openPeriods(contract, issuedUntil.get(contract.id), now);
      const period = periods.find(({ start }) => usageInvoiceId(contract.id, start) === invoiceId);
      if (period !== undefined) return { contract, period };
    }
    after = contracts.length < CONTRACTS_PER_READ ? null : (contracts.at(-1)?.id ?? null);
  } while (after !== null);
  return null;
}
