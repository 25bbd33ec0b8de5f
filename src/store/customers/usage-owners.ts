/** The owners of usage: customers by the ids and aliases in events, and customers in the order of their ids. */
import { and, asc, count, eq, gt, gte, inArray, isNull } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf, isOneOfTexts } from '../base/is-one-of.ts';
import { customers, ingestAliases } from './customers.tables.ts';

export interface UsageOwnerName {
  readonly id: string;
  readonly name: string;
}

/**
 * The customers that these references identify, archived ones included: the id exactly as the service writes it, or an
 * ingest alias. Events with an id have it in lower case; those that an earlier version stored otherwise belong to
 * nobody. Unknown references are absent.
 */
export async function ownersOfRefs(
  db: Database | Transaction,
  refs: readonly string[],
): Promise<Map<string, UsageOwnerName>> {
  if (refs.length === 0) return new Map();
  const byAlias = await db
    .select({ ref: ingestAliases.alias, id: customers.id, name: customers.name })
    .from(ingestAliases)
    .innerJoin(customers, eq(customers.id, ingestAliases.customerId))
    .where(inArray(ingestAliases.alias, [...refs]));
  const ids = refs.filter((ref) => isUuid(ref) && ref === ref.toLowerCase());
  const byId =
    ids.length === 0
      ? []
      : await db
          .select({ ref: customers.id, id: customers.id, name: customers.name })
          .from(customers)
          .where(isOneOf(customers.id, ids));
  return new Map([...byAlias, ...byId].map(({ ref, id, name }) => [ref, { id, name }]));
}

/** The first of these references that is the id of an erased customer; customers are locked against erasure. */
export async function firstErased(tx: Transaction, refs: readonly string[]): Promise<string | null> {
  const ids = refs.filter((ref) => isUuid(ref));
  const aliased =
    refs.length === 0
      ? []
      : await tx
          .select({ id: ingestAliases.customerId })
          .from(ingestAliases)
          .where(isOneOfTexts(ingestAliases.alias, refs));
  const all = [...ids, ...aliased.map(({ id }) => id)];
  const rows = await tx
    .select({ id: customers.id, erasedAt: customers.erasedAt })
    .from(customers)
    .where(isOneOf(customers.id, all))
    .orderBy(asc(customers.id))
    .for('share');
  return rows.find(({ erasedAt }) => erasedAt !== null)?.id ?? null;
}

/** Ids of customers that are not archived, ascending, from `from` on. */
export async function activeCustomerIds(
  db: Database | Transaction,
  from: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(isNull(customers.archivedAt), from === null ? undefined : gte(customers.id, from)))
    .orderBy(asc(customers.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** The subset of the customers that are not archived. */
export async function activeAmong(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<string[]> {
  if (customerIds.length === 0) return [];
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(isOneOf(customers.id, customerIds), isNull(customers.archivedAt)));
  return rows.map(({ id }) => id);
}

/** Ids of customers after `after`, ascending; including archived ones, whose invoices remain. */
export async function customerIdsAfter(
  db: Database | Transaction,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .where(after === null ? undefined : gt(customers.id, after))
    .orderBy(asc(customers.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** The number of customers after `after`. */
export async function countCustomersAfter(db: Database | Transaction, after: string): Promise<number> {
  const [row] = await db.select({ customers: count() }).from(customers).where(gt(customers.id, after));
  return row?.customers ?? 0;
}

/** When the customers changed since then, including their aliases, were last changed. */
export async function changedSince(
  db: Database | Transaction,
  customerIds: readonly string[],
  since: Instant,
): Promise<Map<string, Instant>> {
  if (customerIds.length === 0) return new Map();
  const rows = await db
    .select({ id: customers.id, updatedAt: customers.updatedAt })
    .from(customers)
    .where(and(isOneOf(customers.id, customerIds), gte(customers.updatedAt, since)));
  return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]));
}
