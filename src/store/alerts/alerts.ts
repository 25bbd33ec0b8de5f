/** Alert definitions. Their states are in `alert-states.ts`. */
import { and, asc, count, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { Alert } from '../../core/alerts.ts';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { customerChanges } from '../customers/customer-changes.tables.ts';
import { customers } from '../customers/customers.tables.ts';
import { alertFiltersDocument } from '../stored-documents/document-kinds.ts';
import { alerts } from './alerts.tables.ts';

/** Serializes the creation of alerts until the transaction ends, so that their number can be limited. */
export async function lockAlertCreation(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.alertCreation})`);
}

/** The active alerts of the customer, or those of all customers if null. */
export async function activeAlertsOf(
  db: Database | Transaction,
  customerId: string | null,
): Promise<Alert[]> {
  const rows = await db
    .select()
    .from(alerts)
    .where(and(isNull(alerts.archivedAt), ownedBy(customerId)));
  return rows.map(fromRow);
}

/** The number of active alerts of the customer, or of those for all customers if null. */
export async function countActiveAlerts(tx: Transaction, customerId: string | null): Promise<number> {
  const rows = await tx
    .select({ alerts: count() })
    .from(alerts)
    .where(and(isNull(alerts.archivedAt), ownedBy(customerId)));
  return rows[0]?.alerts ?? 0;
}

function ownedBy(customerId: string | null): SQL {
  return customerId === null ? isNull(alerts.customerId) : eq(alerts.customerId, customerId);
}

/** Returns false if another alert has the uniqueness key. */
export async function insertAlert(tx: Transaction, alert: Alert): Promise<boolean> {
  const rows = await tx
    .insert(alerts)
    .values({ ...alert, filters: alertFiltersDocument.write(alert.filters) })
    .onConflictDoNothing({ target: alerts.uniquenessKey })
    .returning({ id: alerts.id });
  return rows.length > 0;
}

export async function alertWithKey(tx: Transaction, uniquenessKey: string): Promise<string | null> {
  const [row] = await tx
    .select({ id: alerts.id })
    .from(alerts)
    .where(eq(alerts.uniquenessKey, uniquenessKey));
  return row?.id ?? null;
}

export async function findAlert(db: Database | Transaction, id: string): Promise<Alert | null> {
  if (!isUuid(id)) return null;
  const [row] = await db.select().from(alerts).where(eq(alerts.id, id));
  return row === undefined ? null : fromRow(row);
}

/** The alert, locked until the transaction ends. */
export async function lockAlert(tx: Transaction, id: string): Promise<Alert | null> {
  const [row] = await tx.select().from(alerts).where(eq(alerts.id, id)).for('no key update');
  return row === undefined ? null : fromRow(row);
}

export async function saveArchivedAlert(
  tx: Transaction,
  id: string,
  changes: { readonly archivedAt: Instant; readonly uniquenessKey: string | null },
): Promise<void> {
  await tx.update(alerts).set(changes).where(eq(alerts.id, id));
}

/** The customer's alerts and those of all customers, in the order of their creation. */
export async function listAlertsOf(
  db: Database | Transaction,
  customerId: string,
  of: { readonly active: boolean; readonly archived: boolean },
  page: PageRequest,
): Promise<Page<Alert>> {
  const wanted = [
    ...(of.active ? [isNull(alerts.archivedAt)] : []),
    ...(of.archived ? [isNotNull(alerts.archivedAt)] : []),
  ];
  const rows = await db
    .select()
    .from(alerts)
    .where(
      and(
        or(isNull(alerts.customerId), eq(alerts.customerId, customerId)),
        wanted.length === 0 ? sql`false` : or(...wanted),
        behind(alerts, page.after),
      ),
    )
    .orderBy(asc(alerts.createdAt), asc(alerts.id))
    .limit(page.limit + 1);
  return keysetPage(rows.map(fromRow), page.limit);
}

/** The active alerts for all customers, and for these ones. */
export async function activeAlertsFor(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Alert[]> {
  const rows = await db
    .select()
    .from(alerts)
    .where(
      and(
        isNull(alerts.archivedAt),
        or(isNull(alerts.customerId), inArray(alerts.customerId, [...customerIds])),
      ),
    )
    .orderBy(asc(alerts.createdAt), asc(alerts.id));
  return rows.map(fromRow);
}

/** Those of these customers, or of all if null, that an active alert is evaluated for. */
export async function customersWithAlerts(
  db: Database,
  customerIds: readonly string[] | null,
): Promise<string[]> {
  if (customerIds?.length === 0) return [];
  const [global] = await db
    .select({ id: alerts.id })
    .from(alerts)
    .where(and(isNull(alerts.customerId), isNull(alerts.archivedAt)))
    .limit(1);
  const own = db
    .select({ customerId: alerts.customerId })
    .from(alerts)
    .where(and(isNotNull(alerts.customerId), isNull(alerts.archivedAt)));
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .where(
      and(
        isNull(customers.archivedAt),
        customerIds === null ? undefined : isOneOf(customers.id, customerIds),
        global === undefined ? inArray(customers.id, own) : undefined,
      ),
    );
  return rows.map(({ id }) => id);
}

/** The creation times of those customers that are not archived. */
export async function creationTimes(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Map<string, Instant>> {
  const rows = await db
    .select({ id: customers.id, createdAt: customers.createdAt })
    .from(customers)
    .where(and(isNull(customers.archivedAt), isOneOf(customers.id, customerIds)));
  return new Map(rows.map(({ id, createdAt }) => [id, createdAt]));
}

/** Like `noteCustomerChanges`, for all customers that are not archived. */
export async function noteChangesOfAll(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    insert into ${customerChanges} (customer_id) select id from ${customers} where archived_at is null`);
}

function fromRow({ filters, ...row }: typeof alerts.$inferSelect): Alert {
  return { ...row, filters: alertFiltersDocument.read(filters) };
}
