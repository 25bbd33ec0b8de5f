/**
 * The audit log: a row for every request that changes something, or tried to, with who, what, which resource and from
 * where.
 *
 * Owns: the content of a row. Does not own: when it is written (`request-records.ts`), rows
 * (`store/access/audit-log.ts`).
 */
import type { Clock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { Page, PageRequest } from '../core/paging.ts';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditPosition,
  endOfLog,
  insertAuditEntry,
  listAuditEntries,
} from '../store/access/audit-log.ts';
import type { Database, Transaction } from '../store/base/database.ts';
import type { Actor } from './tokens.ts';

export type { AuditEntry, AuditFilter, AuditPosition };

/** The name that a client sends, cut to a useful length. */
const USER_AGENT_LENGTH_MAX = 500;
/** Longer than any id. */
const RESOURCE_ID_LENGTH_MAX = 200;

/** The audited facts of a request. */
export interface AuditedRequest {
  readonly actor: Pick<Actor, 'id' | 'name' | 'email' | 'role'>;
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly action: string;
}

export interface AuditedResult {
  readonly status: 'success' | 'failure';
  readonly resourceType: string;
  readonly resourceId: string | null;
  readonly description: string;
}

export type WriteAudit = (
  db: Database | Transaction,
  request: AuditedRequest,
  result: AuditedResult,
) => Promise<void>;

export function createAudit({ clock }: { readonly clock: Clock }): WriteAudit {
  return async (db, { actor, userAgent, ...request }, { resourceId, ...result }) => {
    await insertAuditEntry(db, {
      ...request,
      ...result,
      id: newId(),
      at: clock.now(),
      actorId: actor.id,
      actorName: actor.name,
      actorEmail: actor.email,
      actorRole: actor.role,
      userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      resourceId: resourceId !== null && isKept(resourceId) ? resourceId : null,
    });
  };
}

/** Resource ids are sent by clients. PostgreSQL stores no text with a NUL or an unpaired surrogate. */
function isKept(resourceId: string): boolean {
  return resourceId.length <= RESOURCE_ID_LENGTH_MAX && !/\0|\p{Surrogate}/u.test(resourceId);
}

/**
 * A page of the log. `next` is always set: a reader stores it and continues later, and no row appears before it
 * (`store/access/audit-log.ts`).
 */
export async function listAudit(
  db: Database,
  filter: AuditFilter,
  order: 'asc' | 'desc',
  page: PageRequest<AuditPosition>,
): Promise<Page<AuditEntry, AuditPosition> & { readonly next: AuditPosition }> {
  const { rows, next } = await listAuditEntries(db, filter, order, page);
  return { rows, next: next ?? page.after ?? endOfLog(order) };
}
