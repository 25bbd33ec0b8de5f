/**
 * The demo's HTTP client: a few keep-alive connections, bearer token, and JSON in which every number
 * is an exact decimal. Owns transport and its failures in words; knows no endpoint.
 */
import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { Decimal } from '../core/decimal.ts';
import { DemoFailure } from './failure.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** What the Retry-After header asks for, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
}

export interface HttpApi {
  readonly url: string;
  /** One round trip; any status is an answer. Throws `ConnectionLost` where no answer came. */
  send(method: 'GET' | 'POST', path: string, body?: Buffer): Promise<HttpAnswer>;
  /** A request whose answer must be 200 and fit `schema`; throws `DemoFailure` otherwise. */
  call<T>(method: 'GET' | 'POST', path: string, schema: z.ZodType<T>, body?: unknown): Promise<T>;
  close(): void;
}

/** No answer came: the request may or may not have had its effect. */
export class ConnectionLost extends DemoFailure {
  /** An idle connection was found closed when it was used again. */
  readonly staleConnection: boolean;

  constructor(message: string, staleConnection: boolean) {
    super(message);
    this.staleConnection = staleConnection;
  }
}

export interface HttpApiOptions {
  readonly url: URL;
  readonly token: string;
  readonly connections: number;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 60_000;

export function createHttpApi(options: HttpApiOptions): HttpApi {
  const secure = options.url.protocol === 'https:';
  const agentOptions = { keepAlive: true, maxSockets: options.connections };
  const agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  // Every request under way listens to the same signal: more than Node takes for a leak.
  setMaxListeners(0, options.signal);
  const base = options.url.href.replace(/\/+$/, '');

  const send: HttpApi['send'] = (method, path, body) =>
    new Promise((resolve, reject) => {
      const request = (secure ? requestHttps : requestHttp)(`${base}${path}`, {
        method,
        agent,
        signal: options.signal,
        timeout: TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${options.token}`,
          accept: 'application/json',
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': body.length }),
        },
      });
      request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
      request.on('error', (error) => {
        reject(connectionFailure(base, error, request.reusedSocket));
      });
      request.on('response', (response) => {
        readAnswer(response).then(resolve, (error: Error) => reject(connectionFailure(base, error, false)));
      });
      request.end(body);
    });

  const sendAgainIfStale: HttpApi['send'] = async (method, path, body) => {
    try {
      return await send(method, path, body);
    } catch (error) {
      // Between two steps a server may close an idle connection in the very moment we use it again.
      if (error instanceof ConnectionLost && error.staleConnection) return send(method, path, body);
      throw error;
    }
  };
  return {
    url: base,
    send,
    call: async (method, path, schema, body) => {
      const encoded = body === undefined ? undefined : encodeJson(body);
      const answer = await sendAgainIfStale(method, path, encoded);
      if (answer.status !== 200) throw refusal(base, method, path, answer);
      const parsed = schema.safeParse(parseExact(answer.text));
      if (parsed.success) return parsed.data;
      throw new DemoFailure(
        `${method} ${path} answered something unexpected: ${z.prettifyError(parsed.error)}`,
      );
    },
    close: () => agent.destroy(),
  };
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
  return {
    status: response.statusCode ?? 0,
    text: Buffer.concat(chunks).toString('utf8'),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  };
}

/** JSON text as plain values in which each number is a `Decimal` with all its digits. */
export function parseExact(text: string): unknown {
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

/** The `message` of an error body, or the beginning of whatever came instead. */
export function answerMessage(text: string): string {
  try {
    const parsed = messageBody.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data.message;
  } catch {
    // Not JSON: a proxy's error page, or another program on that port.
  }
  return text.slice(0, 200) || '(no body)';
}

function connectionFailure(base: string, error: Error, reusedSocket: boolean): Error {
  if (error.name === 'AbortError') return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH') {
    return new ConnectionLost(
      `no server answers at ${base} (${code}). Start one with "npm start", or leave out --url to use one of the demo's own.`,
      false,
    );
  }
  return new ConnectionLost(
    `the connection to ${base} was lost: ${error.message}`,
    reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE'),
  );
}
