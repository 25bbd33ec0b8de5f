/** Endpoints of webhooks, and the leases on them. */
import { and, asc, count, eq, exists, inArray, isNull, lte, notLike, or, type SQL, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { webhookDeliveries, webhookEndpoints } from './webhooks.tables.ts';

export interface WebhookEndpoint {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  /** Null: all. */
  readonly eventTypes: readonly string[] | null;
  /** Both secrets as stored: a text with the prefix `sealed:` is sealed with the key of the service. */
  readonly secret: string;
  readonly formerSecret: string | null;
  /** In real time. */
  readonly formerSecretUntil: Instant | null;
  readonly createdAt: Instant;
  readonly archivedAt: Instant | null;
}

/** The prefix of a sealed secret. */
export const SEALED_SECRET = 'sealed:';

const columns = {
  id: webhookEndpoints.id,
  name: webhookEndpoints.name,
  url: webhookEndpoints.url,
  eventTypes: webhookEndpoints.eventTypes,
  secret: webhookEndpoints.secret,
  formerSecret: webhookEndpoints.formerSecret,
  formerSecretUntil: webhookEndpoints.formerSecretUntil,
  createdAt: webhookEndpoints.createdAt,
  archivedAt: webhookEndpoints.archivedAt,
};

/** Serializes the creation of endpoints until the transaction ends, so that their number can be limited. */
export async function lockEndpoints(tx: Transaction): Promise<void> {
  await tx.execute(sql`lock table ${webhookEndpoints} in share row exclusive mode`);
}

export async function countActiveEndpoints(tx: Transaction): Promise<number> {
  const rows = await tx
    .select({ endpoints: count() })
    .from(webhookEndpoints)
    .where(isNull(webhookEndpoints.archivedAt));
  return rows[0]?.endpoints ?? 0;
}

export async function insertEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
  const { eventTypes, ...rest } = endpoint;
  await tx
    .insert(webhookEndpoints)
    .values({ ...rest, eventTypes: eventTypes === null ? null : [...eventTypes] });
}

export async function findEndpoint(db: Database | Transaction, id: string): Promise<WebhookEndpoint | null> {
  if (!isUuid(id)) return null;
  const rows = await db.select(columns).from(webhookEndpoints).where(eq(webhookEndpoints.id, id));
  return rows[0] ?? null;
}

/** The endpoint, locked until the transaction ends. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<WebhookEndpoint | null> {
  const rows = await tx
    .select(columns)
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, id))
    .for('no key update');
  return rows[0] ?? null;
}

/** Endpoints, archived ones too, in the order of creation. */
export async function listEndpoints(
  db: Database | Transaction,
  page: PageRequest,
): Promise<Page<WebhookEndpoint>> {
  const rows = await db
    .select(columns)
    .from(webhookEndpoints)
    .where(behind(webhookEndpoints, page.after))
    .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id))
    .limit(page.limit + 1);
  return keysetPage(rows, page.limit);
}

/** The ids of endpoints with a secret that is not sealed, archived ones too. */
export async function listUnsealedEndpoints(db: Database): Promise<string[]> {
  const isPlain = (column: AnyPgColumn) => notLike(column, `${SEALED_SECRET}%`);
  const rows = await db
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(or(isPlain(webhookEndpoints.secret), isPlain(webhookEndpoints.formerSecret)));
  return rows.map(({ id }) => id);
}

/** Active endpoints. */
export async function activeEndpoints(
  db: Database | Transaction,
): Promise<Pick<WebhookEndpoint, 'id' | 'eventTypes'>[]> {
  return endpointsInUse(db, {});
}

const endpointsInUse = builtOnce((db) =>
  db
    .select({ id: webhookEndpoints.id, eventTypes: webhookEndpoints.eventTypes })
    .from(webhookEndpoints)
    .where(isNull(webhookEndpoints.archivedAt))
    .prepare(''),
);

/** Writes the members of an endpoint that an operation may change. */
export async function saveEndpoint(
  tx: Transaction,
  id: string,
  changes: Partial<Pick<WebhookEndpoint, 'secret' | 'formerSecret' | 'formerSecretUntil' | 'archivedAt'>>,
): Promise<void> {
  await tx.update(webhookEndpoints).set(changes).where(eq(webhookEndpoints.id, id));
}

/**
 * Leases the endpoints that have due messages and are free, for `leaseMs` of real time. One process at a time sends the
 * messages of an endpoint, so that they keep their order.
 */
export async function leaseDueEndpoints(
  db: Database,
  {
    owner,
    busy,
    leaseMs,
  }: { readonly owner: string; readonly busy: readonly string[]; readonly leaseMs: number },
): Promise<WebhookEndpoint[]> {
  const due = db
    .select({ one: sql`1` })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.endpointId, webhookEndpoints.id),
        eq(webhookDeliveries.status, 'PENDING'),
        lte(webhookDeliveries.nextAttemptAt, sql`clock_timestamp()`),
      ),
    );
  const isFree = or(
    isNull(webhookEndpoints.leaseUntil),
    lte(webhookEndpoints.leaseUntil, sql`clock_timestamp()`),
    eq(webhookEndpoints.leaseOwner, owner),
  );
  const isIdle = sql`not (${webhookEndpoints.id} = any(${`{${busy.join(',')}}`}::uuid[]))`;
  const free = db
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(and(isNull(webhookEndpoints.archivedAt), isFree, isIdle, exists(due)))
    .for('no key update', { skipLocked: true });
  return db
    .update(webhookEndpoints)
    .set({
      leaseOwner: owner,
      leaseUntil: sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`,
    })
    .where(inArray(webhookEndpoints.id, free))
    .returning(columns);
}

/** Whether an endpoint may have a message to be sent now; it may be leased. */
export function hasDueMessage(): SQL {
  const { endpointId, status, nextAttemptAt } = webhookDeliveries;
  return sql`exists (
    select from ${webhookEndpoints} cross join lateral (
      select from ${webhookDeliveries}
      where ${endpointId} = ${webhookEndpoints.id} and ${status} = 'PENDING' and ${nextAttemptAt} <= now()
      limit 1
    ) as first)`;
}

/** The current endpoint of a delivery; null if the delivery is no longer to be sent. */
export async function endpointOfPending(db: Database, sequence: number): Promise<WebhookEndpoint | null> {
  const [row] = await db
    .select(columns)
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(and(eq(webhookDeliveries.sequence, sequence), eq(webhookDeliveries.status, 'PENDING')));
  return row ?? null;
}

/** Releases the lease on an endpoint. */
export async function releaseEndpoint(db: Database, id: string, owner: string): Promise<void> {
  await db
    .update(webhookEndpoints)
    .set({ leaseOwner: null, leaseUntil: null })
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.leaseOwner, owner)));
}
