/**
 * The OpenAPI 3.1 document of an app, generated from the route definitions that answer its requests.
 *
 * Schemas are zod's JSON Schema output, always of the input side: the request that a client may send, and the value
 * that a handler returns. A schema with an `id` becomes a component. Two different schemas must not share an id.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { type Permission, SCOPE_PERMISSIONS } from '../../core/permissions.ts';
import { TOKEN_SCOPES } from '../../core/token-scopes.ts';
import { PARQUET_TYPE } from './answer-form.ts';
import { errorBody } from './errors.ts';
import { PATH_EXAMPLES, REQUEST_EXAMPLES } from './examples/request-examples.ts';
import type { JsonSchema } from './json-schema.ts';
import { permissionOf } from './permissions.ts';
import { type RouteDefinition, takesIdempotencyKey } from './route.ts';
import { exampleOf } from './schema-example.ts';
import { TAGS } from './tags.ts';
import { withUnits } from './units.ts';
import { takesVersion } from './versions.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly style?: 'form';
  readonly explode?: false;
  readonly example?: string | number;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** The permission that the caller needs; null: none. */
  readonly 'x-permission': Permission | null;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<
      Record<string, { type: 'http'; scheme: 'bearer'; description: string }>
    >;
  };
}

const INTRODUCTION =
  'Usage events in, exact invoices out. Every request but those of the service group carries a bearer ' +
  'token. Amounts in US dollars are in cents. Timestamps are RFC 3339 in UTC, intervals half-open. ' +
  'Lists are paged: send `next_page` of an answer to get the page after it. ' +
  'Ids in examples of requests stand for ids of your own objects.';

export function openApiDocument(routes: readonly RouteDefinition[], version: string): OpenApiDocument {
  const components = new Components();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const definition of routes) {
    const operations = paths[definition.path] ?? {};
    operations[definition.method] = operationOf(definition, components);
    paths[definition.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'tallyhouse', version, description: INTRODUCTION },
    tags: tagsOf(routes),
    paths: withAnswers(paths, components.schemas),
    components: {
      schemas: components.schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API token, of scope ingest, read or write, or with a list of permissions.',
        },
      },
    },
  };
}

/** With an example of each answer in JSON, created from its schema. */
function withAnswers(
  paths: OpenApiDocument['paths'],
  schemas: OpenApiDocument['components']['schemas'],
): OpenApiDocument['paths'] {
  const answered = (operation: Operation): Operation => {
    const { 200: done, ...others } = operation.responses;
    const json = done?.content?.['application/json'];
    if (done === undefined || json === undefined) return operation;
    const example = exampleOf(json.schema, schemas);
    const content = { ...done.content, 'application/json': { ...json, example } };
    return { ...operation, responses: { 200: { ...done, content }, ...others } };
  };
  const each = <Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
  return each(paths, (operations) => each(operations, answered));
}

/** In the order of work; tags without a place in it follow the others. */
function tagsOf(routes: readonly RouteDefinition[]): OpenApiDocument['tags'] {
  const used = new Set(routes.flatMap(({ tags }) => tags));
  const known = TAGS.filter(({ name }) => used.delete(name));
  return [...known, ...[...used].map((name) => ({ name }))];
}

function operationOf(definition: RouteDefinition, components: Components): Operation {
  const { operationId, summary, description, tags, scope, body, csv, parquet } = definition;
  const example = REQUEST_EXAMPLES[operationId];
  return {
    operationId,
    summary,
    description: [
      description,
      csv === undefined ? undefined : CSV_OFFERED,
      parquet === undefined ? undefined : PARQUET_OFFERED,
      permissionNeeded(definition),
    ]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    tags,
    'x-permission': permissionOf(definition),
    security: scope === 'public' ? [] : [{ token: [] }],
    parameters: [
      ...parametersOf(definition.params, 'path', components, { ...PATH_EXAMPLES, ...example?.params }),
      ...parametersOf(definition.query, 'query', components, example?.query ?? {}),
      ...(takesIdempotencyKey(definition) ? [IDEMPOTENCY_KEY] : []),
      ...(takesVersion(operationId) ? [IF_MATCH] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.add(body),
                ...(example?.body === undefined ? {} : { example: example.body }),
              },
              ...otherContent(definition, 'request'),
            },
          },
        }),
    responses: responsesOf(definition, components),
  };
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to retry: for 24 hours the same key and body return the first answer, and the operation runs only once.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of the object as it was read. If the object has another version now, the answer is 412 and nothing changes.',
  schema: { type: 'string', minLength: 1, maxLength: 4_000 },
};

const CSV_OFFERED = 'With `Accept: text/csv` the answer is a CSV file of all rows, without paging.';
const PARQUET_OFFERED = `With \`Accept: ${PARQUET_TYPE}\` it is a Parquet file.`;

