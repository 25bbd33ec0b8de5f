/**
 * The start of event retention (docs/explanation/events.md, "Retention"). All events before are removed, or being
 * removed.
 *
 * Work that needs events of the past holds the row (`for share`) until its transaction ends; moving the start waits for
 * such transactions, and then sees their writes.
 */
import { and, asc, eq, gt, isNotNull, isNull, lt, notExists, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { sentTogether } from '../base/sent-together.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { customers } from '../customers/customers.tables.ts';
import { invoices } from '../invoices/invoices.tables.ts';
import { eventRetention } from './event-retention.tables.ts';

export interface EventRetention {
  readonly keptFrom: Instant;
  /** In real time. */
  readonly announcedAt: Instant;
}

/** Null while all events are kept. */
export async function findEventRetention(db: Database | Transaction): Promise<EventRetention | null> {
  const [row] = await retention(db, {});
  return row ?? null;
}

const retention = builtOnce((db) => db.select().from(eventRetention).prepare(''));

/** Prevents changes of `keptFrom` until the transaction ends. */
export async function holdEventRetention(tx: Transaction): Promise<EventRetention | null> {
  // The row need not exist yet.
  const [, retention] = await sentTogether(
    () => tx.execute(sql`select pg_advisory_xact_lock_shared(${LOCKS.eventRetention})`),
    () => findEventRetention(tx),
  );
  return retention;
}

/** Waits for transactions that hold the row, and prevents new holds until the transaction ends. */
export async function lockEventRetention(tx: Transaction): Promise<EventRetention | null> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.eventRetention})`);
  return findEventRetention(tx);
}

/** Moves the start of retention forward. */
export async function moveEventRetention(tx: Transaction, to: EventRetention): Promise<void> {
  await tx
    .insert(eventRetention)
    .values({ id: 1, ...to })
    .onConflictDoUpdate({
      target: eventRetention.id,
      set: to,
      setWhere: lt(eventRetention.keptFrom, to.keptFrom),
    });
}

const regenerated = alias(invoices, 'regenerated');

/** The first void usage invoice that could be regenerated; null without any. */
export async function firstRegenerable(
  tx: Transaction,
): Promise<{ readonly id: string; readonly countedFrom: Instant } | null> {
  const from = sql<Instant>`coalesce(${invoices.countedFrom}, ${invoices.periodStart})`;
  const [row] = await tx
    .select({ id: invoices.id, countedFrom: invoices.countedFrom, periodStart: invoices.periodStart })
    .from(invoices)
    .innerJoin(contracts, eq(contracts.id, invoices.contractId))
    .innerJoin(customers, eq(customers.id, invoices.customerId))
    .where(
      and(
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'VOID'),
        eq(invoices.isHistorical, false),
        isNull(contracts.archivedAt),
        isNull(customers.erasedAt),
        notExists(
          tx
            .select({ id: regenerated.id })
            .from(regenerated)
            .where(eq(regenerated.regeneratedFromInvoiceId, invoices.id)),
        ),
      ),
    )
    .orderBy(asc(from))
    .limit(1);
  return row === undefined ? null : { id: row.id, countedFrom: row.countedFrom ?? row.periodStart };
}

/** Ids of the contracts after `after` that bill usage, ascending. */
export async function billedContractIds(
  tx: Transaction,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .select({ id: contracts.id })
    .from(contracts)
    .where(
      and(
        isNull(contracts.archivedAt),
        isNotNull(contracts.rateCardId),
        after === null ? undefined : gt(contracts.id, after),
      ),
    )
    .orderBy(asc(contracts.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}
