/**
 * Finds the token with a hash, with a cache of recent lookups.
 *
 * Owns: how long a lookup is trusted, with and without PostgreSQL. Does not own: hashes and expiry (`tokens.ts`).
 *
 * Only ingest relies on the cache while PostgreSQL is available: everything else uses PostgreSQL anyway, so it looks up
 * each time. A process that revokes a token notifies the others (`store/base/notifications.ts`), which drop it.
 */
import { Refusal } from '../core/errors.ts';
import { isStoreUnavailable } from '../core/failures.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { createCache } from '../runtime/cache.ts';
import { within } from '../runtime/time-limit.ts';
import type { Token } from '../store/access/tokens.ts';

/**
 * How long a lookup is trusted. A revoked token could send events for that long if the notification of its revocation
 * was lost.
 */
export const TOKEN_MEMORY_MS = 5 * SECOND_MS;
/**
 * How long a token is accepted while PostgreSQL is unavailable, counted from its last successful lookup. Ingest needs
 * nothing else from PostgreSQL, so events are accepted for that long.
 */
export const TOKEN_OUTAGE_MS = 60 * MINUTE_MS;
/** A lookup that takes longer counts as an outage. Short, because requests wait for it. */
const LOOKUP_LIMIT_MS = SECOND_MS;
/** The limit for a token that is not cached: there is no fallback. */
const FIRST_LOOKUP_LIMIT_MS = 5 * SECOND_MS;
/** The interval between lookups of a cached token during an outage. */
const OUTAGE_RETRY_MS = SECOND_MS;
/** More than a busy service has callers. */
const TOKENS_REMEMBERED_MAX = 1_000;

interface Remembered {
  readonly token: Token;
  /** When PostgreSQL last confirmed it. */
  readonly confirmedAtMs: number;
  readonly trustedUntilMs: number;
  /** The last lookup found PostgreSQL unavailable. */
  readonly isOutage: boolean;
}

export interface TokenLookup {
  /** Resolves to null for a token that does not exist or is revoked. `remembered`: a recent lookup is sufficient. */
  find(sha256: string, from: 'remembered' | 'store'): Promise<Token | null>;
  /** Drops the token from the cache. */
  forget(sha256: string): void;
  /** Forces the next lookup of every token. While PostgreSQL is unavailable, cached tokens are still accepted. */
  distrustAll(): void;
}

/** The cached tokens, and the changes that make a running lookup too old to be cached. */
class RememberedTokens {
  readonly #monotonicMs: () => number;
  readonly #remembered = createCache<string, Remembered>({ name: 'tokens', sizeMax: TOKENS_REMEMBERED_MAX });
  /**
   * Counts changes. A lookup that began before the last change of its token is not cached. One that began before all
   * were distrusted is cached for outages only.
   */
  #changes = 0;
  readonly #changeOf = new Map<string, number>();
  #changeOfAll = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get changes(): number {
    return this.#changes;
  }

  get(sha256: string): Remembered | undefined {
    return this.#remembered.get(sha256);
  }

  isTrusted(known: Remembered): boolean {
    return this.#monotonicMs() < known.trustedUntilMs;
  }

  /** PostgreSQL has it; the lookup began after so many `changes`. */
  confirm(sha256: string, token: Token, changesBefore: number): void {
    if ((this.#changeOf.get(sha256) ?? 0) > changesBefore) {
      this.remove(sha256);
      return;
    }
    const confirmedAtMs = this.#monotonicMs();
    const isTrusted = this.#changeOfAll <= changesBefore;
    const trustedUntilMs = isTrusted ? confirmedAtMs + TOKEN_MEMORY_MS : 0;
    this.#remembered.set(sha256, { token, confirmedAtMs, trustedUntilMs, isOutage: false });
  }

  /** PostgreSQL is unavailable. Returns whether the token still works. */
  keep(sha256: string, known: Remembered): boolean {
    if (this.get(sha256) === undefined) return false;
    const now = this.#monotonicMs();
    if (now - known.confirmedAtMs >= TOKEN_OUTAGE_MS) return false;
    this.#remembered.set(sha256, { ...known, trustedUntilMs: now + OUTAGE_RETRY_MS, isOutage: true });
    return true;
  }

  remove(sha256: string): void {
    this.#remembered.delete(sha256);
  }

  /** It has changed: a running lookup may have read its former state. */
  forget(sha256: string): void {
    this.remove(sha256);
    this.#changes += 1;
    this.#changeOf.set(sha256, this.#changes);
  }

  distrustAll(): void {
    for (const [sha256, known] of this.#remembered.entries())
      this.#remembered.set(sha256, { ...known, trustedUntilMs: 0 });
    this.#changes += 1;
    this.#changeOfAll = this.#changes;
  }
}

/** Unknown tokens are not cached: a new token works at once, and guesses cannot evict real ones. */
export function createTokenLookup(context: {
  find(sha256: string): Promise<Token | null>;
  monotonicMs(): number;
}): TokenLookup {
  const remembered = new RememberedTokens(() => context.monotonicMs());
  /** Running lookups, so that concurrent requests with one token share one. */
  const running = new Map<string, Promise<Token | null>>();

  async function confirm(sha256: string): Promise<Token | null> {
    const known = remembered.get(sha256);
    const changesBefore = remembered.changes;
    try {
      const limitMs = known === undefined ? FIRST_LOOKUP_LIMIT_MS : LOOKUP_LIMIT_MS;
      const token = await within(limitMs, context.find(sha256), 'the token cannot be looked up now');
      if (token === null || token.revokedAt !== null) {
        remembered.remove(sha256);
        return null;
      }
      remembered.confirm(sha256, token, changesBefore);
      return token;
    } catch (error) {
      if (known === undefined || !isOutage(error) || !remembered.keep(sha256, known)) throw error;
      return known.token;
    }
  }

  return {
    async find(sha256, from) {
      const known = remembered.get(sha256);
      // During an outage, also what asks the store relies on the memory for a moment.
      const mayRemember = from === 'remembered' || known?.isOutage === true;
      if (mayRemember && known !== undefined && remembered.isTrusted(known)) return known.token;
      if (from === 'store') return confirm(sha256);
      const asked = running.get(sha256);
      if (asked !== undefined) return asked;
      const confirmed = confirm(sha256).finally(() => {
        if (running.get(sha256) === confirmed) running.delete(sha256);
      });
      running.set(sha256, confirmed);
      return confirmed;
    },
    forget(sha256) {
      remembered.forget(sha256);
      running.delete(sha256);
    },
    distrustAll() {
      remembered.distrustAll();
      running.clear();
    },
  };
}

/** PostgreSQL is unreachable, or does not answer in time. */
function isOutage(error: unknown): boolean {
  return error instanceof Refusal || isStoreUnavailable(error);
}