function permissionNeeded(definition: RouteDefinition): string | undefined {
  const { scope } = definition;
  if (scope === 'public') return undefined;
  const permission = permissionOf(definition);
  if (permission === null) return 'Needs a token, or a session.';
  const scopes = TOKEN_SCOPES.filter((each) => SCOPE_PERMISSIONS[each].has(permission));
  const having = scopes.map((each) => `\`${each}\``).join(' or ');
  return `Needs the permission \`${permission}\`, which a token of scope ${having} has.`;
}

function parametersOf(
  schema: z.ZodObject | undefined,
  location: 'path' | 'query',
  components: Components,
  examples: Readonly<Record<string, string | number>>,
): Parameter[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = components.add(field);
    const example = examples[name];
    return {
      name,
      in: location,
      required: location === 'path' || !field.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(example === undefined ? {} : { example }),
      ...(rest.type === 'array' ? { style: 'form' as const, explode: false as const } : {}),
    };
  });
}

const ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid; the message names the field.',
  401: 'The token is missing or invalid.',
  403: 'The caller lacks the permission of this operation, which the message names.',
  404: 'The object does not exist.',
  409: 'The request conflicts with existing data, such as a uniqueness key that was used before.',
  412: 'The object has another version than `If-Match` names.',
  413: 'The request body is too large.',
  415: 'The format of the body is not supported; see Content-Type and Content-Encoding.',
  429: 'Too many requests or too much data at once; retry after the seconds in Retry-After.',
  500: 'An internal error; the message carries the request id, which is in the log.',
  503: 'The service is not ready; retry.',
};

/** Every status that a route can answer with except 200. Tests check answers against it. */
export function errorStatusesOf(definition: RouteDefinition): number[] {
  // While the service stops, or stored events are missing.
  const always = definition.scope === 'public' ? [500] : [429, 500, 503];
  const statuses = new Set<number>([...always, ...(definition.errors ?? [])]);
  if (definition.scope !== 'public') for (const status of [401, 403]) statuses.add(status);
  if (definition.params !== undefined) statuses.add(404);
  if (definition.query !== undefined) statuses.add(400);
  // A malformed key, and the key of another request or of a running one.
  if (takesIdempotencyKey(definition)) for (const status of [400, 409]) statuses.add(status);
  if (takesVersion(definition.operationId)) statuses.add(412);
  if (definition.body !== undefined) for (const status of [400, 413]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
}

function responsesOf(definition: RouteDefinition, components: Components): Operation['responses'] {
  const { response, mediaType = 'application/json' } = definition;
  const answer =
    response === 'empty'
      ? { description: 'Done; the answer has no body.' }
      : {
          description: 'Done.',
          content: {
            [mediaType]: { schema: components.add(response) },
            ...csvContent(definition),
            ...parquetContent(definition),
            ...otherContent(definition, 'response'),
          },
        };
  const errorSchema = components.add(definition.errorBody ?? errorBody);
  const errors = errorStatusesOf(definition).map(
    (status): [string, { description: string; content: Content }] => [
      String(status),
      {
        description: ERROR_DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/json': { schema: errorSchema }, ...otherContent(definition, 'refusal') },
      },
    ],
  );
  return { [definition.emptyStatus ?? 200]: answer, ...Object.fromEntries(errors) };
}

/** Bodies and answers in the other encoding of a route. */
function otherContent({ otherEncoding }: RouteDefinition, part: 'request' | 'response' | 'refusal'): Content {
  if (otherEncoding === undefined) return {};
  const description = otherEncoding.messages[part];
  return { [otherEncoding.mediaType]: { schema: { type: 'string', format: 'binary', description } } };
}

/** The CSV form of an answer, with the meaning of every column. */
function csvContent({ csv }: RouteDefinition): Content {
  if (csv === undefined) return {};
  if (csv.columns === null) {
    const description = 'All rows, with a header: the columns that were asked for.';
    return { 'text/csv': { schema: { type: 'string', description } } };
  }
  const columns = csv.columns.map(({ name, description }) => `- \`${name}\`: ${description}`);
  const description = `All rows, with a header. The columns:\n${columns.join('\n')}`;
  return { 'text/csv': { schema: { type: 'string', description } } };
}

function parquetContent({ parquet }: RouteDefinition): Content {
  if (parquet === undefined) return {};
  const { description } = parquet;
  return { [PARQUET_TYPE]: { schema: { type: 'string', format: 'binary', description } } };
}

/** Collects component schemas while schemas are written. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /** The JSON Schema of `schema`, in which components are references into this document. */
  add(schema: z.ZodType): JsonSchema {
    const { $schema, $defs, ...written } = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // zod adds these bounds to every integer; they are noise for readers of the reference.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        // Left out, because components are shared by bodies that refuse unknown members and bodies that do not.
        if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    });
    for (const [id, component] of Object.entries($defs ?? {})) {
      const rest = withUnits(withReferences(component), id);
      const before = this.schemas[id];
      assert(
        before === undefined || JSON.stringify(before) === JSON.stringify(rest),
        `two different schemas have the id ${id}`,
      );
      this.schemas[id] = rest;
    }
    return withUnits(withReferences(written));
  }
}

/** Rewrites `#/$defs/X` of a single schema to `#/components/schemas/X` of the document. */
function withReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
