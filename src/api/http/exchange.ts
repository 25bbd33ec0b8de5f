/**
 * The parts that all requests share: a request id, one log line, one measurement, and the mapping of errors to
 * answers. One function instead of a chain of middleware, because the chain costs an ingest request more
 * than its own work does.
 */
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { NO_TRACER, type Tracer } from '../../core/tracing.ts';
import { stringifyJson } from '../base/json.ts';
import { type ErrorAnswer, errorAnswer } from './errors.ts';
import type { HttpMetrics } from './metrics.ts';
import { headerOf, mediaTypeOf } from './request-body.ts';
import type { OtherEncoding, RequestContext, RouteFacts } from './route.ts';

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  /**
   * The text or bytes to send, or their pieces, which are written as they are sent; null for an answer without a body.
   */
  readonly body: string | Uint8Array<ArrayBuffer> | AsyncIterable<string | Uint8Array> | null;
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its policy names who may show it in a frame, which the older header would forbid all. */
  readonly isFramed?: boolean;
}

export interface ExchangeOptions {
  readonly log: Logger;
  readonly metrics: HttpMetrics;
  readonly tracer?: Tracer;
  /** The room that is missing on the disk of the stores, for the answers of requests that failed; null for none. */
  readonly shortage?: (() => Promise<string | null>) | undefined;
}

/** The route's path, or a fixed label if no route matched, and the route's part of the answers. */
type Destination = Pick<RouteFacts, 'wireWords' | 'otherEncoding'> &
  Partial<Pick<RouteFacts, 'scope'>> & { readonly path: string };

/** Runs `work` for a request. */
export type Exchange = (
  context: Context,
  to: Destination,
  work: (request: RequestContext) => Promise<Answer>,
) => Promise<Response>;

const JSON_TYPE = 'application/json';

/** Answers are data of customers: not to be guessed at, shown in frames, sent to other sites, or kept by caches. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** The page of the guide with the meaning of each status and the action to take. */
const EXPLAINED = { link: '</guide/reference/errors>; rel="help"' };

const NOT_FRAMED = { 'x-frame-options': 'DENY' };

export function createExchange({ tracer = NO_TRACER, ...options }: ExchangeOptions): Exchange {
  const answered = tracer === NO_TRACER ? respond : traced(tracer, respond);
  return async (context, to, work) => {
    const startedAtMs = performance.now();
    const requestId = requestIdOf(context);
    const response = await answered(options, context, requestId, to, work);
    const durationMs = performance.now() - startedAtMs;
    const { method } = context.req;
    options.metrics.observe(method, to.path, response.status, durationMs / 1_000);
    if (options.log.isLevelEnabled('debug')) {
      options.log.debug(
        { requestId, method, route: to.path, status: response.status, durationMs },
        'answered',
      );
    }
    return response;
  };
}

type Respond = typeof respond;

/** Probes and unknown paths are no part of a trace. The span of a streamed answer ends where its body begins. */
function traced(tracer: Tracer, answer: Respond): Respond {
  return async (options, context, requestId, to, work) => {
    if (to.scope === undefined || to.scope === 'public')
      return await answer(options, context, requestId, to, work);
    const { method } = context.req;
    const parent = tracer.continued(headerOf(context, 'traceparent'), headerOf(context, 'tracestate'));
    const facts = {
      'http.request.method': method,
      'http.route': to.path,
      'tallyhouse.request_id': requestId,
    };
    return await tracer.trace(`${method} ${to.path}`, { kind: 'server', parent, facts }, async (span) => {
      const response = await answer(options, context, requestId, to, work);
      span.set({ 'http.response.status_code': response.status });
      if (response.status >= 500) span.fail();
      return response;
    });
  };
}

async function respond(
  options: ExchangeOptions,
  context: Context,
  requestId: string,
  to: Destination,
  work: (request: RequestContext) => Promise<Answer>,
): Promise<Response> {
  const always = { 'x-request-id': requestId, ...SECURITY_HEADERS };
  const facts = { requestId, method: context.req.method, route: to.path };
  try {
    const answer = await work({ requestId, userAgent: headerOf(context, 'user-agent') ?? null });
    const headers = answer.body === null ? { 'content-length': '0' } : { 'content-type': answer.mediaType };
    return new Response(
      bodyOf(answer.body, (err) => options.log.error({ ...facts, err }, BROKEN_OFF)),
      {
        status: answer.status ?? 200,
        headers: { ...always, ...(answer.isFramed ? {} : NOT_FRAMED), ...headers, ...answer.headers },
      },
    );
  } catch (error) {
    const answer = await withShortage(errorAnswer(error, requestId, to.wireWords), options.shortage);
    if (answer.logged === 'bug') options.log.error({ ...facts, err: error }, 'request failed');
    else if (answer.logged === 'store') {
      options.log.warn({ ...facts, err: error }, 'request failed: a store is not available');
    }
    const { body, mediaType } = refusalIn(encodingOf(context, to), answer);
    const headers = { ...always, ...NOT_FRAMED, ...EXPLAINED, 'content-type': mediaType, ...answer.headers };
    return new Response(body, { status: answer.status, headers });
  }
}

/** An answer for an unavailable store also reports its shortage of room. */
async function withShortage(
  answer: ErrorAnswer,
  shortage: ExchangeOptions['shortage'],
): Promise<ErrorAnswer> {
  if (answer.status !== 503 || shortage === undefined) return answer;
  const missing = await shortage().catch(() => null);
  const message = String(answer.body.message);
  if (missing === null || message.includes(missing)) return answer;
  return { ...answer, body: { ...answer.body, message: `${message}: ${missing}` } };
}

/** The other encoding of the route, where the request is in it. */
function encodingOf(context: Context, { otherEncoding }: Destination): OtherEncoding | undefined {
  return mediaTypeOf(context) === otherEncoding?.mediaType ? otherEncoding : undefined;
}

function refusalIn(encoding: OtherEncoding | undefined, { body }: ErrorAnswer) {
  if (encoding === undefined) return { body: stringifyJson(body), mediaType: JSON_TYPE };
  return { body: encoding.writeRefusal(String(body.message)), mediaType: encoding.mediaType };
}

type ResponseBody = ConstructorParameters<typeof Response>[0];

const BROKEN_OFF = 'an answer was broken off after its beginning had been sent';

/**
 * A streamed answer is written as fast as the client takes it. If it fails, the connection is closed without the end of
 * the body, which every client reports as an error.
 */
function bodyOf(body: Answer['body'], onFailure: (error: unknown) => void): ResponseBody {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return body;
  const pieces = encoded(body, onFailure);
  // A generator that was not started would not end its reads.
  const end = async () => {
    await pieces.return();
    await body[Symbol.asyncIterator]().return?.();
    return { done: true, value: undefined } as const;
  };
  return ReadableStream.from<Uint8Array>({
    [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }),
  });
}

async function* encoded(pieces: AsyncIterable<string | Uint8Array>, onFailure: (error: unknown) => void) {
  const utf8 = new TextEncoder();
  try {
    for await (const piece of pieces) yield typeof piece === 'string' ? utf8.encode(piece) : piece;
  } catch (error) {
    onFailure(error);
    // The HTTP server prints this error: the log already has the original one, without the values of statements.
    throw new Error(BROKEN_OFF);
  }
}

/** A client may send its own request id to correlate logs. A malformed one is replaced. */
function requestIdOf(context: Context): string {
  const given = headerOf(context, 'x-request-id');
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}
