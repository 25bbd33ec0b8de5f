/**
 * The definition of a route: path, schemas and handler in one object. `register.ts` binds it to HTTP and
 * `openapi.ts` documents it.
 *
 * Owns: the types that route files are written against. Does not own: HTTP, tokens, error bodies.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import type { Actor } from '../../access/tokens.ts';
import type { WireWords } from '../base/names.ts';
import { answerWarnings, withMoreWarnings } from '../wire/answer-warnings.ts';
import { type CsvTable, csvText, refusePaging } from './csv.ts';
import { csvReads, onPage, type SharedByPages, sharedByPages } from './csv-pages.ts';
import { pathReader, queryReader } from './hono-input.ts';
import { unknownFieldsOf } from './ignored-header.ts';
import { checkBody } from './long-lists.ts';
import { pagingPlaces } from './paging-places.ts';
import { fieldCheck } from './unknown-fields.ts';

/** The scope that a token needs; a `write` token covers all scopes. `public` needs no token. */
export type RouteScope = 'read' | 'write' | 'ingest' | 'public';

/** Statuses that a route declares in addition to those of every route (401, 403, 500). */
type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 503;

/** The part of the HTTP request that a handler gets. */
export interface RequestContext {
  readonly requestId: string;
  readonly userAgent: string | null;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Answer<Response> = Response extends z.ZodType ? z.input<Response> : unknown;

/** An item of `data`, which is a list or a single one. */
type ItemOf<Response> =
  Answer<Response> extends { data: infer Data }
    ? Data extends readonly (infer Item)[]
      ? Item
      : Data
    : never;

export interface HandlerInput<Params, Query, Body> {
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  readonly actor: Actor;
  readonly context: RequestContext;
  /** Set where the pages of a list are read to its end, for an answer as CSV. */
  readonly shared?: SharedByPages;
}

/** An encoding of bodies and answers besides JSON, which a request chooses by its Content-Type. */
export interface OtherEncoding {
  readonly mediaType: string;
  /** The meaning of each of them, for the reference. */
  readonly messages: Readonly<Record<'request' | 'response' | 'refusal', string>>;
  /** The answer to a request in this encoding that is refused. */
  writeRefusal(message: string): Uint8Array<ArrayBuffer>;
}

export interface RouteFacts {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** OpenAPI style: `/v1/customers/{customer_id}`. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly scope: RouteScope;
  readonly errors?: readonly ErrorStatus[];
  /** The schema of refusals that carry more than `message` and `code`. */
  readonly errorBody?: z.ZodType;
  /** Media type of the answer, by default JSON. For any other type the handler returns the text to send. */
  readonly mediaType?: string;
  /** A handler answers requests for this encoding with an `EncodedAnswer`. */
  readonly otherEncoding?: OtherEncoding;
  /** Bodies may be compressed with gzip, and with zstd where Node has it; others are refused with 415. */
  readonly takesCompressed?: true;
  /** The status of an answer without a body, by default 200. */
  readonly emptyStatus?: 204;
  /** Headers of every answer of the route. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The operation commits by itself, more than once, so that its record cannot be part of one transaction. */
  readonly commitsItself?: true;
  /** A read operation that nevertheless writes, and rolls back: it needs the same rights as changes. */
  readonly undoesChanges?: true;
  /** The handler may answer with a `StreamedAnswer`, which is not stored for repeated requests. */
  readonly answersStream?: true;
  /** The answer has a secret, and is not stored for repeated requests. */
  readonly answersSecret?: true;
  /** Wire names of this route's requests, which take precedence over those of `wire/names.ts`. */
  readonly wireWords?: WireWords;
}

const MONEY_PATHS = /[/](?:contracts|contract-pricing|packages)[/]|[/]addCharge$/;

/** Whether an ignored field could change the billed amounts. */
function describesMoney({ scope, path }: RouteFacts): boolean {
  return scope === 'write' && MONEY_PATHS.test(path);
}

function withWarnings(response: z.ZodType): z.ZodType {
  return response instanceof z.ZodObject ? response.extend({ warnings: answerWarnings }) : response;
}

/** Whether requests may carry an `Idempotency-Key`. Events have separate keys: `transaction_id`. */
export function takesIdempotencyKey({ method, bodyKind, scope, answersStream }: RouteDefinition): boolean {
  return method === 'post' && bodyKind !== 'bytes' && scope !== 'public' && answersStream !== true;
}

/** A route whose handler is bound to its schemas: `run` takes unchecked input. */
export interface RouteDefinition extends RouteFacts {
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** With `bytes` the body is not parsed: `run` gets a `Buffer`, and the schema only documents it. */
  readonly bodyKind?: 'json' | 'bytes';
  /** Refuses a request before its body is read, where there is no room for it anyway. */
  readonly admit?: () => void;
  /** The schema of the 200 answer, or `empty` for an answer without a body. */
  readonly response: z.ZodType | 'empty';
  run(input: UncheckedInput): Promise<unknown>;
  /**
   * Answers another operation of the same request. `sent`: path parameters and members of the body together. Null: a
   * path parameter is invalid.
   */
  ask?(
    sent: Readonly<Record<string, unknown>>,
    input: Pick<UncheckedInput, 'actor' | 'context'>,
  ): Promise<unknown>;
  /** Set for routes that also answer as CSV. */
  readonly csv?: CsvForm;
  /** Set for routes that also answer as a Parquet file. */
  readonly parquet?: ParquetForm;
}

/** The CSV form of a route. */
interface CsvForm {
  /** Null: they depend on the request. */
  readonly columns: CsvTable<unknown>['columns'] | null;
  /** The whole list as CSV, read page by page while it is taken. Refusals come before the first piece. */
  run(input: UncheckedInput): AsyncGenerator<string, void, undefined>;
}

/** The Parquet form of a route. */
interface ParquetForm {
  /** For the reference. */
  readonly description: string;
  /** The file, written while it is taken. Refusals come before the first piece. */
  run(input: UncheckedInput): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface UncheckedInput {
  /** Holds the path and query parameters. */
  readonly http: Context;
  /** The parsed JSON body, `{}` for an empty one; a `Buffer` for routes of `bytes`. */
  readonly body: unknown;
  readonly actor: Actor;
  readonly context: RequestContext;
  /** Whether unknown fields are ignored instead of refused; by default they are not. */
  readonly isLenient?: boolean;
  /** Called with the paths of the fields that were ignored, if there are any. */
  readonly onIgnored?: (fields: readonly string[]) => void;
}

/** With `limit` and `next_page` where the operation has them. */
interface PlacedInput extends UncheckedInput {
  readonly toQuery?: Readonly<Record<string, string>>;
}

/**
 * Defines a route. The handler gets the outputs of the schemas and returns the response body as plain data,
 * with amounts as `Decimal`s. It refuses by throwing a `Refusal`.
 */
export function route<
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Response extends z.ZodType | 'empty' = 'empty',
>(
  definition: RouteFacts & {
    readonly params?: Params;
    readonly query?: Query;
    readonly body?: Body;
    readonly response: Response;
    /** Makes the route answer `Accept: text/csv` with the rows of all items of `data`. */
    readonly csv?: CsvTable<ItemOf<Response>>;
    handler(input: HandlerInput<Params, Query, Body>): Promise<Answer<Response>>;
  },
): RouteDefinition {
  const { handler, params, query, body, response, csv, ...facts } = definition;
  const readPath = params === undefined ? nothing : pathReader(params);
  const readQuery = query === undefined ? nothing : queryReader(query);
  const isStrict = describesMoney(facts);
  const checkFields =
    body === undefined || facts.otherEncoding !== undefined ? undefined : fieldCheck(body, facts.operationId);
  const readBody = async (sent: unknown) => (body === undefined ? undefined : await checkBody(body, sent));
  const placePaging = pagingPlaces(query, body);
  const placed = (input: UncheckedInput): PlacedInput =>
    placePaging === null ? input : { ...input, ...placePaging(input.http.req.query(), input.body) };
  const read = async (input: PlacedInput): Promise<HandlerInput<Params, Query, Body>> => ({
    params: parsedBy<Params>(await readPath(input.http)),
    query: parsedBy<Query>(await readQuery(input.http, input.toQuery)),
    body: parsedBy<Body>(await readBody(input.body)),
    actor: input.actor,
    context: input.context,
  });
  return {
    ...facts,
    params,
    query,
    body,
    response: !isStrict || response === 'empty' ? response : withWarnings(response),
    async run(unchecked) {
      const input = placed(unchecked);
      if (checkFields === undefined) return handler(await read(input));
      const { isLenient = false, onIgnored } = unchecked;
      const checked = await checkFields(input.body, unknownFieldsOf(isStrict, isLenient));
      const result = await handler(await read({ ...input, body: checked.body }));
      if (checked.warnings.length === 0) return result;
      onIgnored?.(checked.warnings.map(({ field }) => field));
      return isStrict && response !== 'empty' ? withMoreWarnings(Object(result), checked.warnings) : result;
    },
    async ask(sent, { actor, context }) {
      const path = params?.safeParse(sent);
      if (path?.success === false) return null;
      const given = { params: parsedBy<Params>(path?.data), query: parsedBy<Query>(query?.parse({})) };
      return handler({ ...given, body: parsedBy<Body>(await readBody(sent)), actor, context });
    },
    ...(csv === undefined ? {} : { csv: { columns: csv.columns, run: (input) => runCsv(csv, input) } }),
  };

  async function* runCsv(table: CsvTable<unknown>, unchecked: UncheckedInput) {
    refusePaging(unchecked.http.req.query());
    refusePaging(unchecked.body);
    const input = { ...(await read(unchecked)), shared: sharedByPages() };
    const reads = csvReads(table, (page) =>
      handler({
        ...input,
        query: parsedBy<Query>(onPage(query, input.query, page)),
        body: parsedBy<Body>(onPage(body, input.body, page)),
      }),
    );
    yield* csvText(table.columns, reads);
  }
}

async function nothing(): Promise<undefined> {}

/** The compiler does not narrow a conditional type in a branch, so this is the one cast. */
function parsedBy<Schema>(value: unknown): Parsed<Schema> {
  return value as Parsed<Schema>;
}
