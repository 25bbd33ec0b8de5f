/**
 * Requests to one account of Stripe, with the official client: each within the published rates and with a fresh
 * idempotency key. The client repeats a request only if its connection was closed before an answer. Stripe replays
 * errors of a key for a day, so a retry with the same key would get an old error; after doubt the object is looked up
 * instead.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { SECOND_MS } from '../../core/time.ts';
import { createScopeKey } from '../../runtime/request-scope.ts';
import { retry } from '../../runtime/retry.ts';
import { type Note, ProviderProblem } from '../provider.ts';
import { createRateLimit, LIVE_RATES, OWN_LIMIT, type StripeRates, TEST_RATES } from './rate-limit.ts';

/** The API version of the client and its types. */
const API_VERSION = '2026-10-28.endive';

/** Longer than Stripe takes for an invoice of 250 lines, shorter than a lease. */
const REQUEST_TIMEOUT_MS = 20 * SECOND_MS;

/** The pause after a rate-limit answer without `Retry-After`. */
const REST_MS = SECOND_MS;

/** The pause before a locked object is tried again. */
const LOCKED_MS = 500;

/** A rate-limited call was not executed, so it is sent again at once, up to this many times. */
const BUSY_TRIES_MAX = 3;
/** A longer wait is left to the next attempt. */
const BUSY_WAIT_MAX_MS = 10 * SECOND_MS;

export interface StripeAccount {
  readonly apiKey: string;
  /** Replaces `https://api.stripe.com`. */
  readonly baseUrl: string | undefined;
  readonly rates?: StripeRates | undefined;
  readonly timeoutMs?: number | undefined;
}

type RequestOutcome = 'answered' | 'refused' | 'busy' | 'unclear';

export interface StripeAccess {
  /**
   * Sends one request. Throws `ProviderProblem`. `endpoint`: such as `POST /v1/invoices`. `before` is awaited when it
   * is the request's turn; if it throws, nothing is sent.
   */
  request<Result>(
    endpoint: string,
    send: (client: Stripe, options: Stripe.RequestOptions) => Promise<Result>,
    before?: () => Promise<unknown>,
  ): Promise<Result>;
  /** Requests since the start of this process. */
  readonly counts: Readonly<Record<RequestOutcome, number>>;
}

/** Whether the key is for test mode. */
export function isTestKey(apiKey: string): boolean {
  return apiKey.includes('_test_');
}

export function createStripeAccess({ apiKey, baseUrl, rates, timeoutMs }: StripeAccount): StripeAccess {
  const limit = createRateLimit(rates ?? (isTestKey(apiKey) ? TEST_RATES : LIVE_RATES));
  const counts = { answered: 0, refused: 0, busy: 0, unclear: 0 };
  let client: Promise<Stripe> | undefined;

  async function once<Result>(
    endpoint: string,
    send: (client: Stripe, options: Stripe.RequestOptions) => Promise<Result>,
    before?: () => Promise<unknown>,
  ): Promise<Result> {
    client ??= connect(apiKey, baseUrl, timeoutMs ?? REQUEST_TIMEOUT_MS);
    const connected = await client;
    await limit.turn(endpoint, before);
    const options = endpoint.startsWith('POST') ? { idempotencyKey: randomUUID() } : {};
    const sending = { isSent: false };
    try {
      const result = await SENDING.run(sending, () => send(connected, options));
      counts.answered += 1;
      return result;
    } catch (error) {
      const problem = problemOf(error, apiKey, sending);
      counts[problem.kind === 'account' ? 'refused' : problem.kind] += 1;
      // A locked object does not delay other requests.
      if (problem.kind === 'busy' && problem.code !== LOCKED) limit.rest(problem.retryAfterMs ?? REST_MS);
      throw problem;
    }
  }

  return {
    counts,
    request: (endpoint, send, before) =>
      retry(() => once(endpoint, send, before), {
        name: 'requests to Stripe',
        attemptsMax: BUSY_TRIES_MAX,
        isTransient: isSoonFree,
        pauseMs: (_failures, error) => (error.code === LOCKED ? LOCKED_MS : 0),
      }),
  };
}

/** Whether Stripe rejected the request by a rate limit that ends soon. */
function isSoonFree(error: unknown): error is ProviderProblem {
  return (
    error instanceof ProviderProblem &&
    error.kind === 'busy' &&
    error.code !== OWN_LIMIT &&
    (error.retryAfterMs ?? REST_MS) <= BUSY_WAIT_MAX_MS
  );
}

/** The code of a 429 answer because another request has locked the same object. */
export const LOCKED = 'lock_timeout';

/** The same access, which refuses writes once the lease on the invoice is lost. */
export function asOneWriter(access: StripeAccess, note: Note): StripeAccess {
  return {
    counts: access.counts,
    request: (endpoint, send) =>
      access.request(endpoint, send, endpoint.startsWith('GET') ? undefined : () => note({})),
  };
}

/** The client is loaded on demand: most services start without it. */
async function connect(apiKey: string, baseUrl: string | undefined, timeout: number): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const httpClient = Client.createNodeHttpClient();
  const makeRequest = httpClient.makeRequest.bind(httpClient);
  httpClient.makeRequest = (...request) => {
    const sending = SENDING.get();
    if (sending !== undefined) sending.isSent = true;
    return makeRequest(...request);
  };
  return new Client(apiKey, {
    httpClient,
    apiVersion: API_VERSION,
    maxNetworkRetries: 0,
    timeout,
    telemetry: false,
    appInfo: { name: 'tallyhouse' },
    ...(baseUrl === undefined ? {} : addressOf(baseUrl)),
  });
}

function addressOf(baseUrl: string): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const scheme = protocol === 'http:' ? 'http' : 'https';
  return { host: hostname, port: port === '' ? (scheme === 'http' ? 80 : 443) : port, protocol: scheme };
}

const STATUS = { unauthorized: 401, forbidden: 403, conflict: 409, tooMany: 429, server: 500 } as const;

/** The code of a request that the key is not permitted to send. */
export const FORBIDDEN = 'forbidden';

/** Errors of the client have these members, whatever their class. */
interface ClientError {
  readonly message: string;
  readonly statusCode?: number;
  readonly code?: string;
  readonly rawType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Sending {
  /** Whether the request was sent, so that Stripe may have executed it. */
  isSent: boolean;
}

const SENDING = createScopeKey<Sending>('request to Stripe');

function problemOf(error: unknown, apiKey: string, { isSent }: Sending): ProviderProblem {
  if (error instanceof ProviderProblem) return error;
  const { message, statusCode, code = null, headers, rawType } = error as ClientError;
  // Proxies on the way to Stripe may echo the request.
  const text = `Stripe: ${message.replaceAll(apiKey, '…')}`;
  // A request that fails before it is sent, for example because a text cannot be encoded, fails in each attempt.
  if (statusCode === undefined) return new ProviderProblem(isSent ? 'unclear' : 'refused', text, { code });
  if (statusCode === STATUS.tooMany) {
    const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * SECOND_MS : null;
    return new ProviderProblem('busy', text, { code, retryAfterMs });
  }
  // Another request with the key was or is executed.
  const isOther = statusCode === STATUS.conflict || rawType === 'idempotency_error';
  if (isOther || statusCode >= STATUS.server) {
    return new ProviderProblem('unclear', text, { code });
  }
  const isAccount = statusCode === STATUS.unauthorized || statusCode === STATUS.forbidden;
  const word = statusCode === STATUS.forbidden ? FORBIDDEN : code;
  return new ProviderProblem(isAccount ? 'account' : 'refused', text, { code: word });
}
