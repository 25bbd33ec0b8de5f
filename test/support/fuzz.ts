/**
 * Random requests, generated from the schemas of the operations: mostly right in form, wrong in places, and about
 * objects that exist as often as about objects that do not.
 */

import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { z } from 'zod';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import type { ApiAnswer } from './api-client.ts';
import type { TestService } from './service.ts';

/** The part of JSON Schema that says how a value looks. */
interface Described {
  readonly $ref?: string;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Described | boolean;
}

interface FuzzedRequest {
  readonly route: RouteDefinition;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface FuzzFigures {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/**
 * Moving the clock to 2099 would keep a test for hours. Readiness has a limit of time, which a busy machine exceeds:
 * tests ask for it at their end.
 */
const LEFT_OUT = new Set(['moveSandboxClock', 'readiness']);
/** Ingest names an invalid event by its id as it was sent; the client of the tests does not read these. */
const UNREADABLE = /\\u(?:0000|d[89a-f][0-9a-f]{2})/g;
const DEPTH_MAX = 6;
const AT_ONCE = 20;

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '__proto__',
    "'; drop table x; --",
    '{0}',
    '𝒳'.repeat(90),
    'x'.repeat(3_000),
  ),
);
const numbers = fc.oneof(
  fc.integer({ min: -3, max: 2_000 }),
  fc.double(),
  fc.constantFrom(0, -1, 1e308, 1e-308, 2 ** 53 + 2, 0.1, 1e21, 2 ** 31, 2 ** 63),
);
const instants = fc.oneof(
  fc.constantFrom(
    '2026-10-01T00:00:00Z',
    '2026-11-01T00:00:00Z',
    '2026-11-10T00:00:00Z',
    '2026-12-01T00:00:00Z',
    '2027-10-01T00:00:00Z',
    '2026-11-10T00:00:00.001Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { id: null }, JSON.parse('{"__proto__":{"x":1}}')),
  text,
  numbers,
  fc.jsonValue({ maxDepth: 2 }),
);

/** Sends `count` random requests, and checks what must hold for each of them, and for the service afterwards. */
export async function fuzz(service: TestService, count: number, seed: number): Promise<FuzzFigures> {
  const routes = service.routes.filter(({ operationId }) => !LEFT_OUT.has(operationId));
  const ids = [service.token];
  const requests = fc.oneof(
    ...routes.map((route) =>
      requestTo(
        route,
        fc.nat().map((n) => ids[n % ids.length] ?? ''),
      ),
    ),
  );
  const statuses = new Map<number, number>();
  let before = await rowsOf(service);
  for (let sent = 0; sent < count; ) {
    const batch = fc.sample(requests, { numRuns: Math.min(AT_ONCE, count - sent), seed: seed + sent });
    const answers = await Promise.all(batch.map((request) => answerTo(service, request)));
    for (const [index, { status, at }] of answers.entries()) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const id = at('data.id');
      if (typeof id === 'string' && ids.length < 500) ids.push(id);
      if (status >= 500)
        throw new Error(`${status}: ${shown(batch[index])} → ${JSON.stringify(answers[index]?.body)}`);
    }
    const changed = answers.some(({ status }, index) => status === 200 && isWrite(batch[index]?.route));
    const after = await rowsOf(service);
    if (!changed && after !== before) {
      throw new Error(`something is stored although all were refused: ${batch.map(shown).join('\n')}`);
    }
    before = after;
    sent += batch.length;
  }
  return { requests: count, statuses };
}

function isWrite(route: RouteDefinition | undefined): boolean {
  return route !== undefined && route.scope !== 'read' && route.scope !== 'public';
}

