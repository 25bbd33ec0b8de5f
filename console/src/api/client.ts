/**
 * Calls operations of the public API, typed by its OpenAPI document (`npm run console:types`).
 *
 * The session is a cookie that the browser sends by itself; no token is held here.
 */
import { parseExact, writeExact } from './exact.ts';
import type { Operations } from './operations.gen.d.ts';

/** The credential of the page instead of a session; null: the session cookie is used. */
let authorization: string | null = null;

/** Sends every request of this page with these credentials in place of a token: a dashboard's signed address. */
export function speakAs(credentials: string): void {
  authorization = credentials;
}

export type OperationKey = keyof Operations;
export type AnswerOf<Key extends OperationKey> = Operations[Key]['answer'];
export type BodyOf<Key extends OperationKey> = Operations[Key]['body'];

type Part<Name extends string, Value> = keyof Value extends never
  ? { readonly [N in Name]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [N in Name]?: Value | undefined }
    : { readonly [N in Name]: Value };

export type InputOf<Key extends OperationKey> = Part<'params', Operations[Key]['params']> & {
  readonly query?: { readonly [Name in keyof Operations[Key]['query']]?: string | undefined } | undefined;
  /** The version that the caller has read; the change of any other one is refused. */
  readonly ifMatch?: string | undefined;
} & (Operations[Key]['body'] extends undefined
    ? { readonly body?: undefined }
    : { readonly body: Operations[Key]['body'] });

/** A refusal, with the message of the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The body of the answer, if it is JSON. */
  readonly details: unknown;

  constructor(status: number, message: string, details: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

interface LooseInput {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
}

/** The version of each object as it was read last, by its address. */
const VERSIONS = new Map<string, string>();
const VERSIONS_MAX = 1_000;

/** The version of the object that an operation has read last. */
export function versionOf<Key extends OperationKey>(key: Key, input: InputOf<Key>): string | undefined {
  return VERSIONS.get(addressOf(key, input as LooseInput));
}

function keepVersion(address: string, version: string | null): void {
  if (version === null) return;
  if (VERSIONS.size >= VERSIONS_MAX) VERSIONS.clear();
  VERSIONS.set(address, version);
}

/** The answer of an operation, with every number as `Exact`. Throws an `ApiError` for a refusal. */
export async function call<Key extends OperationKey>(
  key: Key,
  input: InputOf<Key>,
  signal?: AbortSignal,
): Promise<AnswerOf<Key>> {
  const response = await send(key, input as LooseInput, signal);
  const text = await response.text();
  keepVersion(addressOf(key, input as LooseInput), response.headers.get('etag'));
  return (text === '' ? undefined : parseExact(text)) as AnswerOf<Key>;
}

/** Like `call`; refuses an answer that is too large for a page and discards it. */
export async function callBounded<Key extends OperationKey>(
  key: Key,
  input: InputOf<Key>,
  bounds: { readonly bytes: number; readonly tooLarge: string; readonly signal?: AbortSignal },
): Promise<AnswerOf<Key>> {
  const response = await send(key, input as LooseInput, bounds.signal);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    bytes += piece.value.byteLength;
    if (bytes > bounds.bytes) {
      await reader?.cancel();
      throw new ApiError(0, bounds.tooLarge, null);
    }
    text += decoder.decode(piece.value, { stream: true });
  }
  return parseExact(text + decoder.decode()) as AnswerOf<Key>;
}

/** The answer in another format, such as `text/csv`. */
export async function callFile<Key extends OperationKey>(
  key: Key,
  input: InputOf<Key>,
  mediaType: string,
): Promise<Blob> {
  const response = await send(key, input as LooseInput, undefined, mediaType);
  return await response.blob();
}

async function send(
  key: OperationKey,
  input: LooseInput,
  signal: AbortSignal | undefined,
  accept = 'application/json',
): Promise<Response> {
  const { body, ifMatch } = input;
  const [method = 'GET'] = key.split(' ');
  const response = await fetch(addressOf(key, input), {
    method,
    headers: {
      accept,
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    },
    ...(body === undefined ? {} : { body: writeExact(body) }),
    ...(signal === undefined ? {} : { signal }),
    credentials: 'same-origin',
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The service does not answer. Is it running?', null);
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

function addressOf(key: OperationKey, { params = {}, query = {} }: LooseInput): string {
  const [, path = '/'] = key.split(' ');
  const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
  return url + queryText(query);
}

async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const details = parseExact(text);
    const message =
      typeof details === 'object' && details !== null && 'message' in details && details.message;
    return new ApiError(response.status, String(message || response.statusText), details);
  } catch {
    return new ApiError(response.status, `The service answers ${response.status}`, null);
  }
}

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

/** A list with more pages is shown as far as it was read. */
const PAGES_MAX = 200;

type PagedKey = {
  [Key in OperationKey]: AnswerOf<Key> extends {
    readonly data: readonly unknown[];
    readonly next_page: string | null;
  }
    ? Key
    : never;
}[OperationKey];

type ItemOf<Key extends PagedKey> = AnswerOf<Key>['data'][number];

/** All items of a paged list, page after page. `onPage` receives the number of items so far. */
export async function callAll<Key extends PagedKey>(
  key: Key,
  input: InputOf<Key>,
  options: { readonly signal?: AbortSignal; onPage?(items: number): void } = {},
): Promise<ItemOf<Key>[]> {
  const items: ItemOf<Key>[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query: Record<string, string | undefined> = { ...(input.query as object | undefined) };
    if (cursor !== null) query.next_page = cursor;
    const answer = await call(key, { ...input, query } as InputOf<Key>, options.signal);
    items.push(...(answer.data as ItemOf<Key>[]));
    options.onPage?.(items.length);
    cursor = answer.next_page;
    if (cursor === null) break;
  }
  return items;
}
