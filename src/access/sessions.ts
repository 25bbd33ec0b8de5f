/** Lists and ends sessions: everybody their own, and those of all with the permission. */
import { notFound, Refusal } from '../core/errors.ts';
import { cutPage, type KeysetPosition, type Page, type PageRequest } from '../core/paging.ts';
import {
  deleteSession,
  findOwnerOfSession,
  type ListedSession,
  listSessionsOfBothKinds,
} from '../store/access/person-sessions.ts';
import type { AccessContext } from './access-context.ts';
import type { Actor } from './tokens.ts';

export type { ListedSession };

/** The sessions that have not ended, the newest first: those of all with `people:read`, else the caller's own. */
export async function listSessions(
  { db, clock }: Pick<AccessContext, 'db' | 'clock'>,
  actor: Actor,
  { after, limit }: PageRequest,
): Promise<Page<ListedSession, KeysetPosition>> {
  const actorId = actor.permissions.has('people:read') ? null : actor.id;
  const found = await listSessionsOfBothKinds(db, { actorId, now: clock.now(), after, limit: limit + 1 });
  const sorted = found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return cutPage(sorted, limit, ({ createdAt, id }) => ({ at: createdAt, id }));
}

/**
 * Ends a session, in every process. Refuses one that is not there (`not_found`), and another's without `people:write`
 * (`forbidden`).
 */
export async function endSession({ db }: Pick<AccessContext, 'db'>, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const owner = await findOwnerOfSession(tx, id);
    const mayAll = actor.permissions.has('people:write');
    if (owner !== null && owner !== actor.id && !mayAll) {
      throw new Refusal('forbidden', 'This needs the permission people:write, which you do not have');
    }
    if (owner === null) throw notFound('session', id);
    await deleteSession(tx, id);
  });
}
