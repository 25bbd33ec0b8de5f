/** Messages and their deliveries to each endpoint. All instants are in real time. */
import { and, asc, desc, eq, gte, inArray, lt, lte, type SQL, sql } from 'drizzle-orm';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { enabledMessageTypes, webhookDeliveries, webhookMessages } from './webhooks.tables.ts';

export type DeliveryStatus = (typeof webhookDeliveries.$inferSelect)['status'];

export interface NewMessage {
  readonly id: string;
  readonly type: string;
  readonly customerId: string | null;
  readonly body: string;
  /** The endpoints of the message. */
  readonly endpointIds: readonly string[];
}

/** A message that is due. */
export interface DueDelivery {
  readonly sequence: number;
  readonly messageId: string;
  readonly customerId: string | null;
  readonly body: string;
  readonly failures: number;
  readonly retryUntil: Instant;
}

export interface AttemptResult {
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  readonly at: Instant;
  readonly nextAttemptAt: Instant;
  readonly lastStatus: number | null;
  readonly lastAnswer: string | null;
  readonly lastError: string | null;
}

export interface Delivery {
  readonly sequence: number;
  readonly messageId: string;
  readonly type: string;
  readonly customerId: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly storedAt: Instant;
  readonly nextAttemptAt: Instant;
  readonly lastAttemptAt: Instant | null;
  readonly lastStatus: number | null;
  readonly lastAnswer: string | null;
  readonly lastError: string | null;
}

/** The place in the list of deliveries, which begins with the newest. */
export interface DeliveryPosition {
  readonly before: number;
}

/** The types that are enabled. */
export async function loadEnabledTypes(db: Database | Transaction): Promise<Set<string>> {
  const rows = await enabledTypes(db, {});
  return new Set(rows.map(({ type }) => type));
}

const enabledTypes = builtOnce((db) => db.select().from(enabledMessageTypes).prepare(''));

export async function setTypeEnabled(tx: Transaction, type: string, isEnabled: boolean): Promise<void> {
  if (isEnabled) await tx.insert(enabledMessageTypes).values({ type }).onConflictDoNothing();
  else await tx.delete(enabledMessageTypes).where(eq(enabledMessageTypes.type, type));
}

/** Stores messages and queues them for their endpoints until `retryUntil`, in the order of the list. */
export async function insertMessages(
  tx: Transaction,
  messages: readonly NewMessage[],
  retryUntil: Instant,
): Promise<void> {
  const rows = messages.map(({ id, type, customerId, body }) => ({ id, type, customerId, body }));
  for (const chunk of rowsPerInsert(rows)) await tx.insert(webhookMessages).values(chunk);
  const deliveries = messages.flatMap(({ id, endpointIds }) =>
    endpointIds.map((endpointId) => ({ endpointId, messageId: id, status: 'PENDING' as const, retryUntil })),
  );
  for (const chunk of rowsPerInsert(deliveries)) await tx.insert(webhookDeliveries).values(chunk);
}

/** The messages due to an endpoint, the longest due first. */
export async function dueDeliveries(db: Database, endpointId: string, limit: number): Promise<DueDelivery[]> {
  return db
    .select({
      sequence: webhookDeliveries.sequence,
      messageId: webhookDeliveries.messageId,
      customerId: webhookMessages.customerId,
      body: webhookMessages.body,
      failures: webhookDeliveries.failures,
      retryUntil: webhookDeliveries.retryUntil,
    })
    .from(webhookDeliveries)
    .innerJoin(webhookMessages, eq(webhookMessages.id, webhookDeliveries.messageId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, endpointId),
        eq(webhookDeliveries.status, 'PENDING'),
        lte(webhookDeliveries.nextAttemptAt, sql`clock_timestamp()`),
      ),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.sequence))
    .limit(limit);
}

