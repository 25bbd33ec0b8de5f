/** The states of alerts (docs/explanation/notifications.md, "Alerts"). */
import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import type { AlertState } from '../../core/alerts.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { LOCK_FAMILIES } from '../base/lock-numbers.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { alertStates } from './alerts.tables.ts';

export interface StoredAlertState {
  readonly alertId: string;
  readonly customerId: string;
  readonly target: string;
  readonly state: AlertState;
  readonly isTold: boolean;
  readonly since: Instant | null;
  readonly updatedAt: Instant;
}

/** A state as it is stored. */
interface ReadAlertState extends StoredAlertState {
  /** The transaction that has written it: it changes with each write, even of the same values. */
  readonly writtenBy: string;
}

/**
 * Serializes changes of the states of these customers until the transaction ends. Locks in the order of ids, so that
 * two transactions cannot deadlock.
 */
export async function lockAlertStates(tx: Transaction, customerIds: readonly string[]): Promise<void> {
  for (const id of [...new Set(customerIds)].sort()) {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK_FAMILIES.alertStates}, hashtext(${id}))`);
  }
}

/** The states of these alerts and customers. */
export async function loadAlertStates(
  db: Database | Transaction,
  alertIds: readonly string[],
  customerIds: readonly string[],
): Promise<ReadAlertState[]> {
  if (alertIds.length === 0 || customerIds.length === 0) return [];
  return db
    .select({ ...getTableColumns(alertStates), writtenBy: sql<string>`xmin::text` })
    .from(alertStates)
    .where(
      and(inArray(alertStates.customerId, [...customerIds]), inArray(alertStates.alertId, [...alertIds])),
    );
}

/** Replaces all states of an alert of a customer. */
export async function replaceAlertStates(
  tx: Transaction,
  of: readonly { readonly alertId: string; readonly customerId: string; readonly isNew: boolean }[],
  rows: readonly StoredAlertState[],
): Promise<void> {
  for (const { alertId, customerId, isNew } of of) {
    if (isNew) continue;
    await tx
      .delete(alertStates)
      .where(and(eq(alertStates.alertId, alertId), eq(alertStates.customerId, customerId)));
  }
  for (const chunk of rowsPerInsert(rows)) await tx.insert(alertStates).values(chunk);
}