/** The client checks each answer against its declared schema, so that a refusal without a message fails here. */
async function answerTo({ api, token }: TestService, request: FuzzedRequest): Promise<ApiAnswer> {
  const { route, path, query, body } = request;
  try {
    const answer = await api.send(route.method.toUpperCase(), path, undefined, {
      query,
      token,
      ...(body === undefined ? {} : { rawBody: body, headers: { 'content-type': 'application/json' } }),
    });
    if (answer.status >= 400 && typeof answer.at('message') !== 'string')
      throw new Error('there is no message');
    return answer;
  } catch (error) {
    throw new Error(`${shown(request)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function shown(request: FuzzedRequest | undefined): string {
  if (request === undefined) return '';
  const { route, path, query, body } = request;
  return `${route.method} ${path} ${JSON.stringify(query)} ${body?.slice(0, 2_000) ?? ''}`;
}

/**
 * Everything that clients have stored, as one number. Jobs and records of requests are not counted: they change alone.
 */
async function rowsOf({ db }: TestService): Promise<string> {
  const tables = [
    'customers',
    'ingest_aliases',
    'billable_metrics',
    'products',
    'product_versions',
    'rate_cards',
    'rates',
    'packages',
    'contracts',
    'contract_edits',
    'commits',
    'recurring_commits',
    'overrides',
    'scheduled_charges',
    'subscriptions',
    'custom_field_keys',
    'custom_field_values',
    'credit_types',
    'tokens',
  ];
  const counts = tables.map((name) => sql`(select count(*) from ${sql.identifier(name)})`);
  const [row] = await db.execute<{ rows: string }>(
    sql`select concat_ws(' ', ${sql.join(counts, sql`, `)}) as rows`,
  );
  return row?.rows ?? '';
}

function requestTo(route: RouteDefinition, id: fc.Arbitrary<string>): fc.Arbitrary<FuzzedRequest> {
  const params = route.path.match(/\{[^}]+\}/g) ?? [];
  const segments = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: id },
      { weight: 1, arbitrary: text.filter((one) => one !== '' && !/[/]|\p{Surrogate}|^\.+$/u.test(one)) },
    ),
    {
      minLength: params.length,
      maxLength: params.length,
    },
  );
  return fc
    .record({
      segments,
      query: route.query === undefined ? fc.constant({}) : queryOf(route.query, id),
      body:
        route.body === undefined
          ? fc.constant(undefined)
          : bodyOf(route.body, id).map((body) =>
              route.bodyKind === 'bytes' ? body.replaceAll(UNREADABLE, '') : body,
            ),
    })
    .map(({ segments: values, query, body }) => ({
      route,
      path: params.reduce(
        (path, name, index) => path.replace(name, encodeURIComponent(values[index] ?? 'x')),
        String(route.path),
      ),
      query,
      body,
    }));
}

function queryOf(schema: z.ZodType, id: fc.Arbitrary<string>): fc.Arbitrary<Record<string, string>> {
  return valueFor(schemaOf(schema), id).map((value) =>
    Object.fromEntries(
      Object.entries(value !== null && typeof value === 'object' ? value : {}).map(([name, one]) => [
        name,
        typeof one === 'string' ? one.replaceAll(/\p{Surrogate}/gu, '?') : (JSON.stringify(one) ?? ''),
      ]),
    ),
  );
}

function bodyOf(schema: z.ZodType, id: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const json = valueFor(schemaOf(schema), id).map((value) => JSON.stringify(value) ?? '');
  const broken = fc.tuple(json, fc.nat(50)).map(([whole, kept]) => whole.slice(0, kept));
  const odd = fc.constantFrom(
    '',
    'null',
    '[]',
    '1e999',
    '[1e-999]',
    '{"a":1,"a":2}',
    '['.repeat(100),
    '"\\ud800"',
  );
  return fc.oneof(
    { weight: 30, arbitrary: json },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: odd },
  );
}

interface Whole {
  readonly root: Described;
  readonly definitions: Readonly<Record<string, Described>>;
}

function schemaOf(schema: z.ZodType): Whole {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { root: root as Described, definitions: $defs as Readonly<Record<string, Described>> };
}

function valueFor({ root, definitions }: Whole, id: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const wrongNowAndThen = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 25, arbitrary: right }, { weight: 1, arbitrary: junk });
  const of = (schema: Described | undefined, depth: number): fc.Arbitrary<unknown> =>
    wrongNowAndThen(rightOne(schema, depth));
  const rightOne = (schema: Described | undefined, depth: number): fc.Arbitrary<unknown> => {
    if (schema === undefined || depth > DEPTH_MAX) return junk;
    if (schema.$ref !== undefined) return rightOne(definitions[schema.$ref.replace('#/$defs/', '')], depth);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) return fc.oneof(...branches.map((branch) => of(branch, depth + 1)));
    const { properties, additionalProperties } = schema;
    if (properties !== undefined) {
      const members = Object.entries(properties).map(
        ([name, member]) => [name, of(member, depth + 1)] as const,
      );
      const required = fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 1, 0);
      return required.chain((all) =>
        fc.record(Object.fromEntries(members), {
          requiredKeys: all === 1 ? [...(schema.required ?? [])] : [],
        }),
      );
    }
    if (schema.type === 'array') return fc.array(of(schema.items, depth + 1), { maxLength: 2 });
    if (schema.type === 'object') {
      const member = typeof additionalProperties === 'object' ? additionalProperties : { type: 'string' };
      return fc.dictionary(text, of(member, depth + 1), { maxKeys: 2 });
    }
    if (schema.type === 'string')
      return schema.format === 'uuid' ? id : schema.format === 'date-time' ? instants : text;
    if (schema.type === 'integer' || schema.type === 'number') return numbers;
    if (schema.type === 'boolean') return fc.boolean();
    if (schema.type === 'null') return fc.constant(null);
    return junk;
  };
  return of(root, 0);
}
