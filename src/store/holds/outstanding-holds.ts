/** Active holds, for readers that sum held amounts. */
import { and, asc, gt, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { holds } from './holds.tables.ts';

const columns = {
  id: holds.id,
  customerId: holds.customerId,
  transactionId: holds.transactionId,
  amount: holds.amount,
  creditTypeId: holds.creditTypeId,
  payers: holds.payers,
};

/** `payers`: the segments of balances that may pay for it; null: unknown. */
export type OutstandingHold = Pick<typeof holds.$inferSelect, keyof typeof columns>;

const PAGE_ROWS = 5_000;

function isActive(now: Instant) {
  return sql`${holds.status} = 'active' and ${holds.expiresAt} > ${formatInstant(now)}::timestamptz`;
}

/** Holds of these customers, by id. */
export async function* outstandingPages(
  db: Database | Transaction,
  customerIds: readonly string[],
  now: Instant,
): AsyncGenerator<readonly OutstandingHold[], void, undefined> {
  if (customerIds.length === 0) return;
  for (let after: string | null = null; ; ) {
    const rows: OutstandingHold[] = await db
      .select(columns)
      .from(holds)
      .where(
        and(
          isOneOf(holds.customerId, customerIds),
          isActive(now),
          after === null ? undefined : gt(holds.id, after),
        ),
      )
      .orderBy(asc(holds.id))
      .limit(PAGE_ROWS);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)?.id ?? null;
  }
}

/** The amounts of these holds that are active. */
export async function activeAmounts(
  db: Database | Transaction,
  ids: readonly string[],
  now: Instant,
): Promise<Decimal[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ amount: holds.amount })
    .from(holds)
    .where(and(isOneOf(holds.id, ids), isActive(now)));
  return rows.map(({ amount }) => amount);
}
