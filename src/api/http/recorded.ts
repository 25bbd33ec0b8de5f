/**
 * Executes a request with its record: writes its row of the audit log, replays the stored answer of a repeated one, and
 * stores the answers for repeated ones.
 *
 * Owns: the header `Idempotency-Key`, and which answers are stored. Answers that a later attempt could change are not:
 * 5xx, 429, and those given before the request is executed (401, 403, 413).
 */
import type { Context } from 'hono';
import type { AuditedRequest, AuditedResult } from '../../access/audit.ts';
import type { RequestRecord, RequestRecords } from '../../access/request-records.ts';
import type { Actor } from '../../access/tokens.ts';
import { stringifyJson } from '../base/json.ts';
import { streamedForm } from './answer-form.ts';
import { auditedResource } from './audited-resource.ts';
import { errorAnswer } from './errors.ts';
import type { Answer } from './exchange.ts';
import { addressOf, headerOf } from './request-body.ts';
import { type RequestContext, type RouteDefinition, takesIdempotencyKey } from './route.ts';

const JSON_TYPE = 'application/json';
/** Tells a client that nothing was done this time. */
const REPLAYED = { 'idempotent-replayed': 'true' };
const STORED_REFUSALS = new Set([400, 404, 409]);

interface RecordedRequest {
  readonly definition: RouteDefinition;
  readonly context: Context;
  readonly request: RequestContext;
  readonly actor: Actor;
  /** Whether a repeated request gets the answer of the first; otherwise its key is ignored. */
  readonly keepsAnswer: boolean;
  readonly body: Buffer | undefined;
  /** The parsed body, once it is parsed. */
  sent(): unknown;
}

/** Calls `work`, unless the request is a repeated one. */
export async function withRecord(
  records: RequestRecords | undefined,
  request: RecordedRequest,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const { definition, context, body, keepsAnswer } = request;
  const key = keepsAnswer ? keyOf(request) : null;
  if (records === undefined) return await work();
  if (key === null && definition.scope === 'read') return await records.read(work);
  if (key === null && !isWrite(definition)) return await work();
  const record = await records.open({
    operation: definition.operationId,
    key,
    content: [context.req.method, pathAndQuery(context), body ?? ''],
    audited: isWrite(definition) ? auditedRequest(request) : null,
    commitsItself: definition.commitsItself === true,
  });
  if ('status' in record) return replay(record);
  return await carriedOut(record, request, work);
}

async function carriedOut(
  record: RequestRecord,
  request: RecordedRequest,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const { definition } = request;
  try {
    const answer = await record.run(work);
    const stored = storable(answer);
    const result = auditedResult(request, 200, stored.body);
    await record.succeed(result, definition.answersSecret === true ? withheld() : stored);
    return answer;
  } catch (error) {
    const { status, headers, body } = errorAnswer(error, request.request.requestId, definition.wireWords);
    const refusal = { status, headers: { ...headers, 'content-type': JSON_TYPE }, body: stringifyJson(body) };
    await record.fail(auditedResult(request, status, null), STORED_REFUSALS.has(status) ? refusal : null);
    throw error;
  }
}

/** A request that its token may not send. It is not executed, and is in the audit log. */
export async function recordForbidden(
  records: RequestRecords | undefined,
  request: RecordedRequest,
): Promise<void> {
  if (records === undefined || !isWrite(request.definition)) return;
  const record = await records.open({
    operation: request.definition.operationId,
    key: null,
    content: [],
    audited: auditedRequest(request),
    commitsItself: false,
  });
  if ('fail' in record) await record.fail(auditedResult(request, 403, null), null);
}

function auditedRequest({ definition, context, request, actor }: RecordedRequest): AuditedRequest {
  return {
    actor,
    requestId: request.requestId,
    ip: addressOf(context),
    userAgent: request.userAgent,
    action: definition.operationId,
  };
}

function auditedResult(
  { definition, context, sent }: RecordedRequest,
  httpStatus: number,
  answer: string | null,
): AuditedResult {
  const params = context.req.param();
  const { type, id } = auditedResource(definition, { params, body: sent(), answer });
  const status = httpStatus === 200 ? 'success' : 'failure';
  const description = `${definition.summary}: HTTP ${httpStatus}`;
  return { status, resourceType: type, resourceId: id, description };
}

/** Whether the operation changes something that is not an event. */
function isWrite({ method, scope }: RouteDefinition): boolean {
  return method !== 'get' && scope === 'write';
}

/** An answer in another form is a stream, which is not stored. */
function keyOf({ definition, context }: RecordedRequest): string | null {
  if (!takesIdempotencyKey(definition)) return null;
  if (streamedForm(definition, context) !== null) return null;
  return headerOf(context, 'idempotency-key') ?? null;
}

function pathAndQuery(context: Context): string {
  const { pathname, search } = new URL(context.req.url);
  return pathname + search;
}

function storable({ status = 200, body, mediaType, headers = {} }: Answer) {
  if (body === null) return { status, headers, body };
  return { status, headers: { ...headers, 'content-type': mediaType }, body: textOf(body) };
}

function textOf(body: NonNullable<Answer['body']>): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  throw new Error('a stream cannot be stored');
}

/** Secrets are not stored: a repeated request only learns that it was executed. */
function withheld() {
  const message =
    'This request was carried out, and its answer had a secret that is shown only once. Use another Idempotency-Key to carry it out again.';
  const headers = { 'content-type': JSON_TYPE, 'x-should-retry': 'false' };
  return { status: 409, headers, body: stringifyJson({ message }) };
}

function replay(stored: {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}): Answer {
  const { 'content-type': mediaType = JSON_TYPE, ...headers } = stored.headers;
  return { status: stored.status, body: stored.body, mediaType, headers: { ...headers, ...REPLAYED } };
}
