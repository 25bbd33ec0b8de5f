/**
 * Keeps requests of an account within the rates that Stripe publishes: of the account as a whole, and of each endpoint.
 * Requests wait in the order in which they come.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../core/time.ts';
import { ProviderProblem } from '../provider.ts';

/** Requests in a second. */
export interface StripeRates {
  readonly account: number;
  readonly endpoint: number;
}

/** With a live key, and with a test key. https://docs.stripe.com/rate-limits, November 2026. */
export const LIVE_RATES: StripeRates = { account: 100, endpoint: 25 };
export const TEST_RATES: StripeRates = { account: 25, endpoint: 25 };

/** A request that had to wait longer is not sent: whoever wants it comes back. */
const WAIT_MAX_MS = 15 * SECOND_MS;

export interface RateLimit {
  /** Resolves when the next request to the endpoint may be sent. Throws `ProviderProblem` if that is too late. */
  turn(endpoint: string): Promise<void>;
  /** Nothing is sent for so long. */
  rest(ms: number): void;
}

export function createRateLimit({ account, endpoint: each }: StripeRates): RateLimit {
  let accountNext = 0;
  const endpointNext = new Map<string, number>();
  return {
    async turn(endpoint) {
      const now = performance.now();
      const at = Math.max(now, accountNext, endpointNext.get(endpoint) ?? 0);
      if (at - now > WAIT_MAX_MS) {
        throw new ProviderProblem('busy', 'Stripe: too many requests', { retryAfterMs: at - now });
      }
      accountNext = Math.max(accountNext, now) + SECOND_MS / account;
      endpointNext.set(endpoint, at + SECOND_MS / each);
      if (at > now) await pause(at - now);
    },
    rest(ms) {
      accountNext = Math.max(accountNext, performance.now() + ms);
    },
  };
}
