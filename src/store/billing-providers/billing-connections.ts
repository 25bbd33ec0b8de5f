/** The service's own connections to billing providers. The rows that are read here hold secrets. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { BillingProvider, DeliveryMethod } from '../../core/billing-providers.ts';
import { derivedId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { billingConnections } from './billing-connections.tables.ts';

export interface BillingConnection {
  readonly id: string;
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly createdAt: Instant;
  readonly archivedAt: Instant | null;
}

/** Stores a connection, and returns the id of the connection with this configuration, which may already exist. */
export async function insertConnection(
  db: Database | Transaction,
  connection: BillingConnection,
): Promise<string | null> {
  const { billingProvider, deliveryMethod, configuration } = connection;
  const key = derivedId('billing-connection', billingProvider, deliveryMethod, canonicalJson(configuration));
  return await insertNamedConnection(db, connection, key);
}

/** The connections by id; unknown ids are absent. */
export async function loadConnections(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, BillingConnection>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(billingConnections)
    .where(inArray(billingConnections.id, [...ids]));
  return new Map(rows.map((row) => [row.id, fromRow(row)]));
}

/** All connections to a provider by this method, oldest first. */
export async function findConnections(
  db: Database | Transaction,
  billingProvider: BillingProvider,
  deliveryMethod: DeliveryMethod,
): Promise<BillingConnection[]> {
  const rows = await db
    .select()
    .from(billingConnections)
    .where(
      and(
        eq(billingConnections.billingProvider, billingProvider),
        eq(billingConnections.deliveryMethod, deliveryMethod),
        isNull(billingConnections.archivedAt),
      ),
    )
    .orderBy(asc(billingConnections.createdAt), asc(billingConnections.id));
  return rows.map(fromRow);
}

export async function listConnections(
  db: Database | Transaction,
  page: PageRequest,
): Promise<Page<BillingConnection>> {
  const rows = await db
    .select()
    .from(billingConnections)
    .where(and(behind(billingConnections, page.after), isNull(billingConnections.archivedAt)))
    .orderBy(asc(billingConnections.createdAt), asc(billingConnections.id))
    .limit(page.limit + 1);
  return keysetPage(rows.map(fromRow), page.limit);
}

const configurationColumn = z.record(z.string(), z.unknown());

function fromRow(row: typeof billingConnections.$inferSelect): BillingConnection {
  const { id, billingProvider, deliveryMethod, createdAt, archivedAt } = row;
  return {
    id,
    billingProvider,
    deliveryMethod,
    configuration: configurationColumn.parse(row.configuration),
    createdAt,
    archivedAt,
  };
}

/** The same text for equal values, in any order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/**
 * Stores a connection whose key is its name. Returns the id of the connection with that name, which may already exist.
 */
export async function insertNamedConnection(
  db: Database | Transaction,
  connection: BillingConnection,
  key: string,
): Promise<string | null> {
  await db
    .insert(billingConnections)
    .values({ ...connection, key })
    .onConflictDoNothing({ target: billingConnections.key });
  const [row] = await db
    .select({ id: billingConnections.id })
    .from(billingConnections)
    .where(eq(billingConnections.key, key));
  return row?.id ?? null;
}

/** Stores the connection of the environment as it is now. An archived connection that was never stored is skipped. */
export async function saveDefaultConnection(
  db: Database,
  connection: BillingConnection,
  key: string,
): Promise<void> {
  const { id, configuration, archivedAt } = connection;
  if (archivedAt !== null) {
    const isStored = and(eq(billingConnections.id, id), isNull(billingConnections.archivedAt));
    await db.update(billingConnections).set({ archivedAt }).where(isStored);
    return;
  }
  // Facts about the account are kept until they are read again.
  const merged = sql`${billingConnections.configuration} || excluded.configuration`;
  await db
    .insert(billingConnections)
    .values({ ...connection, configuration, key })
    .onConflictDoUpdate({ target: billingConnections.id, set: { archivedAt: null, configuration: merged } });
}

/** Ends a connection. Its name may be used again. */
export async function archiveConnection(
  db: Database,
  {
    id,
    ...changes
  }: Pick<BillingConnection, 'id' | 'configuration' | 'archivedAt'> & { readonly key: string },
): Promise<void> {
  await db.update(billingConnections).set(changes).where(eq(billingConnections.id, id));
}
