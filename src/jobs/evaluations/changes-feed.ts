/** Follows the customers that transactions of all processes have changed. */

import type { Database } from '../../store/base/database.ts';
import type { DueCondition } from '../../store/base/due-watch.ts';
import {
  hasOtherChanges,
  lastCustomerChange,
  loadCustomerChanges,
} from '../../store/customers/customer-changes.ts';

export interface ChangesFeed {
  /** Marks everything that is committed now as read. */
  skip(): Promise<void>;
  /** The customers changed since the last call, without duplicates. */
  next(): Promise<string[]>;
  /** A condition that holds if there may be changes since the last call. */
  hasNext(): DueCondition;
}

/**
 * Rows get their number before they are committed, so a smaller number may appear later: this many rows are read again.
 * The next sweep finds changes that are still missed.
 */
const READ_AGAIN = 200;
const PAGE = 1_000;

export function createChangesFeed(db: Database): ChangesFeed {
  let last = 0;
  let seen = new Set<number>();
  /** Read and not returned yet: a later page may fail. */
  const changed = new Set<string>();
  return {
    hasNext: () => hasOtherChanges(last - READ_AGAIN, seen.size),
    async skip() {
      last = await lastCustomerChange(db);
      const rows = await loadCustomerChanges(db, last - READ_AGAIN, READ_AGAIN);
      seen = new Set(rows.map(({ id }) => id));
    },
    async next() {
      for (;;) {
        const rows = await loadCustomerChanges(db, last - READ_AGAIN, PAGE);
        const fresh = rows.filter(({ id }) => !seen.has(id));
        for (const { customerId } of fresh) changed.add(customerId);
        last = Math.max(last, ...rows.map(({ id }) => id));
        seen = new Set(rows.flatMap(({ id }) => (id > last - READ_AGAIN ? [id] : [])));
        if (rows.length < PAGE) break;
      }
      const all = [...changed];
      changed.clear();
      return all;
    },
  };
}
