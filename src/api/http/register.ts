/**
 * Binds route definitions to HTTP.
 *
 * Owns: the order token, body, schemas, handler, answer; 404 and 405 for unmatched requests.
 * A fixed path segment takes precedence over a parameter, regardless of the order of the routes.
 */
import type { Context, Hono } from 'hono';
import type { ConsoleSessions } from '../../access/console-sessions.ts';
import type { TakeRequest } from '../../access/rate-limits.ts';
import type { RequestRecords } from '../../access/request-records.ts';
import type { Authenticate } from '../../access/tokens.ts';
import { Refusal } from '../../core/errors.ts';
import { afterOtherWork } from '../../core/in-chunks.ts';
import { parseJson, parseLongJson, stringifyJson } from '../base/json.ts';
import { ABSENT_OPERATIONS, type AbsentOperation } from './absent-operations.ts';
import { streamedForm } from './answer-form.ts';
import type { AnswerStreams } from './answer-streams.ts';
import { AnswerWithHeaders } from './answer-with-headers.ts';
import { identify, permissionRefusal } from './auth.ts';
import { type CountedAnswer, countedAnswer, sentInPieces } from './counted-answers.ts';
import { EncodedAnswer } from './encoded-answer.ts';
import type { Answer, Exchange } from './exchange.ts';
import { FileAnswer } from './file-answer.ts';
import { IGNORED_HEADER, ignoredHeader, prefersLenient } from './ignored-header.ts';
import type { MemoryBudget, MemoryShare } from './memory-budget.ts';
import { permissionOf } from './permissions.ts';
import { recordForbidden, withRecord } from './recorded.ts';
import { type BodyLimits, headerOf, readBody } from './request-body.ts';
import type { RequestContext, RouteDefinition, UncheckedInput } from './route.ts';
import { sessionOf } from './session.ts';
import type { Pieces } from './started-stream.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import { writeJson } from './write-json.ts';

/** Closed while nothing may be changed. */
export interface ChangeGate {
  /** Refuses a request that changes something while it is closed. Returns the function that ends one. */
  enter(): () => void;
  isClosed(): boolean;
}

export interface RegisterOptions {
  readonly exchange: Exchange;
  readonly authenticate: Authenticate;
  /** Without them only tokens identify callers. */
  readonly sessions: ConsoleSessions | undefined;
  readonly bodies: BodyLimits;
  /** Without it nothing is recorded, and idempotency keys are ignored. */
  readonly records: RequestRecords | undefined;
  readonly takeRequest: TakeRequest | undefined;
  readonly changes: ChangeGate | undefined;
  readonly streams: AnswerStreams;
  /** Budget of all answers, including those of `streams`. */
  readonly memory: MemoryBudget;
  /** Whether requests about money with unknown fields are refused, unless they prefer lenient handling. */
  readonly strictFields: boolean;
}

/** Label of unmatched requests, so that arbitrary paths do not become metric labels. */
const NO_ROUTE = { path: 'none' };

/** Registers all routes of an app, and the answer to unmatched requests. Call it once. */
export function registerRoutes(
  app: Hono,
  options: RegisterOptions,
  routes: readonly RouteDefinition[],
): void {
  refuseDoubles(routes);
  for (const definition of [...routes].sort(fixedSegmentsFirst)) {
    app.on(definition.method.toUpperCase(), honoPath(definition.path), (context) =>
      options.exchange(context, definition, (request) => answerTo(options, definition, context, request)),
    );
  }
  const routesAt = pathLookup(routes);
  const absentAt = pathLookup(ABSENT_OPERATIONS);
  app.notFound((context) =>
    options.exchange(context, NO_ROUTE, async () => {
      const { method, path } = context.req;
      const absent = absentAt(path).find((operation) => operation.method === method);
      if (absent !== undefined) throw new Refusal('not_found', absentText(absent));
      const methods = routesAt(path).map((route) => route.method.toUpperCase());
      if (methods.length > 0) return methodNotAllowed(method, path, methods.join(', '));
      throw new Refusal('not_found', `There is no operation ${method} ${path}`);
    }),
  );
}

