/**
 * The HTTP client of the tests, in process or against a URL. It checks every answer against the schema that its
 * route declares (`contract.ts`).
 */
import { stringifyJson } from '../../src/api/base/json.ts';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import { checkAnswer } from './contract.ts';

/** In process: `{ hono, routes }`, which is what `createApp` returns. Over TCP: `{ baseUrl, routes }`. */
export type ApiTarget = { readonly routes: readonly RouteDefinition[] } & (
  | { readonly hono: { request(input: string, init: RequestInit): Response | Promise<Response> } }
  | { readonly baseUrl: string }
);

interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the client's own; null sends none. */
  readonly token?: string | null;
  /** Sent as it is, instead of a body as JSON. */
  readonly rawBody?: string | Uint8Array<ArrayBuffer>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON with exact numbers (see `parseJson`), the text of other media types, undefined without a body. */
  readonly body: unknown;
  /** `at('data[0].line_items[1].total')`; undefined where there is nothing. Numbers as `number` or `JsonNumber`. */
  at(path: string): unknown;
  /** The string there. Throws if it is none. */
  text(path: string): string;
  /** The number there with all its digits, as text. Throws if it is none. */
  digits(path: string): string;
  /** The list there. Throws if it is none. */
  list(path: string): unknown[];
}

export interface ApiClient {
  /** Sends and checks; any declared status is fine. */
  send(method: string, path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer>;
  /** These expect 200 and throw otherwise. */
  get(path: string, options?: CallOptions): Promise<ApiAnswer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer>;
  put(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer>;
  delete(path: string, options?: CallOptions): Promise<ApiAnswer>;
}

export function createApiClient(target: ApiTarget, token: string | null): ApiClient {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<ApiAnswer> {
    const url = path + queryString(options.query ?? {});
    const init = requestInit(method, body, { token, ...options });
    const response = await ('hono' in target
      ? target.hono.request(url, init)
      : fetch(new URL(url, target.baseUrl), init));
    const raw = { status: response.status, headers: response.headers, text: await response.text() };
    return answerOf(raw.status, raw.headers, checkAnswer(target.routes, method, path, raw));
  }
  async function expectOk(
    method: string,
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiAnswer> {
    const answer = await send(method, path, body, options);
    if (answer.status === 200) return answer;
    throw new Error(`${method} ${path} → ${answer.status} ${JSON.stringify(answer.body)}, expected 200`);
  }
  return {
    send,
    get: (path, options) => expectOk('GET', path, undefined, options),
    post: (path, body, options) => expectOk('POST', path, body ?? {}, options),
    put: (path, body, options) => expectOk('PUT', path, body ?? {}, options),
    delete: (path, options) => expectOk('DELETE', path, undefined, options),
  };
}

function requestInit(method: string, body: unknown, options: CallOptions): RequestInit {
  const content = options.rawBody ?? (body === undefined ? undefined : stringifyJson(body));
  return {
    method,
    headers: {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(content === undefined ? {} : { body: content }),
  };
}

/** Lists are comma-joined, as the official client does it. */
function queryString(query: NonNullable<CallOptions['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function answerOf(status: number, headers: Headers, body: unknown): ApiAnswer {
  const at = (path: string): unknown => {
    let current: unknown = body;
    for (const name of path.split(/[.[\]]+/).filter(Boolean)) {
      if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
      current = Object.entries(current).find(([key]) => key === name)?.[1];
    }
    return current;
  };
  const none = (path: string, what: string): never => {
    throw new Error(`${path} is no ${what} in ${JSON.stringify(body)}`);
  };
  return {
    status,
    headers,
    body,
    at,
    text: (path) => {
      const value = at(path);
      return typeof value === 'string' ? value : none(path, 'string');
    },
    digits: (path) => {
      const value = at(path);
      const isNumber =
        typeof value === 'number' || (typeof value === 'object' && value !== null && 'text' in value);
      return isNumber ? String(value) : none(path, 'number');
    },
    list: (path) => {
      const value = at(path);
      return Array.isArray(value) ? value : none(path, 'list');
    },
  };
}
