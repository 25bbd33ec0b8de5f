/**
 * Who is calling, and may they? Reads the Authorization header and compares scopes.
 *
 * Does not own: looking tokens up (`access/tokens.ts`).
 */
import type { Actor, Authenticate } from '../../access/tokens.ts';
import { Refusal } from '../../core/errors.ts';
import type { RouteScope } from './route.ts';

/** Stands for the caller of a public route, whether it sent a token or not. */
const ANYBODY: Actor = { id: 'anybody', name: 'anybody', scope: 'read' };

/**
 * Returns the caller. Refuses with 401 where the token is missing or not valid, with 403 where its scope
 * does not cover the route: `write` covers everything, `read` and `ingest` only themselves.
 */
export async function authorize(
  authorization: string | undefined,
  scope: RouteScope,
  authenticate: Authenticate,
): Promise<Actor> {
  if (scope === 'public') return ANYBODY;
  const token = /^bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    throw new Refusal('unauthenticated', 'Missing token: send the header "Authorization: Bearer <token>"');
  }
  const actor = await authenticate(token);
  if (actor === null) throw new Refusal('unauthenticated', 'Unknown, expired or revoked token');
  if (actor.scope !== 'write' && actor.scope !== scope) {
    throw new Refusal('forbidden', `This needs a token of scope ${scope}; this one has scope ${actor.scope}`);
  }
  return actor;
}
