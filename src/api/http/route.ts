/**
 * What a route is: one definition that holds path, schemas and handler. `register.ts` binds it to HTTP
 * and `openapi.ts` writes it into the OpenAPI document, so that what is documented is what runs.
 *
 * Owns: the types that route files are written against. Does not own: HTTP, tokens, error bodies.
 */
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Actor } from '../../access/tokens.ts';
import type { WireWords } from '../wire/names.ts';
import { pathReader, queryReader } from './hono-input.ts';
import { checkInput } from './problems.ts';

/** Who may call: any token of that scope (a `write` token may call everything), or everybody for `public`. */
export type RouteScope = 'read' | 'write' | 'ingest' | 'public';

/** Refusals that a route can answer besides those that every route has (401, 403, 500). */
type ErrorStatus = 400 | 404 | 409 | 413 | 429 | 503;

/** What a handler may know of the HTTP request. */
export interface RequestContext {
  readonly requestId: string;
  readonly userAgent: string | null;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Answer<Response> = Response extends z.ZodType ? z.input<Response> : unknown;

export interface HandlerInput<Params, Query, Body> {
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  readonly actor: Actor;
  readonly context: RequestContext;
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
  /** The shape of refusals where they carry more than `message` and `code`. */
  readonly errorBody?: z.ZodType;
  /** Of the answer. With anything but JSON the handler returns the text to send. */
  readonly mediaType?: string;
  /** Words of this route's requests for names of its use case, before those of `wire/names.ts`. */
  readonly wireWords?: WireWords;
}

/** A route whose handler has been closed over its schemas; `run` takes input that nobody has checked yet. */
export interface RouteDefinition extends RouteFacts {
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** With `bytes` nobody parses the body: `run` gets it as a `Buffer`, and the schema only documents it. */
  readonly bodyKind?: 'json' | 'bytes';
  /** The body of the 200 answer, or `empty` for an answer without one. */
  readonly response: z.ZodType | 'empty';
  run(input: UncheckedInput): Promise<unknown>;
}

interface UncheckedInput {
  /** Where path and query parameters are read from. */
  readonly http: Context;
  /** The parsed JSON body, `{}` for an empty one; the bytes where the route wants bytes. */
  readonly body: unknown;
  readonly actor: Actor;
  readonly context: RequestContext;
}

/**
 * Defines a route. The handler gets the outputs of the schemas and returns the response body as plain
 * data, in which amounts are `Decimal`s. It refuses by throwing a `Refusal`.
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
    handler(input: HandlerInput<Params, Query, Body>): Promise<Answer<Response>>;
  },
): RouteDefinition {
  const { handler, params, query, body, response, ...facts } = definition;
  const readPath = params === undefined ? nothing : pathReader(params);
  const readQuery = query === undefined ? nothing : queryReader(query);
  const readBody = (sent: unknown) => (body === undefined ? undefined : checkInput(body, 'body', sent));
  return {
    ...facts,
    params,
    query,
    body,
    response,
    async run(input) {
      return handler({
        params: parsedBy<Params>(await readPath(input.http)),
        query: parsedBy<Query>(await readQuery(input.http)),
        body: parsedBy<Body>(readBody(input.body)),
        actor: input.actor,
        context: input.context,
      });
    },
  };
}

async function nothing(): Promise<undefined> {}

/** The compiler cannot follow a conditional type through a branch; this is the one place that tells it. */
function parsedBy<Schema>(value: unknown): Parsed<Schema> {
  return value as Parsed<Schema>;
}
