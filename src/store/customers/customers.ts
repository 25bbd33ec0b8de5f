/** Customers and their ingest aliases. */
import { and, asc, eq, inArray, isNotNull, isNull, ne, not, type SQL, sql } from 'drizzle-orm';
import { type BillingAddress, billingAddress } from '../../core/billing-address.ts';
import type { BillableStatus } from '../../core/billing-providers.ts';
import { isUuid, withoutUuidCase } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce, rowInsertion } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf, isOneOfTexts } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { sentTogether } from '../base/sent-together.ts';
import { customers, ingestAliases } from './customers.tables.ts';

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly crmAccountId: string | null;
  /** In the order in which the client listed them. */
  readonly ingestAliases: readonly string[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly archivedAt: Instant | null;
  /** Whether its invoices are delivered to a billing provider. */
  readonly billableStatus: BillableStatus;
  /** Whether Stripe's invoices stay drafts; null: the default of the service. */
  readonly leaveInvoicesInDraft: boolean | null;
  readonly billingAddress: BillingAddress | null;
}

/** The state of a customer that has just been created. */
export const NEW_CUSTOMER = {
  archivedAt: null,
  billableStatus: 'billable',
  leaveInvoicesInDraft: null,
  billingAddress: null,
} as const;

/** Stores a customer without aliases; `claimAliases` adds them. */
export async function insertCustomer(
  tx: Transaction,
  customer: Omit<Customer, 'ingestAliases' | keyof typeof NEW_CUSTOMER>,
): Promise<void> {
  await addCustomer(tx, customer);
}

const addCustomer = rowInsertion(customers, ['id', 'name', 'crmAccountId', 'createdAt', 'updatedAt']);

/**
 * Sets the customer's whole alias set to `aliases`. Returns the aliases that belong to another customer (or are another
 * customer's id); if there are any the caller must roll the transaction back. `isNew`: the transaction has created the
 * customer.
 *
 * The primary key decides which of two concurrent customers gets an alias. The order of the steps rules out deadlocks:
 * rows are inserted in one global order, and own rows are deleted last.
 */
export async function claimAliases(
  tx: Transaction,
  customerId: string,
  aliases: readonly string[],
  { isNew }: { readonly isNew: boolean },
): Promise<string[]> {
  if (aliases.length === 0) {
    if (isNew) return [];
    await tx.delete(ingestAliases).where(eq(ingestAliases.customerId, customerId));
    return [];
  }
  const rows = aliases.map((alias, position) => ({ alias, position }));
  const sorted = rows.toSorted((a, b) => (a.alias < b.alias ? -1 : 1));
  const [, held, foreignIds] = await sentTogether(
    () => addAliases(tx, customerId, sorted),
    () => aliasPositions(tx, customerId, aliases),
    () => otherCustomersIds(tx, customerId, aliases),
  );
  const refused = aliases.filter((alias) => !held.has(alias) || foreignIds.has(alias));
  if (refused.length > 0) return refused;
  // A new customer has no other aliases, and the new ones have their positions.
  if (isNew) return [];
  await moveAliases(
    tx,
    rows.filter(({ alias, position }) => held.get(alias) !== position),
  );
  await tx
    .delete(ingestAliases)
    .where(and(eq(ingestAliases.customerId, customerId), not(isOneOfTexts(ingestAliases.alias, aliases))));
  return [];
}

interface PlacedAlias {
  readonly alias: string;
  readonly position: number;
}

/** Adds aliases in their order. One parameter for all: a customer may have 2,000. */
async function addAliases(tx: Transaction, customerId: string, added: readonly PlacedAlias[]): Promise<void> {
  const rows = added.map(({ alias, position }) => ({ alias, position }));
  await tx.execute(sql`
    insert into ${ingestAliases} (alias, customer_id, position)
    select added.alias, ${customerId}::uuid, added.position
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as added(alias text, position integer)
    on conflict (alias) do nothing`);
}

async function moveAliases(tx: Transaction, moved: readonly PlacedAlias[]): Promise<void> {
  if (moved.length === 0) return;
  await tx.execute(sql`
    update ${ingestAliases} set position = moved.position
    from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as moved(alias text, position integer)
    where ${ingestAliases.alias} = moved.alias`);
}

/** The customer that has one of the aliases, or whose id it is; null if there is none by now. */
export async function holderOfAliases(tx: Transaction, aliases: readonly string[]): Promise<string | null> {
  const [row] = await tx
    .select({ customerId: ingestAliases.customerId })
    .from(ingestAliases)
    .where(isOneOfTexts(ingestAliases.alias, aliases))
    .orderBy(asc(ingestAliases.alias))
    .limit(1);
  return row?.customerId ?? aliases.find(isUuid) ?? null;
}

