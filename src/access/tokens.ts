/**
 * API tokens: making one, and telling whom a presented one belongs to.
 *
 * Owns: the text of a token, its hash, the short memory of tokens just looked up. Does not own: rows
 * (`store/tokens.ts`), the Authorization header and scopes of routes (`api/http/auth.ts`).
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { assert } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { type Instant, SECOND_MS } from '../core/time.ts';
import type { Database } from '../store/database.ts';
import { countTokens, createToken, findTokenBySha256, type Token, type TokenScope } from '../store/tokens.ts';

export type { TokenScope };

/** Whoever sent a request. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
}

/** Resolves to null for a token that is unknown, expired or revoked. */
export type Authenticate = (token: string) => Promise<Actor | null>;

/** How long a token that has been revoked may still be accepted by a process that has just seen it. */
export const TOKEN_MEMORY_MS = 5 * SECOND_MS;
/** Enough for every caller of a busy service; the oldest entry makes room for a new one. */
const TOKENS_REMEMBERED_MAX = 1_000;

interface TokenDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * Looks tokens up by hash and remembers the ones found for five seconds of real time, so that ingest
 * does not ask the database at every request. Unknown tokens are not remembered: a new one works at once,
 * and guessing cannot push the real ones out. Expiry is judged by the service's clock at each request.
 */
export function createAuthenticator(deps: TokenDeps & { readonly monotonicMs?: () => number }): Authenticate {
  const monotonicMs = deps.monotonicMs ?? (() => performance.now());
  const remembered = new Map<string, { readonly token: Token; readonly seenAtMs: number }>();
  return async (text) => {
    const sha256 = hashToken(text);
    const entry = remembered.get(sha256);
    if (entry !== undefined && monotonicMs() - entry.seenAtMs < TOKEN_MEMORY_MS) {
      return actorOf(entry.token, deps.clock.now());
    }
    remembered.delete(sha256);
    const token = await findTokenBySha256(deps.db, sha256);
    if (token === null || token.revokedAt !== null) return null;
    const [oldest] = remembered.keys();
    if (remembered.size >= TOKENS_REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(sha256, { token, seenAtMs: monotonicMs() });
    return actorOf(token, deps.clock.now());
  };
}

function actorOf(token: Token, now: Instant): Actor | null {
  if (token.expiresAt !== null && token.expiresAt <= now) return null;
  return { id: token.id, name: token.name, scope: token.scope };
}

/** SHA-256 in lower-case hex. Tokens are random, so that a plain hash cannot be reversed by guessing. */
function hashToken(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Makes a token and stores its hash. The returned text is shown once and kept nowhere. */
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
 * Makes sure that somebody can call the API. A configured token (`API_TOKEN`) is stored if it is new and
 * gets scope `write`; changing it adds a token and takes none away. Without one, and only while there is
 * no token at all, the token of `firstToken` is stored, which must have been kept somewhere before it is
 * returned: a crash in between then leaves nothing that nobody knows.
 *
 * Returns the text of a first token that was stored now, for the caller to print; null where none was.
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