function absentText({ method, path, reason }: AbsentOperation): string {
  return `This service does not have ${method} ${path} of the official client: ${reason}. See /guide/reference/compatibility`;
}

/** Not a `Refusal`: no use case throws it. */
function methodNotAllowed(method: string, path: string, allowed: string): Answer {
  return {
    status: 405,
    headers: { allow: allowed },
    mediaType: 'application/json',
    body: stringifyJson({ message: `${method} is not an operation of ${path}, which takes ${allowed}` }),
  };
}

/**
 * The operations that a path could mean. Called only when no route matched: a catch-all per path would add a second
 * handler to every request.
 */
function pathLookup<Operation extends { readonly path: string }>(
  operations: readonly Operation[],
): (path: string) => Operation[] {
  const patterns = operations.map((operation) => {
    const segments = operation.path
      .split('/')
      .map((part) => (part.startsWith('{') ? '[^/]+' : part.replaceAll(/[^\w-]/g, '\\$&')));
    return { operation, pattern: new RegExp(`^${segments.join('/')}$`) };
  });
  return (path) => patterns.filter(({ pattern }) => pattern.test(path)).map(({ operation }) => operation);
}

async function answerTo(
  options: RegisterOptions,
  definition: RouteDefinition,
  context: Context,
  request: RequestContext,
): Promise<Answer> {
  const leave = onlyReads(definition) ? undefined : options.changes?.enter();
  try {
    return await carriedOut(options, definition, context, request);
  } finally {
    leave?.();
  }
}

/** A public POST is a sign-in, or the message of a billing provider. */
function onlyReads({ method, scope, undoesChanges }: RouteDefinition): boolean {
  return (scope === 'read' && undoesChanges !== true) || (scope === 'public' && method === 'get');
}

async function carriedOut(
  options: RegisterOptions,
  definition: RouteDefinition,
  context: Context,
  request: RequestContext,
): Promise<Answer> {
  const session = async () => (await sessionOf(context, options.sessions))?.actor ?? null;
  const authorization = headerOf(context, 'authorization');
  const actor = await identify(authorization, definition.scope, options.authenticate, session);
  if (definition.scope !== 'public') options.takeRequest?.(actor.id, definition.scope);
  let sent: unknown;
  const keepsAnswer = !onlyReads(definition) || options.changes?.isClosed() !== true;
  const recorded = { definition, context, request, actor, keepsAnswer, body: undefined, sent: () => sent };
  const refusal = permissionRefusal(actor, permissionOf(definition));
  if (refusal !== null) {
    await recordForbidden(options.records, recorded);
    throw refusal;
  }
  definition.admit?.();
  const body =
    definition.body === undefined
      ? undefined
      : await readBody(context, options.bodies, definition.takesCompressed);
  const { signal } = context.req.raw;
  const held: { share: MemoryShare | null } = { share: null };
  try {
    const answer = await withRecord(options.records, { ...recorded, body: body?.bytes }, async () => {
      sent = body === undefined ? undefined : await contentOf(definition, body.bytes);
      if (body !== undefined && body.bytes.length > LARGE_BODY_BYTES) await afterOtherWork();
      const isLenient = !options.strictFields || prefersLenient(headerOf(context, 'prefer'));
      const made = await answerOf(options, definition, {
        http: context,
        body: sent,
        actor,
        context: request,
        isLenient,
      });
      held.share = made.share;
      return made.answer;
    });
    return await sentInPieces({ answer, share: held.share }, signal, context.req.raw.method !== 'HEAD');
  } catch (error) {
    held.share?.release();
    throw error;
  } finally {
    body?.release();
  }
}

