/**
 * Keeps requests of an account within Stripe's published rates: of the account as a whole, and of each endpoint.
 * Requests to one endpoint are sent in order of arrival.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../core/time.ts';
import { createSerialQueue, type SerialQueue } from '../../runtime/serial-queue.ts';
import { ProviderProblem } from '../provider.ts';

/** Requests per second. */
export interface StripeRates {
  readonly account: number;
  readonly endpoint: number;
}

/** For a live key, and for a test key. https://docs.stripe.com/rate-limits, November 2026. */
export const LIVE_RATES: StripeRates = { account: 100, endpoint: 25 };
export const TEST_RATES: StripeRates = { account: 25, endpoint: 25 };

/** A request that would have to wait longer is not sent: the caller retries later. */
const WAIT_MAX_MS = 15 * SECOND_MS;

/** Requests arrive up to 50 ms closer to each other than they are sent. */
const WINDOW_MS = 1_050;

/** The code of a request that was not sent because of this limit. */
export const OWN_LIMIT = 'own_limit';

/** The polling interval of a request that waits for another one to be sent. */
const LOOK_MS = 5;

export interface RateLimit {
  /**
   * Resolves when the next request to the endpoint may be sent. Throws `ProviderProblem` if the wait is too long.
   * `before` is awaited when it is the request's turn; the request counts from its end.
   */
  turn(endpoint: string, before?: () => Promise<unknown>): Promise<void>;
  /** Pauses all requests for this time, including waiting ones. */
  rest(ms: number): void;
}

/** A request of the last second: when it was sent; infinite: it is about to be sent. */
interface Sent {
  at: number;
}

/** The requests of an account, or of an endpoint, within the last second. */
interface Lane {
  readonly rate: number;
  sent: Sent[];
}

export function createRateLimit({ account, endpoint: each }: StripeRates): RateLimit {
  let restUntil = 0;
  let waiting = 0;
  const all: Lane = { rate: account, sent: [] };
  const endpoints = new Map<string, Lane & { readonly queue: SerialQueue }>();

  /** The first request of its endpoint waits until both lanes have room. */
  async function first(own: Lane, queuedMs: number): Promise<Sent> {
    for (;;) {
      const now = performance.now();
      const at = Math.max(restUntil, nextOf(own, now), nextOf(all, now));
      if (at <= now) {
        const request = { at: Number.POSITIVE_INFINITY };
        own.sent.push(request);
        all.sent.push(request);
        return request;
      }
      if (at - queuedMs > WAIT_MAX_MS) throw tooMany(at - now);
      await pause(Math.max(at - now, 1));
    }
  }

  return {
    async turn(endpoint, before) {
      const own = endpoints.get(endpoint) ?? {
        rate: each,
        sent: [],
        queue: createSerialQueue('requests to Stripe'),
      };
      endpoints.set(endpoint, own);
      const queuedMs = performance.now();
      const wait =
        Math.max(own.queue.figures().waiting / each, waiting / account) * WINDOW_MS +
        Math.max(restUntil - queuedMs, 0);
      if (wait > WAIT_MAX_MS) throw tooMany(wait);
      waiting += 1;
      const request = await own.queue
        .run(() => first(own, queuedMs))
        .finally(() => {
          waiting -= 1;
        });
      try {
        await before?.();
      } finally {
        request.at = performance.now();
      }
    },
    rest(ms) {
      restUntil = Math.max(restUntil, performance.now() + ms);
    },
  };
}

/** When the lane has room for one more, by current knowledge. */
function nextOf(lane: Lane, now: number): number {
  lane.sent = lane.sent.filter(({ at }) => at > now - WINDOW_MS);
  const surplus = lane.sent.length - lane.rate;
  if (surplus < 0) return now;
  const at = lane.sent.map((request) => request.at).sort((a, b) => a - b)[surplus] ?? now;
  return Number.isFinite(at) ? at + WINDOW_MS : now + LOOK_MS;
}

function tooMany(retryAfterMs: number): ProviderProblem {
  return new ProviderProblem('busy', 'Stripe: too many requests', { code: OWN_LIMIT, retryAfterMs });
}
