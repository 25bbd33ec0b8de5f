/**
 * API tokens: issuing them, and finding the caller that a token identifies.
 *
 * Owns: the text of a token, its hash, its expiry. Does not own: rows (`store/tokens.ts`), the memory of recent
 * lookups (`token-lookup.ts`), the Authorization header and the scopes of routes (`api/http/auth.ts`).
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { assert } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Instant } from '../core/time.ts';
import type { Database } from '../store/database.ts';
import { countTokens, createToken, findTokenBySha256, type Token, type TokenScope } from '../store/tokens.ts';
import { createTokenLookup } from './token-lookup.ts';

export type { TokenScope };

/** The caller of a request. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
}

/** Resolves to null for a token that is unknown, expired or revoked. */
export type Authenticate = (token: string) => Promise<Actor | null>;

interface TokenDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * Identifies callers by their tokens, with few queries (`token-lookup.ts`). Expiry is checked against the service's
 * clock on every request.
 */
export function createAuthenticator(deps: TokenDeps & { readonly monotonicMs?: () => number }): Authenticate {
  const lookup = createTokenLookup({
    find: (sha256) => findTokenBySha256(deps.db, sha256),
    monotonicMs: deps.monotonicMs ?? (() => performance.now()),
  });
  return async (text) => {
    const token = await lookup(hashToken(text));
    return token === null ? null : actorOf(token, deps.clock.now());
  };
}

function actorOf(token: Token, now: Instant): Actor | null {
  if (token.expiresAt !== null && token.expiresAt <= now) return null;
  return { id: token.id, name: token.name, scope: token.scope };
}

/** SHA-256 in lower-case hex. Tokens are random, so an unsalted hash cannot be reversed by guessing. */
function hashToken(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Creates a token, stores its hash and returns its text, which is not stored. */
export async function issueToken(
  deps: TokenDeps,
  token: { readonly name: string; readonly scope: TokenScope; readonly expiresAt: Instant | null },
): Promise<string> {
  const text = `th_${randomBytes(24).toString('base64url')}`;
  const stored = await storeToken(deps, text, token);
  assert(stored, 'a fresh token is not in the database yet');
  return text;
}

/**
 * Ensures that the database has a token for the API. A configured token (`API_TOKEN`) is stored if it is new
 * and gets scope `write`; changing it adds a token and revokes none. Without a configured token, and only
 * while there is no token at all, the token from `firstToken` is stored. `firstToken` must save its token
 * before returning it, so that a crash does not leave a stored token whose text is lost.
 *
 * Returns the text of a first token that this call stored, for the caller to print; otherwise null.
 */
export async function ensureFirstToken(
  deps: TokenDeps & {
    readonly apiToken: string | undefined;
    firstToken(): Promise<{ readonly token: string }>;
  },
): Promise<string | null> {
  if (deps.apiToken !== undefined) {
    await storeToken(deps, deps.apiToken, { name: 'API_TOKEN', scope: 'write', expiresAt: null });
    return null;
  }
  if ((await countTokens(deps.db)) > 0) return null;
  const { token } = await deps.firstToken();
  await storeToken(deps, token, { name: 'first token', scope: 'write', expiresAt: null });
  return token;
}

async function storeToken(
  deps: TokenDeps,
  text: string,
  token: { readonly name: string; readonly scope: TokenScope; readonly expiresAt: Instant | null },
): Promise<boolean> {
  return createToken(deps.db, {
    id: newId(),
    name: token.name,
    sha256: hashToken(text),
    scope: token.scope,
    createdAt: deps.clock.now(),
    expiresAt: token.expiresAt,
    revokedAt: null,
  });
}
