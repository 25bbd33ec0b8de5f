/** The amounts that units of recurring terms granted before the terms were changed. */
import { asc } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { FormerUnitPrice, RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { recurringUnitPrices } from './commits.tables.ts';

/** Keeps the former unit price of a term if a change gives it another one. */
export async function keepUnitPrice(
  tx: Transaction,
  before: RecurringCommit,
  after: RecurringCommit,
  until: Instant,
): Promise<void> {
  const { unitPrice } = before.accessAmount;
  if (unitPrice.eq(after.accessAmount.unitPrice)) return;
  await tx.insert(recurringUnitPrices).values({ recurringCommitId: before.id, unitPrice, until });
}

/** By term, in the order of the changes; terms whose price never changed are absent. */
export async function formerUnitPrices(
  db: Database | Transaction,
  recurringCommitIds: readonly string[],
): Promise<Map<string, FormerUnitPrice[]>> {
  if (recurringCommitIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(recurringUnitPrices)
    .where(isOneOf(recurringUnitPrices.recurringCommitId, recurringCommitIds))
    .orderBy(asc(recurringUnitPrices.sequence));
  return groupBy(rows, ({ recurringCommitId }) => recurringCommitId);
}
