/** Commits whose purchase was taken back: an invoice of it is voided, and not regenerated. */
import type { Commit } from '../../core/terms/commits.ts';
import type { CanceledPurchase } from '../../core/terms/ledger.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { loadVoidedItems } from '../../store/invoiced-items.ts';

/** By commit; of several voided invoices the one that was voided first. */
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
      const [first] = itemsOf(commit)
        .flatMap(({ id }) => voided.get(id) ?? [])
        .sort((a, b) => a.voidedAt - b.voidedAt);
      return first === undefined ? [] : [[commit.id, { at: first.voidedAt, invoiceId: first.invoiceId }]];
    }),
  );
}