async function aliasPositions(
  tx: Transaction,
  customerId: string,
  aliases: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx
    .select({ alias: ingestAliases.alias, position: ingestAliases.position })
    .from(ingestAliases)
    .where(and(eq(ingestAliases.customerId, customerId), isOneOfTexts(ingestAliases.alias, aliases)));
  return new Map(rows.map((row) => [row.alias, row.position]));
}

/** An alias that is another customer's id would assign that customer's events to both. */
async function otherCustomersIds(
  tx: Transaction,
  customerId: string,
  aliases: readonly string[],
): Promise<Set<string>> {
  const candidates = aliases.filter(isUuid);
  if (candidates.length === 0) return new Set();
  const rows = await tx
    .select({ id: customers.id })
    .from(customers)
    .where(and(isOneOf(customers.id, candidates), ne(customers.id, customerId)));
  return new Set(rows.map((row) => row.id));
}

/** Locks the customer until the transaction ends, so that changes of one customer follow one another. */
export async function lockCustomer(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx
    .select({ id: customers.id })
    .from(customers)
    .where(eq(customers.id, id))
    .for('no key update');
  return rows.length > 0;
}

/**
 * Takes a shared lock on the customer until the transaction ends. Returns when it was archived (null: it is not),
 * or null if the customer is unknown.
 */
export async function holdCustomer(
  tx: Transaction,
  id: string,
): Promise<{ readonly archivedAt: Instant | null } | null> {
  if (!isUuid(id)) return null;
  const [row] = await heldCustomer(tx, { id });
  return row ?? null;
}

const heldCustomer = builtOnce((db) =>
  db
    .select({ archivedAt: customers.archivedAt })
    .from(customers)
    .where(eq(customers.id, sql.placeholder('id')))
    .for('share')
    .prepare(''),
);

/** Changes the header of a customer. Returns whether the customer exists. */
export async function updateCustomer(
  db: Database | Transaction,
  id: string,
  changes: {
    readonly name?: string;
    readonly crmAccountId?: string | null;
    readonly billingAddress?: BillingAddress | null;
    readonly archivedAt?: Instant;
    readonly updatedAt: Instant;
  },
): Promise<boolean> {
  const rows = await db
    .update(customers)
    .set(changes)
    .where(eq(customers.id, id))
    .returning({ id: customers.id });
  return rows.length > 0;
}

/** The customer with its aliases, archived or not; null if the id is unknown or not a UUID. */
export async function findCustomer(db: Database | Transaction, id: string): Promise<Customer | null> {
  if (!isUuid(id)) return null;
  const rows = await db.select().from(customers).where(eq(customers.id, id));
  return (await withAliases(db, rows))[0] ?? null;
}

/** Whether the customer exists, archived or not; false if the id is not a UUID. */
export async function customerExists(db: Database | Transaction, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await db.select({ id: customers.id }).from(customers).where(eq(customers.id, id));
  return rows.length > 0;
}

/** By id. */
export async function customerNames(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: customers.id, name: customers.name })
    .from(customers)
    .where(inArray(customers.id, [...new Set(ids)]));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The names by which people and other systems know a customer. */
export interface CustomerLabel {
  readonly name: string;
  /** The first ingest alias, else the id. */
  readonly externalId: string;
}

