/**
 * API tokens: the text of a token, its hash, and the caller that it identifies.
 *
 * Does not own: creating and revoking them (`manage-tokens.ts`), rows (`store/access/tokens.ts`), the memory of recent
 * lookups (`token-lookup.ts`), the Authorization header and the scopes of routes (`api/http/auth.ts`).
 */
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { isPermission, type Permissions, SCOPE_PERMISSIONS } from '../core/permissions.ts';
import { type Instant, SECOND_MS } from '../core/time.ts';
import type { TokenScope } from '../core/token-scopes.ts';
import { createPoll, ignoreFailure } from '../runtime/poll.ts';
import { createSerialQueue } from '../runtime/serial-queue.ts';
import { findTokenBySha256, noteUses, type Token } from '../store/access/tokens.ts';
import type { Database } from '../store/base/database.ts';
import { asIdentification } from '../store/base/request-unit.ts';
import { createTokenLookup } from './token-lookup.ts';

/** The caller of a request. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  /** Null: a token with a list of permissions. */
  readonly scope: TokenScope | null;
  readonly permissions: Permissions;
  /** A person’s address and roles; null for a token. */
  readonly email: string | null;
  readonly role: string | null;
  /** Null: the request has a token. */
  readonly sessionId: string | null;
}

/**
 * Resolves to null for a token that is unknown, expired or revoked. `remembered`: accepts a cached lookup, for requests
 * that do not use PostgreSQL.
 */
export type Authenticate = (token: string, from: 'remembered' | 'store') => Promise<Actor | null>;

export interface Authenticator {
  readonly authenticate: Authenticate;
  /** Drops a changed token, by the SHA-256 from the channel of `store/access/tokens.ts`. */
  forget(sha256: string): void;
  /** Records that a session of the console used a token. */
  noteUse(tokenId: string, now: Instant): void;
  /** Called when changes may have been missed. */
  distrustAll(): void;
  /** Writes when tokens were used; also runs every few seconds. */
  flushUses(): Promise<void>;
  /** Writes the last uses. */
  close(): Promise<void>;
}

/**
 * Identifies callers by their tokens, with few queries (`token-lookup.ts`). Expiry is checked against the service's
 * clock on every request.
 */
export function createAuthenticator(context: {
  readonly db: Database;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}): Authenticator {
  const lookup = createTokenLookup({
    find: (sha256) => asIdentification(() => findTokenBySha256(context.db, sha256)),
    monotonicMs: context.monotonicMs ?? (() => performance.now()),
  });
  const uses = createTokenUses({ write: (noted) => noteUses(context.db, noted) });
  return {
    async authenticate(text, from) {
      const token = await lookup.find(hashToken(text), from);
      const now = context.clock.now();
      if (token === null || !isUsable(token, now)) return null;
      uses.note(token.id, now);
      return actorOfToken(token);
    },
    forget: lookup.forget,
    noteUse: uses.note,
    distrustAll: lookup.distrustAll,
    flushUses: uses.flush,
    close: uses.close,
  };
}

/** The caller that the token identifies. */
export function actorOfToken({ id, name, scope, permissions }: Token): Actor {
  const own = { id, name, email: null, role: null, sessionId: null };
  if (permissions === null) return { ...own, scope, permissions: SCOPE_PERMISSIONS[scope] };
  return { ...own, scope: null, permissions: new Set(permissions.filter(isPermission)) };
}

/** Whether the token is neither revoked nor expired. */
export function isUsable(token: Pick<Token, 'expiresAt' | 'revokedAt'>, now: Instant): boolean {
  return token.revokedAt === null && (token.expiresAt === null || token.expiresAt > now);
}

/** SHA-256 in lower-case hex. Tokens are random, so an unsalted hash cannot be reversed by guessing. */
export function hashToken(text: string): string {
  return hash('sha256', text, 'hex');
}

/** 24 random bytes. */
export function newTokenText(): string {
  return `th_${randomBytes(24).toString('base64url')}`;
}

const FLUSH_INTERVAL_MS = 10 * SECOND_MS;

interface TokenUses {
  note(tokenId: string, at: Instant): void;
  /** Resolves when the recorded uses are written, or could not be: then they are kept for the next flush. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** When tokens were last used, written in batches a few seconds late. A crash loses the uses of the last seconds only. */
function createTokenUses(context: { write(uses: ReadonlyMap<string, Instant>): Promise<void> }): TokenUses {
  let noted = new Map<string, Instant>();
  const writes = createSerialQueue('uses of tokens');

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await context.write(uses);
    } catch {
      // PostgreSQL is unavailable: newer uses take precedence over pending ones.
      noted = new Map([...uses, ...noted]);
    }
  }

  const flush = () => writes.run(write);
  const poll = createPoll({
    name: 'uses of tokens',
    intervalMs: FLUSH_INTERVAL_MS,
    work: flush,
    onFailure: ignoreFailure,
  });
  poll.start();
  return {
    note(tokenId, at) {
      noted.set(tokenId, at);
    },
    flush,
    async close() {
      await poll.close();
      await flush();
    },
  };
}
