/** Leases on deliveries, and the steps recorded under them. Leases are in real time, due times in the service's. */
import {
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  min,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { invoiceDeliveries, providerEvents } from './invoice-deliveries.tables.ts';
import { type Delivery, deliveryFromRow, paidColumns } from './invoice-deliveries.ts';

type Row = typeof invoiceDeliveries.$inferInsert;

interface Lease {
  readonly owner: string;
  readonly leaseMs: number;
}

/**
 * Leases due deliveries that are free, the longest due first. If the last attempt has not released its lease, its
 * process was killed, and the outcome of its last call is in doubt.
 */
export async function leaseDeliveries(
  db: Database,
  { owner, leaseMs, dueAt, limit }: Lease & { readonly dueAt: Instant; readonly limit: number },
): Promise<Delivery[]> {
  const due = db
    .select({ invoiceId: invoiceDeliveries.invoiceId })
    .from(invoiceDeliveries)
    .where(and(lte(invoiceDeliveries.dueAt, dueAt), isFree()))
    .orderBy(asc(invoiceDeliveries.dueAt), asc(invoiceDeliveries.invoiceId))
    .limit(limit)
    .for('update', { skipLocked: true });
  const rows = await db
    .update(invoiceDeliveries)
    .set({ ...leased({ owner, leaseMs }), isAsked: false })
    .where(inArray(invoiceDeliveries.invoiceId, due))
    .returning();
  return rows.map(deliveryFromRow);
}

/** Leases a delivery whether it is due or not. Null: another attempt has it. */
export async function leaseDelivery(db: Database, invoiceId: string, lease: Lease): Promise<Delivery | null> {
  const [row] = await db
    .update(invoiceDeliveries)
    .set(leased(lease))
    .where(and(eq(invoiceDeliveries.invoiceId, invoiceId), isFree()))
    .returning();
  return row === undefined ? null : deliveryFromRow(row);
}

function isFree() {
  return or(isNull(invoiceDeliveries.leaseUntil), lte(invoiceDeliveries.leaseUntil, sql`clock_timestamp()`));
}

function leased({ owner, leaseMs }: Lease) {
  return {
    leaseOwner: owner,
    leaseUntil: until(leaseMs),
    isDoubtful: sql`${invoiceDeliveries.isDoubtful} or
        (${invoiceDeliveries.leaseUntil} is not null and ${invoiceDeliveries.mappedAt} is not null)`,
  };
}

/** Whether a delivery may be due at `dueAt`; it may be leased. */
export function hasDueDelivery(dueAt: Instant): SQL {
  return sql`exists (select from ${invoiceDeliveries} where ${lte(invoiceDeliveries.dueAt, dueAt)})`;
}

function until(leaseMs: number) {
  return sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`;
}

/** The changes of a step. */
export interface DeliveryChange
  extends Partial<Pick<Row, 'method' | 'mappedAt' | 'isDoubtful' | 'sentAt' | 'deliveredAt' | 'voidEnded'>> {
  readonly external?: Partial<ExternalInvoice> | undefined;
}

/** Records a step and renews the lease. Null: the lease has ended, and another worker may hold it. */
export async function noteStep(
  db: Database,
  invoiceId: string,
  { owner, leaseMs }: Lease,
  change: DeliveryChange,
): Promise<Delivery | null> {
  const [row] = await db
    .update(invoiceDeliveries)
    .set({ ...columnsOf(change), leaseUntil: until(leaseMs) })
    .where(isLeased(invoiceId, owner))
    .returning();
  return row === undefined ? null : deliveryFromRow(row);
}

function isLeased(invoiceId: string, owner: string) {
  return and(
    eq(invoiceDeliveries.invoiceId, invoiceId),
    eq(invoiceDeliveries.leaseOwner, owner),
    gt(invoiceDeliveries.leaseUntil, sql`clock_timestamp()`),
  );
}

export interface AttemptEnd extends DeliveryChange {
  /** Consecutive failed attempts, including this one. */
  readonly failures: number;
  /** When the first of these ended, by the clock of the service; null: the last attempt succeeded. */
  readonly failingSince: Instant | null;
  /** Whether it counts as an attempt. */
  readonly isAttempt: boolean;
  /** Null: nothing more has to be done. */
  readonly dueAt: Instant | null;
}

/**
 * Ends an attempt and the lease. If the delivery became due during the attempt, it stays due, and so it does after a
 * message of the provider unless the attempt failed: no message shortens the backoff. Null: the lease had ended.
 */
export async function endAttempt(
  tx: Transaction,
  delivery: Pick<Delivery, 'invoiceId' | 'dueAt' | 'attempts'>,
  owner: string,
  { failures, failingSince, isAttempt, dueAt, ...change }: AttemptEnd,
): Promise<Delivery | null> {
  const { leased, next } = { leased: instantText(delivery.dueAt), next: instantText(dueAt) };
  const hasFailed = failures > 0;
  const [row] = await tx
    .update(invoiceDeliveries)
    .set({
      ...columnsOf(change),
      failures,
      failingSince,
      attempts: delivery.attempts + (isAttempt ? 1 : 0),
      leaseOwner: null,
      leaseUntil: null,
      dueAt: sql`case when ${invoiceDeliveries.dueAt} is distinct from ${leased}::timestamptz
          or (${invoiceDeliveries.isAsked} and not ${hasFailed})
        then ${invoiceDeliveries.dueAt} else ${next}::timestamptz end`,
      isAsked: false,
    })
    .where(isLeased(delivery.invoiceId, owner))
    .returning();
  return row === undefined ? null : deliveryFromRow(row);
}

function instantText(at: Instant | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** Releases a delivery as it is, so that it is leased again at once. */
export async function freeDelivery(db: Database, invoiceId: string, owner: string): Promise<void> {
  await db
    .update(invoiceDeliveries)
    .set({ leaseOwner: null, leaseUntil: null })
    .where(isLeased(invoiceId, owner));
}

function columnsOf({ external = {}, ...own }: DeliveryChange) {
  const { issuedAt, externalId, tax, refundDue: _, paymentFailure: __, ...rest } = external;
  return {
    ...own,
    ...rest,
    ...paidColumns(external.status),
    ...(externalId === undefined ? {} : { externalId }),
    ...(issuedAt === undefined ? {} : { finalizedAt: issuedAt }),
    ...(tax === undefined
      ? {}
      : {
          taxAmount: tax?.amount ?? null,
          taxableAmount: tax?.taxableAmount ?? null,
          taxTransactionId: tax?.transactionId ?? null,
        }),
  };
}

/** Whether a delivery queued up to `dueAt` has had no attempt yet. */
export async function hasUnattempted(db: Database, dueAt: Instant): Promise<boolean> {
  const [row] = await db
    .select({ invoiceId: invoiceDeliveries.invoiceId })
    .from(invoiceDeliveries)
    .where(and(lte(invoiceDeliveries.dueAt, dueAt), eq(invoiceDeliveries.attempts, 0)))
    .limit(1);
  return row !== undefined;
}

/**
 * An invoice of the customer whose next step needs the customer's configuration: it is on its way to a provider, has to
 * be voided there, or may exist there more than once. Null: there is none. Refused deliveries wait for an operator.
 */
export async function findUnsettledDelivery(tx: Transaction, customerId: string): Promise<string | null> {
  const { dueAt, deliveredAt, voidWanted, voidEnded, isDoubtful } = invoiceDeliveries;
  const [row] = await tx
    .select({ invoiceId: invoiceDeliveries.invoiceId })
    .from(invoiceDeliveries)
    .where(
      and(
        eq(invoiceDeliveries.customerId, customerId),
        isNotNull(dueAt),
        or(isNull(deliveredAt), and(eq(voidWanted, true), eq(voidEnded, false)), eq(isDoubtful, true)),
      ),
    )
    .limit(1);
  return row?.invoiceId ?? null;
}

/** Deliveries by status, and the age of the oldest pending one, by the clock of the service. */
export interface DeliveryFigures {
  readonly byStatus: ReadonlyMap<string, number>;
  readonly oldestUndeliveredAt: Instant | null;
}

export async function loadDeliveryFigures(db: Database): Promise<DeliveryFigures> {
  const rows = await db
    .select({ status: invoiceDeliveries.status, count: count() })
    .from(invoiceDeliveries)
    .groupBy(invoiceDeliveries.status);
  const [oldest] = await db
    .select({ at: min(invoiceDeliveries.createdAt) })
    .from(invoiceDeliveries)
    .where(
      and(
        isNull(invoiceDeliveries.deliveredAt),
        eq(invoiceDeliveries.voidWanted, false),
        inArray(invoiceDeliveries.status, ['QUEUED', 'DRAFT', 'FINALIZED']),
      ),
    );
  return {
    byStatus: new Map(rows.map(({ status, count: number }) => [status, number])),
    oldestUndeliveredAt: oldest?.at ?? null,
  };
}

/** Records an event of a provider. False: it was recorded before. */
export async function noteProviderEvent(
  tx: Transaction,
  event: { readonly connectionId: string; readonly eventId: string; readonly receivedAt: Instant },
): Promise<boolean> {
  const rows = await tx
    .insert(providerEvents)
    .values(event)
    .onConflictDoNothing()
    .returning({ eventId: providerEvents.eventId });
  return rows.length > 0;
}

export async function deleteOldProviderEvents(db: Database, before: Instant): Promise<void> {
  await db.delete(providerEvents).where(lte(providerEvents.receivedAt, before));
}

/** The invoices of a provider's objects, by their ids at the provider, or by our ids in them. */
export async function invoicesOfObjects(
  tx: Transaction,
  connectionId: string,
  {
    externalIds,
    invoiceIds,
  }: { readonly externalIds: readonly string[]; readonly invoiceIds: readonly string[] },
): Promise<string[]> {
  const rows = await tx
    .select({ invoiceId: invoiceDeliveries.invoiceId })
    .from(invoiceDeliveries)
    .where(
      and(
        eq(invoiceDeliveries.connectionId, connectionId),
        or(
          inArray(invoiceDeliveries.externalId, [...externalIds]),
          inArray(invoiceDeliveries.invoiceId, [...invoiceIds]),
        ),
      ),
    );
  return rows.map(({ invoiceId }) => invoiceId);
}