/** By id. */
export async function customerLabels(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, CustomerLabel>> {
  if (ids.length === 0) return new Map();
  const first = sql<string | null>`(select ${ingestAliases.alias} from ${ingestAliases}
    where ${ingestAliases.customerId} = ${customers.id} order by ${ingestAliases.position} limit 1)`;
  const rows = await db
    .select({ id: customers.id, name: customers.name, alias: first })
    .from(customers)
    .where(isOneOf(customers.id, new Set(ids)));
  return new Map(rows.map(({ id, name, alias }) => [id, { name, externalId: alias ?? id }]));
}

export interface CustomerFilter {
  readonly archived: boolean;
  readonly ingestAlias?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly crmAccountIds?: readonly string[] | undefined;
}

export async function listCustomers(
  db: Database | Transaction,
  filter: CustomerFilter,
  page: PageRequest,
): Promise<Page<Customer>> {
  const rows = await db
    .select()
    .from(customers)
    .where(and(...filterConditions(db, filter), behind(customers, page.after)))
    .orderBy(asc(customers.createdAt), asc(customers.id))
    .limit(page.limit + 1);
  return keysetPage(await withAliases(db, rows), page.limit);
}

/** The restrictions of a list of customers. */
export function filterConditions(db: Database | Transaction, filter: CustomerFilter): (SQL | undefined)[] {
  const { archived, ids, crmAccountIds, ingestAlias } = filter;
  return [
    archived ? isNotNull(customers.archivedAt) : isNull(customers.archivedAt),
    ids === undefined ? undefined : among(customers.id, ids.filter(isUuid)),
    crmAccountIds === undefined ? undefined : among(customers.crmAccountId, crmAccountIds),
    ingestAlias === undefined
      ? undefined
      : inArray(
          customers.id,
          db
            .select({ id: ingestAliases.customerId })
            .from(ingestAliases)
            .where(inArray(ingestAliases.alias, [ingestAlias, withoutUuidCase(ingestAlias)])),
        ),
  ];
}

/** `inArray` that accepts an empty list as "none of them". */
function among(column: Parameters<typeof inArray>[0], values: readonly string[]): SQL {
  return values.length === 0 ? sql`false` : inArray(column, [...values]);
}

/** The references of each customer's events: its id, then its aliases. Customers that do not exist are absent. */
export async function customerRefs(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (customerIds.length === 0) return new Map();
  const rows = await db
    .select({ id: customers.id, alias: ingestAliases.alias })
    .from(customers)
    .leftJoin(ingestAliases, eq(ingestAliases.customerId, customers.id))
    .where(isOneOf(customers.id, customerIds))
    .orderBy(asc(customers.id), asc(ingestAliases.position));
  const refs = new Map<string, string[]>();
  for (const { id, alias } of rows) {
    const known = refs.get(id) ?? [id];
    // A customer's own id as its alias changes nothing.
    if (alias !== null && alias !== id) known.push(alias);
    refs.set(id, known);
  }
  return refs;
}

/** The customers in the order of the references of their events: an alias, or else the id. */
export async function inOrderOfEvents(db: Database, customerIds: readonly string[]): Promise<string[]> {
  if (customerIds.length === 0) return [];
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .leftJoin(ingestAliases, eq(ingestAliases.customerId, customers.id))
    .where(isOneOf(customers.id, customerIds))
    .groupBy(customers.id)
    .orderBy(sql`coalesce(min(${ingestAliases.alias} collate "C"), ${customers.id}::text collate "C")`);
  return rows.map(({ id }) => id);
}

/** The same customers in the same order, with their aliases. */
export async function withAliases(
  db: Database | Transaction,
  rows: readonly (typeof customers.$inferSelect)[],
): Promise<Customer[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const aliases = await db
    .select({ alias: ingestAliases.alias, customerId: ingestAliases.customerId })
    .from(ingestAliases)
    .where(isOneOf(ingestAliases.customerId, ids))
    .orderBy(asc(ingestAliases.customerId), asc(ingestAliases.position));
  const byCustomer = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { alias, customerId } of aliases) byCustomer.get(customerId)?.push(alias);
  return rows.map((row) => ({
    ...row,
    billingAddress: row.billingAddress === null ? null : billingAddress.parse(row.billingAddress),
    ingestAliases: byCustomer.get(row.id) ?? [],
  }));
}

/** Whether invoices of a customer stay drafts at Stripe; null: the customer has no setting. */
export async function leavesInvoicesInDraft(db: Database | Transaction, id: string): Promise<boolean | null> {
  const [row] = await db
    .select({ leaves: customers.leaveInvoicesInDraft })
    .from(customers)
    .where(eq(customers.id, id));
  return row?.leaves ?? null;
}

/** False: the customer is unknown. Null: the default of the service. */
export async function leaveInvoicesInDraft(
  db: Database | Transaction,
  id: string,
  leaves: boolean | null,
): Promise<boolean> {
  const rows = await db
    .update(customers)
    .set({ leaveInvoicesInDraft: leaves })
    .where(eq(customers.id, id))
    .returning({ id: customers.id });
  return rows.length > 0;
}

/** Sets whether invoices of a customer are delivered. False: the customer is unknown. */
export async function setBillableStatus(
  db: Database | Transaction,
  id: string,
  billableStatus: BillableStatus,
): Promise<boolean> {
  const rows = await db
    .update(customers)
    .set({ billableStatus })
    .where(eq(customers.id, id))
    .returning({ id: customers.id });
  return rows.length > 0;
}
