/** Changes of contracts with what their recurring terms create by then. */
import type { Commit } from '../../../core/terms/commits.ts';
import type { Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { type GrantChange, upcomingGrants, withGrants } from './granted-terms.ts';

/** The same changes in the same order. Their result is the same if they are applied again. */
export async function withGrantsOf<Change extends GrantChange>(
  tx: Transaction,
  changes: readonly Change[],
  now: Instant,
): Promise<Change[]> {
  const upcoming = changes.flatMap(({ before, after }) =>
    before === null ? [] : upcomingGrants(after, now),
  );
  const invoiced = await loadInvoicedItems(tx, upcoming.flatMap(itemIds));
  const bought = upcoming.filter((child) => itemIds(child).some((id) => invoiced.has(id)));
  const boughtIds = new Set(bought.map(({ id }) => id));
  return changes.map((change) => ({ ...change, after: withGrants(change, boughtIds, now) }));
}

function itemIds({ invoiceSchedule }: Commit): string[] {
  return invoiceSchedule?.items.map(({ id }) => id) ?? [];
}