/** Records an attempt. A delivery that was cancelled during the attempt stays cancelled. */
export async function noteAttempt(db: Database, sequence: number, result: AttemptResult): Promise<void> {
  const { status, at, nextAttemptAt, lastStatus, lastAnswer, lastError } = result;
  await db
    .update(webhookDeliveries)
    .set({
      status: sql`case when ${webhookDeliveries.status} = 'PENDING' then ${status} else ${webhookDeliveries.status} end`,
      attempts: sql`${webhookDeliveries.attempts} + 1`,
      failures: sql`${webhookDeliveries.failures} + ${status === 'DELIVERED' ? 0 : 1}`,
      nextAttemptAt,
      lastAttemptAt: at,
      lastStatus,
      lastAnswer,
      lastError,
    })
    .where(eq(webhookDeliveries.sequence, sequence));
}

/** Newest first. */
export async function listDeliveries(
  db: Database | Transaction,
  endpointId: string,
  { status, ...page }: PageRequest<DeliveryPosition> & { readonly status: DeliveryStatus | null },
): Promise<Page<Delivery, DeliveryPosition>> {
  const rows = await db
    .select({
      sequence: webhookDeliveries.sequence,
      messageId: webhookDeliveries.messageId,
      type: webhookMessages.type,
      customerId: webhookMessages.customerId,
      status: webhookDeliveries.status,
      attempts: webhookDeliveries.attempts,
      storedAt: webhookMessages.storedAt,
      nextAttemptAt: webhookDeliveries.nextAttemptAt,
      lastAttemptAt: webhookDeliveries.lastAttemptAt,
      lastStatus: webhookDeliveries.lastStatus,
      lastAnswer: webhookDeliveries.lastAnswer,
      lastError: webhookDeliveries.lastError,
    })
    .from(webhookDeliveries)
    .innerJoin(webhookMessages, eq(webhookMessages.id, webhookDeliveries.messageId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, endpointId),
        status === null ? undefined : eq(webhookDeliveries.status, status),
        page.after === null ? undefined : lt(webhookDeliveries.sequence, page.after.before),
      ),
    )
    .orderBy(desc(webhookDeliveries.sequence))
    .limit(page.limit + 1);
  return cutPage(rows, page.limit, ({ sequence }) => ({ before: sequence }));
}

/** Queues one message for the endpoint again, whatever its outcome. Returns how many were queued: 0 or 1. */
export function requeueMessage(
  tx: Transaction,
  endpointId: string,
  messageId: string,
  retryUntil: Instant,
): Promise<number> {
  const isIt = eq(webhookDeliveries.messageId, messageId);
  return requeue(tx, and(eq(webhookDeliveries.endpointId, endpointId), isIt), retryUntil);
}

/** Queues again the messages stored since `since` that are not acknowledged. Returns how many were queued. */
export function requeueFailed(
  tx: Transaction,
  endpointId: string,
  since: Instant,
  retryUntil: Instant,
): Promise<number> {
  const stored = tx
    .select({ id: webhookMessages.id })
    .from(webhookMessages)
    .where(gte(webhookMessages.storedAt, since));
  const where = and(
    eq(webhookDeliveries.endpointId, endpointId),
    inArray(webhookDeliveries.status, ['FAILED', 'PENDING']),
    inArray(webhookDeliveries.messageId, stored),
    sql`${webhookDeliveries.failures} > 0`,
  );
  return requeue(tx, where, retryUntil);
}

async function requeue(tx: Transaction, where: SQL | undefined, retryUntil: Instant): Promise<number> {
  const queued = await tx
    .update(webhookDeliveries)
    .set({ status: 'PENDING', failures: 0, nextAttemptAt: sql`clock_timestamp()`, retryUntil })
    .where(where)
    .returning({ sequence: webhookDeliveries.sequence });
  return queued.length;
}

/** Ends the deliveries to an endpoint that are not acknowledged. */
export async function cancelDeliveries(tx: Transaction, endpointId: string): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ status: 'CANCELED' })
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.status, 'PENDING')));
}

/** Deletes messages stored before `before`, with their deliveries. */
export async function deleteOldMessages(db: Database, before: Instant): Promise<void> {
  await db.delete(webhookMessages).where(lt(webhookMessages.storedAt, before));
}
