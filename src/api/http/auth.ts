/**
 * Authentication and authorization of requests: reads the Authorization header and looks for the permission.
 *
 * Does not own: looking tokens up (`access/tokens.ts`), which operation needs which (`permissions.ts`).
 */
import type { Actor, Authenticate } from '../../access/tokens.ts';
import { Refusal } from '../../core/errors.ts';
import type { Permission } from '../../core/permissions.ts';
import type { RouteScope } from './route.ts';

/** The caller of a public route, with or without a token. */
const ANYBODY: Actor = {
  ...{ id: 'anybody', name: 'anybody', scope: null, permissions: new Set() },
  ...{ email: null, role: null, sessionId: null },
};

/**
 * Returns the caller: that of the token, or where no token is sent that of the session. Refuses a missing or invalid
 * token with 401.
 */
export async function identify(
  authorization: string | undefined,
  scope: RouteScope,
  authenticate: Authenticate,
  session: () => Promise<Actor | null>,
): Promise<Actor> {
  if (scope === 'public') return ANYBODY;
  const token = /^bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    const caller = isEmpty(authorization) ? await session() : null;
    if (caller !== null) return caller;
    throw new Refusal('unauthenticated', 'Missing token: send the header "Authorization: Bearer <token>"');
  }
  // Events are taken without PostgreSQL; everything else uses it anyway.
  const actor = await authenticate(token, scope === 'ingest' ? 'remembered' : 'store');
  if (actor === null) throw new Refusal('unauthenticated', 'Unknown, expired or revoked token');
  return actor;
}

/** Whether the header names no credentials of any kind, so that the session speaks for the caller. */
function isEmpty(authorization: string | undefined): boolean {
  return /^(?:bearer)? *$/i.test(authorization ?? '');
}

/** The refusal (403) of a caller who lacks the permission of the operation, by its name; null if there is none. */
export function permissionRefusal({ scope, permissions }: Actor, needed: Permission | null): Refusal | null {
  if (needed === null || permissions.has(needed)) return null;
  const whose = scope === null ? 'which you do not have' : `which a token of scope ${scope} does not have`;
  return new Refusal('forbidden', `This needs the permission ${needed}, ${whose}`);
}
