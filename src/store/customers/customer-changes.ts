/** The feed of changed customers, which evaluations follow (docs/explanation/thresholds.md, "When it is evaluated"). */
import { asc, desc, gt, lt, type SQL, sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import { rowInsertion } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { customerChanges } from './customer-changes.tables.ts';

/** Notifies every process of changes of these customers, when the transaction is committed. */
export async function noteCustomerChanges(tx: Transaction, customerIds: readonly string[]): Promise<void> {
  const rows = [...new Set(customerIds)].map((customerId) => ({ customerId }));
  const [first, ...others] = rows;
  if (first !== undefined && others.length === 0) {
    await addChange(tx, first);
    return;
  }
  for (const chunk of rowsPerInsert(rows)) await tx.insert(customerChanges).values(chunk);
}

const addChange = rowInsertion(customerChanges, ['customerId']);

export interface CustomerChange {
  readonly id: number;
  readonly customerId: string;
}

/** Rows after `after`, ascending. Rows of transactions that committed late may appear below the last one read. */
export async function loadCustomerChanges(
  db: Database,
  after: number,
  limit: number,
): Promise<CustomerChange[]> {
  const { id, customerId } = customerChanges;
  return db
    .select({ id, customerId })
    .from(customerChanges)
    .where(gt(id, after))
    .orderBy(asc(id))
    .limit(limit);
}

/** Whether there are rows after `after` other than `count`, so that some appeared or were deleted. */
export function hasOtherChanges(after: number, count: number): SQL {
  return sql`(select count(*) <> ${count} from ${customerChanges} where ${gt(customerChanges.id, after)})`;
}

/** 0 if there is none. */
export async function lastCustomerChange(db: Database): Promise<number> {
  const { id } = customerChanges;
  const [last] = await db.select({ id }).from(customerChanges).orderBy(desc(id)).limit(1);
  return last?.id ?? 0;
}

/** `before` is an instant of real time. */
export async function deleteCustomerChanges(db: Database, before: Instant): Promise<void> {
  await db.delete(customerChanges).where(lt(customerChanges.changedAt, before));
}