/** In the form that the client asks for. */
async function answerOf(
  options: RegisterOptions,
  definition: RouteDefinition,
  input: UncheckedInput,
): Promise<CountedAnswer> {
  const context = input.http;
  const { signal } = context.req.raw;
  const form = streamedForm(definition, context);
  if (form !== null) {
    const { mediaType, run } = form;
    const body = await options.streams.begin<string | Uint8Array>(run(input), signal);
    return { answer: { body: await sentBy(context, body), mediaType, headers: VARIES }, share: null };
  }
  const make = async () => {
    const ignored: string[] = [];
    const onIgnored = (fields: readonly string[]) => ignored.push(...fields);
    const result = await definition.run({ ...input, onIgnored });
    return withIgnored(await answerWith({ ...options, context }, definition, result), ignored);
  };
  // A change is not executed twice, and a stream has its own share.
  if (definition.scope !== 'read' || definition.answersStream === true) {
    return { answer: await make(), share: null };
  }
  return await countedAnswer(options.memory, signal, make);
}

/** An answer to HEAD is not read, so it ends here. */
async function sentBy<Piece>(context: Context, pieces: Pieces<Piece>): Promise<Pieces<Piece>> {
  if (context.req.raw.method === 'HEAD') await pieces.return();
  return pieces;
}

function withIgnored(answer: Answer, ignored: readonly string[]): Answer {
  if (ignored.length === 0) return answer;
  return { ...answer, headers: { ...answer.headers, [IGNORED_HEADER]: ignoredHeader(ignored) } };
}

/** Parsing it takes some milliseconds. */
const LARGE_BODY_BYTES = 100_000;

/** Caches have to keep the forms of an answer apart. */
const VARIES = { vary: 'accept' };

/** The dependencies of answers that are written while they are sent. */
interface Streaming {
  readonly streams: AnswerStreams;
  readonly context: Context;
}

async function answerWith(
  streaming: Streaming,
  definition: RouteDefinition,
  result: unknown,
): Promise<Answer> {
  const { mediaType = 'application/json' } = definition;
  const headers = definition.csv === undefined ? definition.headers : { ...VARIES, ...definition.headers };
  if (definition.response === 'empty') {
    return { body: null, mediaType, status: definition.emptyStatus ?? 200 };
  }
  if (result instanceof EncodedAnswer) return { body: result.bytes, mediaType: result.mediaType };
  if (result instanceof AnswerWithHeaders) {
    return { body: await writeJson(result.value), mediaType, headers: result.headers };
  }
  if (result instanceof FileAnswer) return { body: result.bytes, mediaType, headers: result.headers };
  return {
    body: await bodyOf(streaming, definition, result),
    mediaType,
    ...(headers === undefined ? {} : { headers }),
  };
}

async function bodyOf(
  { streams, context }: Streaming,
  definition: RouteDefinition,
  result: unknown,
): Promise<Answer['body']> {
  if (result instanceof StreamedAnswer) {
    return await sentBy(context, await streams.begin(result.pieces, context.req.raw.signal));
  }
  return typeof result === 'string' && definition.mediaType ? result : await writeJson(result);
}

async function contentOf(definition: RouteDefinition, bytes: Buffer): Promise<unknown> {
  if (definition.bodyKind === 'bytes') return bytes;
  // The official client sends an empty body with some list operations.
  if (bytes.length === 0) return {};
  const text = textOf(bytes);
  return bytes.length > LARGE_BODY_BYTES ? await parseLongJson(text) : parseJson(text);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal('invalid', 'body is not valid UTF-8');
  }
}

function refuseDoubles(routes: readonly RouteDefinition[]): void {
  const seen = new Set<string>();
  for (const { method, path, operationId } of routes) {
    for (const key of [`${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`, `operation ${operationId}`]) {
      if (seen.has(key)) throw new Error(`two routes are defined as ${key}`);
      seen.add(key);
    }
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

/** Puts `…/invoices/breakdowns` before `…/invoices/{invoice_id}`, because the first match is taken. */
function fixedSegmentsFirst(a: RouteDefinition, b: RouteDefinition): number {
  const [left, right] = [shapeOf(a.path), shapeOf(b.path)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** `/v1/customers/{id}/invoices` as `0010`: sorts fixed segments before parameters, segment by segment. */
function shapeOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('');
}
