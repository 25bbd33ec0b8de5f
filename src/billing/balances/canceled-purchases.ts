/**
 * Commits with a canceled purchase (docs/explanation/drawdown.md, "Ledger"): all of its instalments are on invoices
 * that are voided and not regenerated. While one is billed, or will be, the commit stays.
 */
import type { Commit } from '../../core/terms/commits.ts';
import type { CanceledPurchase } from '../../core/terms/ledger.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadVoidedItems } from '../../store/invoices/invoiced-items.ts';

/** By commit, since the last void. */
export async function loadCanceledPurchases(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<Map<string, CanceledPurchase>> {
  const bought = commits.filter(({ type }) => type === 'PREPAID');
  const itemsOf = ({ invoiceSchedule }: Commit) => invoiceSchedule?.items ?? [];
  const voided = await loadVoidedItems(
    db,
    bought.flatMap((commit) => itemsOf(commit).map(({ id }) => id)),
  );
  return new Map(
    bought.flatMap((commit) => {
      const items = itemsOf(commit);
      const found = items.flatMap(({ id }) => voided.get(id) ?? []);
      const last = found.toSorted((a, b) => a.voidedAt - b.voidedAt).at(-1);
      if (last === undefined || found.length < items.length) return [];
      return [[commit.id, { at: last.voidedAt, invoiceId: last.invoiceId }] as const];
    }),
  );
}
