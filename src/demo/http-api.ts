/**
 * The demo's HTTP client: `fetch` with a bearer token, JSON with exact decimals, and readable error messages. The
 * endpoints are in `billing-api.ts`.
 */
import { parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { Decimal } from '../core/decimal.ts';
import { messageOf } from '../core/failures.ts';
import { DemoFailure } from './failure.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The delay of the Retry-After header, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
}

export interface HttpApi {
  readonly url: string;
  /** One round trip; any status is an answer. Throws `ConnectionLost` if there was no answer. */
  send(method: 'GET' | 'POST', path: string, body?: Buffer): Promise<HttpAnswer>;
  /** A request whose answer must be 200 and fit `schema`; throws `DemoFailure` otherwise. */
  call<T>(method: 'GET' | 'POST', path: string, schema: z.ZodType<T>, body?: unknown): Promise<T>;
  /** The bytes of an answer in the format `accept`, which must be 200; throws `DemoFailure` otherwise. */
  read(method: 'GET' | 'POST', path: string, accept: string, body?: unknown): Promise<Buffer>;
}

/** There was no answer: the request may or may not have had its effect. */
export class ConnectionLost extends DemoFailure {}

export interface HttpApiOptions {
  readonly url: URL;
  readonly token: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 60_000;

export function createHttpApi({ url, token, signal }: HttpApiOptions): HttpApi {
  const base = url.href.replace(/\/+$/, '');
  const headers = { authorization: `Bearer ${token}` };

  const exchange = async <Read>(
    [method, path, body, accept]: readonly ['GET' | 'POST', string, Buffer | undefined, string],
    read: (response: Response) => Promise<Read>,
  ): Promise<Read> => {
    const sent = { ...headers, accept };
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: body === undefined ? sent : { ...sent, 'content-type': 'application/json' },
        body: body ?? null,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      return await read(response);
    } catch (error) {
      signal.throwIfAborted();
      throw connectionFailure(base, error);
    }
  };
  const send: HttpApi['send'] = (method, path, body) =>
    exchange([method, path, body, 'application/json'], async (response) => ({
      status: response.status,
      text: await response.text(),
      retryAfterMs: retryAfterMsOf(response),
    }));
  return {
    url: base,
    send,
    read: async (method, path, accept, body) => {
      const encoded = body === undefined ? undefined : encodeJson(body);
      const answer = await exchange([method, path, encoded, accept], async (response) => ({
        status: response.status,
        bytes: Buffer.from(await response.arrayBuffer()),
      }));
      if (answer.status === 200) return answer.bytes;
      const text = answer.bytes.toString('utf8');
      throw refusal(base, method, path, { status: answer.status, text, retryAfterMs: null });
    },
    call: async (method, path, schema, body) => {
      const answer = await send(method, path, body === undefined ? undefined : encodeJson(body));
      if (answer.status !== 200) throw refusal(base, method, path, answer);
      const parsed = schema.safeParse(parseExact(answer.text));
      if (parsed.success) return parsed.data;
      throw new DemoFailure(
        `${method} ${path} answered something unexpected: ${z.prettifyError(parsed.error)}`,
      );
    },
  };
}

function retryAfterMsOf({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** JSON text as plain values in which each number is a `Decimal` with all its digits. */
function parseExact(text: string): unknown {
  try {
    return parse(text, undefined, (digits) => new Decimal(digits));
  } catch {
    throw new DemoFailure(`the server answered something that is not JSON: ${text.slice(0, 200)}`);
  }
}

/** The schema of a number in an answer read by `parseExact`. */
export const exactNumber = z.custom<Decimal>((value) => value instanceof Decimal, 'expected a number');

function encodeJson(body: unknown): Buffer {
  const text = stringify(body, null, undefined, [
    { test: (value) => value instanceof Decimal, stringify: (value) => String(value) },
  ]);
  return Buffer.from(text ?? '');
}

const messageBody = z.object({ message: z.string() });

function refusal(base: string, method: string, path: string, answer: HttpAnswer): DemoFailure {
  if (answer.status === 401) {
    return new DemoFailure(
      `${base} does not accept this token. The server printed it at its first start and keeps it in DATA_DIR/api-token.`,
    );
  }
  return new DemoFailure(`${method} ${path} was answered ${answer.status}: ${answerMessage(answer.text)}`);
}

/** The `message` of an error body, or the beginning of any other body. */
export function answerMessage(text: string): string {
  try {
    const parsed = messageBody.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data.message;
  } catch {
    // Not JSON: a proxy's error page, or another program on that port.
  }
  return text.slice(0, 200) || '(no body)';
}

/** `fetch` has the reason in the cause of its error. */
function connectionFailure(base: string, error: unknown): ConnectionLost {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH') {
    return new ConnectionLost(
      `no server answers at ${base} (${code}). Start one with "npm start", or leave out --url to use one of the demo's own.`,
    );
  }
  const what = messageOf(cause);
  return new ConnectionLost(`no answer from ${base}: ${what}`);
}
