/**
 * Finds the token with a hash, with a memory of the tokens found lately.
 *
 * Owns: how long a lookup is trusted, and how long without PostgreSQL. Does not own: hashes and expiry
 * (`tokens.ts`).
 */
import { Refusal } from '../core/errors.ts';
import { isStoreUnavailable } from '../core/failures.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { within } from '../core/time-limit.ts';
import type { Token } from '../store/tokens.ts';

/** How long a lookup is trusted without another one. A revoked token is accepted for at most that long. */
export const TOKEN_MEMORY_MS = 5 * SECOND_MS;
/**
 * How long a token works while PostgreSQL is unavailable, counted from its last successful lookup. Ingest needs
 * nothing else of PostgreSQL, so events are accepted for that long.
 */
export const TOKEN_OUTAGE_MS = 60 * MINUTE_MS;
/** A lookup that takes longer counts as an outage. Short, because requests wait for it. */
const LOOKUP_LIMIT_MS = SECOND_MS;
/** Between lookups of a remembered token during an outage. */
const OUTAGE_RETRY_MS = SECOND_MS;
/** More than a busy service has callers. When the memory is full, the oldest entry is evicted. */
const TOKENS_REMEMBERED_MAX = 1_000;

interface Remembered {
  readonly token: Token;
  /** When PostgreSQL confirmed it last. */
  readonly confirmedAtMs: number;
  readonly trustedUntilMs: number;
}

/** Resolves to null for a token that does not exist or is revoked. */
export type TokenLookup = (sha256: string) => Promise<Token | null>;

/** Unknown tokens are not remembered: a new token works at once, and guesses cannot evict real ones. */
export function createTokenLookup(deps: {
  find(sha256: string): Promise<Token | null>;
  monotonicMs(): number;
}): TokenLookup {
  const remembered = new Map<string, Remembered>();
  /** Running lookups, so that many requests with one token ask once. */
  const running = new Map<string, Promise<Token | null>>();

  function remember(sha256: string, token: Token, confirmedAtMs: number, trustedForMs: number): void {
    remembered.delete(sha256);
    const [oldest] = remembered.keys();
    if (remembered.size >= TOKENS_REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(sha256, { token, confirmedAtMs, trustedUntilMs: deps.monotonicMs() + trustedForMs });
  }

  async function confirm(sha256: string): Promise<Token | null> {
    const known = remembered.get(sha256);
    try {
      const token = await within(LOOKUP_LIMIT_MS, deps.find(sha256), 'the token cannot be looked up now');
      remembered.delete(sha256);
      if (token === null || token.revokedAt !== null) return null;
      remember(sha256, token, deps.monotonicMs(), TOKEN_MEMORY_MS);
      return token;
    } catch (error) {
      if (known === undefined || !isOutage(error)) throw error;
      if (deps.monotonicMs() - known.confirmedAtMs >= TOKEN_OUTAGE_MS) throw error;
      remember(sha256, known.token, known.confirmedAtMs, OUTAGE_RETRY_MS);
      return known.token;
    }
  }

  return async (sha256) => {
    const known = remembered.get(sha256);
    if (known !== undefined && deps.monotonicMs() < known.trustedUntilMs) return known.token;
    const asked = running.get(sha256);
    if (asked !== undefined) return asked;
    const confirmed = confirm(sha256).finally(() => running.delete(sha256));
    running.set(sha256, confirmed);
    return confirmed;
  };
}

/** PostgreSQL is unreachable, or does not answer in time. */
function isOutage(error: unknown): boolean {
  return error instanceof Refusal || isStoreUnavailable(error);
}
