/**
 * Rows of the audit log for what the service changes by itself: its jobs, its evaluations, its start, and the commands
 * of its operator. They are written in the transaction of the change.
 *
 * Does not own: the rows of requests (`access/audit.ts`).
 */
import { newId } from '../../core/ids.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { auditLog } from './audit-log.tables.ts';

type SystemActorKind = 'job' | 'evaluation' | 'command' | 'start';

/** The actor of a change, such as the job `number_invoices`. */
export interface SystemActor {
  readonly kind: SystemActorKind;
  readonly name: string;
}

export interface SystemChange {
  /** In the form of request actions: a verb and its object. */
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly description: string;
}

/**
 * Adds a row for each change; they share a new request id. `at`: by the clock of the service. Call it last in
 * the transaction, as for requests.
 */
export async function recordSystemChanges(
  tx: Transaction,
  { kind, name }: SystemActor,
  at: Instant,
  changes: readonly SystemChange[],
): Promise<void> {
  const requestId = newId();
  const rows = changes.map((change) => ({
    ...change,
    id: newId(),
    at,
    actorId: `${kind}:${name}`,
    actorName: `${kind} ${name}`,
    requestId,
    ip: null,
    userAgent: null,
    status: 'success' as const,
  }));
  await insertRows(tx, auditLog, rows);
}
