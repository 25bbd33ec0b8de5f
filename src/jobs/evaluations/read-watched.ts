/** Reads which customers have something to evaluate, and the references of their events. */

import type { Database } from '../../store/base/database.ts';
import { customerRefs, inOrderOfEvents } from '../../store/customers/customers.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';
import type { WatchedCustomer } from './watch-list.ts';

const CUSTOMERS_PER_READ = 5_000;
/** Fewer customers fit into one or two batches, so their order does not matter. */
const ORDERED_FROM = 250;

/**
 * The watched ones of these customers, or of all if null. Many are returned in the order in which their events are
 * stored, so that each evaluation reads its own part of them.
 */
export async function readWatched(
  db: Database,
  evaluators: readonly CustomerEvaluator[],
  customerIds: readonly string[] | null,
): Promise<Pick<WatchedCustomer, 'id' | 'refs' | 'evaluators'>[]> {
  const watchers = new Map<string, Set<string>>();
  for (const { name, watched } of evaluators) {
    for (const id of await watched(customerIds)) {
      const own = watchers.get(id);
      if (own === undefined) watchers.set(id, new Set([name]));
      else own.add(name);
    }
  }
  const found = [...watchers.keys()];
  const all = found.length > ORDERED_FROM ? await inOrderOfEvents(db, found) : found;
  const customers: Pick<WatchedCustomer, 'id' | 'refs' | 'evaluators'>[] = [];
  for (let from = 0; from < all.length; from += CUSTOMERS_PER_READ) {
    const page = all.slice(from, from + CUSTOMERS_PER_READ);
    const refs = await customerRefs(db, page);
    for (const id of page) {
      const own = refs.get(id);
      if (own !== undefined) customers.push({ id, refs: own, evaluators: watchers.get(id) ?? new Set() });
    }
  }
  return customers;
}
