/**
 * Creates, lists, rotates and revokes API tokens, for the API, the command and the start of the service.
 *
 * The text of a token is returned once, when the token is created, and is stored nowhere.
 */
import { assert, conflict, invalid, notFound } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Page, PageRequest } from '../core/paging.ts';
import { isPermission, type Permission, type Permissions, SCOPE_PERMISSIONS } from '../core/permissions.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { TokenScope } from '../core/token-scopes.ts';
import { recordSystemChanges, type SystemActor, type SystemChange } from '../store/access/system-changes.ts';
import {
  countIssuedTokens,
  createToken,
  keepConfiguredToken,
  listTokens as listStoredTokens,
  lockToken,
  revokeFormerConfiguredTokens,
  revokeStoredToken,
  type Token,
} from '../store/access/tokens.ts';
import type { Transaction } from '../store/base/database.ts';
import { afterCommit } from '../store/base/request-unit.ts';
import type { AccessContext } from './access-context.ts';
import { refuseMore } from './given-permissions.ts';
import { actorOfToken, hashToken, newTokenText } from './tokens.ts';

export type { Token };

interface NewToken {
  readonly name: string;
  /** Instead of a scope: a list of permissions. */
  readonly scope: TokenScope | readonly Permission[];
  /** Null: it does not expire. */
  readonly expiresAt: Instant | null;
}

/** A token with its text, which cannot be read again. */
export interface IssuedToken {
  readonly token: Token;
  readonly text: string;
}

/**
 * Creates a token. Refuses an expiry in the past (`invalid`), and a permission that is not of the giver's
 * (`forbidden`); null: the operator, who has all.
 */
export async function issueToken(
  context: Pick<AccessContext, 'db' | 'clock'>,
  token: NewToken,
  giver: Permissions | null = null,
): Promise<IssuedToken> {
  refuseMore(giver, permissionsOf(token.scope));
  return await context.db.transaction((tx) => issue(tx, context.clock.now(), token));
}

async function issue(tx: Transaction, now: Instant, wanted: NewToken): Promise<IssuedToken> {
  if (wanted.expiresAt !== null && wanted.expiresAt <= now) {
    throw invalid(['expiresAt'], `must be after ${formatInstant(now)}`);
  }
  const text = newTokenText();
  const token = tokenOf(text, wanted, now);
  const isStored = await createToken(tx, token);
  assert(isStored, 'a fresh token is not in the database yet');
  return { token, text };
}

/** All tokens, revoked and expired ones too, in the order of creation. */
export function listTokens(context: Pick<AccessContext, 'db'>, page: PageRequest): Promise<Page<Token>> {
  return listStoredTokens(context.db, page);
}

/**
 * Revokes a token, in every process. Idempotent. Refuses an unknown token and that of API_TOKEN, which the next start
 * would restore (`conflict`).
 */
export function revokeToken(context: AccessContext, id: string): Promise<Token> {
  return context.db.transaction(async (tx) => {
    const token = await managedToken(tx, id);
    if (token.revokedAt !== null) return token;
    const revokedAt = context.clock.now();
    await revokeStoredToken(tx, token, revokedAt);
    afterCommit(() => context.onRevoked(token.sha256));
    return { ...token, revokedAt };
  });
}

/**
 * Replaces a token by a new one of the same name and scope, and revokes it. `expiresAt`: the expiry of the new one, by
 * default that of the old. Refuses the same as `revokeToken`, a token that is revoked (`conflict`), and one with more
 * permissions than the giver has (`forbidden`).
 */
export async function rotateToken(
  context: AccessContext,
  id: string,
  {
    expiresAt,
    giver = null,
  }: { readonly expiresAt: Instant | null | undefined; readonly giver?: Permissions | null },
): Promise<IssuedToken> {
  return context.db.transaction(async (tx) => {
    const token = await managedToken(tx, id);
    refuseMore(giver, actorOfToken(token).permissions);
    if (token.revokedAt !== null) throw conflict(`token ${id} is revoked`);
    const now = context.clock.now();
    const { name } = token;
    const scope = token.permissions === null ? token.scope : token.permissions.filter(isPermission);
    const end = expiresAt === undefined ? token.expiresAt : expiresAt;
    const issued = await issue(tx, now, { name, scope, expiresAt: end });
    await revokeStoredToken(tx, token, now);
    afterCommit(() => {
      context.onRevoked(token.sha256);
      context.onReplaced((text) => hashToken(text) === token.sha256, issued.text);
    });
    return issued;
  });
}

function permissionsOf(scope: NewToken['scope']): Iterable<Permission> {
  return typeof scope === 'string' ? SCOPE_PERMISSIONS[scope] : scope;
}

async function managedToken(tx: Transaction, id: string): Promise<Token> {
  const token = await lockToken(tx, id);
  if (token === null) throw notFound('token', id);
  if (token.origin === 'api_token') {
    throw conflict(`token ${id} comes from API_TOKEN: change or remove the variable and restart`);
  }
  return token;
}

/**
 * Brings the tokens in line with the configuration. A configured token (`API_TOKEN`) gets scope `write` and is valid
 * while it is configured: the formerly configured one is revoked. Without a configured token, and only if this service
 * has never created one, the token from `firstToken` is stored. `firstToken` must save its token before returning it,
 * so that a crash does not leave a stored token whose text is lost.
 *
 * Returns the text of a first token that this call stored, for the caller to print; otherwise null.
 */
export async function ensureFirstToken(
  context: Pick<AccessContext, 'db' | 'clock'> & {
    readonly apiToken: string | undefined;
    firstToken(): Promise<{ readonly token: string }>;
  },
): Promise<string | null> {
  const { apiToken } = context;
  const now = context.clock.now();
  await context.db.transaction(async (tx) => {
    const kept = apiToken === undefined ? null : configuredToken(apiToken, now);
    const revoked = await revokeFormerConfiguredTokens(tx, kept?.sha256 ?? null, now);
    const added = kept === null ? null : await keepConfiguredToken(tx, kept);
    await recordSystemChanges(tx, START, now, [
      ...revoked.map((id) => tokenChange('revokeToken', id)),
      ...(added === null ? [] : [tokenChange('createToken', added)]),
    ]);
  });
  if (apiToken !== undefined || (await countIssuedTokens(context.db)) > 0) return null;
  const { token: text } = await context.firstToken();
  const wanted = { name: 'first token', scope: 'write', expiresAt: null } as const;
  return context.db.transaction(async (tx) => {
    const token = tokenOf(text, wanted, now);
    if (!(await createToken(tx, token))) return null;
    await recordSystemChanges(tx, START, now, [tokenChange('createToken', token.id)]);
    return text;
  });
}

const START: SystemActor = { kind: 'start', name: 'tallyhouse' };

function tokenChange(action: 'createToken' | 'revokeToken', resourceId: string): SystemChange {
  const description =
    action === 'createToken' ? 'Take up the token of the start' : 'Revoke the former API_TOKEN';
  return { action, resourceType: 'token', resourceId, description };
}

function configuredToken(text: string, now: Instant): Token {
  const token = tokenOf(text, { name: 'API_TOKEN', scope: 'write', expiresAt: null }, now);
  return { ...token, origin: 'api_token' };
}

function tokenOf(text: string, { name, scope, expiresAt }: NewToken, now: Instant): Token {
  return {
    id: newId(),
    name,
    sha256: hashToken(text),
    scope: typeof scope === 'string' ? scope : 'ingest',
    permissions: typeof scope === 'string' ? null : [...new Set(scope)],
    origin: 'issued',
    createdAt: now,
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
}
