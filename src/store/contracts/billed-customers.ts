/** Customers that have contracts, in the order of their creation. */
import { and, asc, eq, exists, isNotNull, isNull, sql } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { customers } from '../customers/customers.tables.ts';
import { contracts } from './contracts.tables.ts';
import { inForceAt } from './contracts.ts';

/** The position of a customer with contracts in the order of all of them. */
export interface BilledCustomer {
  readonly id: string;
  readonly createdAt: Instant;
}

/**
 * Customers with an active contract, by creation and id: at most `limit`, starting with one. `ids` null: all customers.
 */
export async function billedCustomers(
  db: Database | Transaction,
  asked: {
    readonly ids: readonly string[] | null;
    readonly from: BilledCustomer | null;
    readonly limit: number;
    /** Includes customers whose contracts are all archived. */
    readonly includeArchived?: boolean;
  },
): Promise<BilledCustomer[]> {
  const { ids, from, limit, includeArchived = false } = asked;
  const own = db
    .select({ id: contracts.id })
    .from(contracts)
    .where(
      and(eq(contracts.customerId, customers.id), includeArchived ? undefined : isNull(contracts.archivedAt)),
    );
  return db
    .select({ id: customers.id, createdAt: customers.createdAt })
    .from(customers)
    .where(
      and(
        exists(own),
        ids === null ? undefined : isOneOf(customers.id, ids.filter(isUuid)),
        from === null
          ? undefined
          : sql`(${customers.createdAt}, ${customers.id}) >= (${formatInstant(from.createdAt)}::timestamptz, ${from.id}::uuid)`,
      ),
    )
    .orderBy(asc(customers.createdAt), asc(customers.id))
    .limit(limit);
}

export interface UsageCustomer extends BilledCustomer {
  readonly name: string;
}

/** Customers that are not archived, with a contract on a rate card in force at `at`, by creation and id. */
export async function customersBilledByUsage(
  db: Database | Transaction,
  at: Instant,
  { after, limit }: PageRequest,
): Promise<Page<UsageCustomer>> {
  const own = db
    .select({ id: contracts.id })
    .from(contracts)
    .where(
      and(
        eq(contracts.customerId, customers.id),
        isNull(contracts.archivedAt),
        isNotNull(contracts.rateCardId),
        inForceAt(at),
      ),
    );
  const rows = await db
    .select({ id: customers.id, name: customers.name, createdAt: customers.createdAt })
    .from(customers)
    .where(and(isNull(customers.archivedAt), exists(own), behind(customers, after)))
    .orderBy(asc(customers.createdAt), asc(customers.id))
    .limit(limit + 1);
  return keysetPage(rows, limit);
}
