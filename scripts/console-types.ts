/**
 * Writes the types of the API for the console, from the OpenAPI document of this source: `npm run typecheck` checks
 * the console against the API as it is. The file is not committed, so that two changes of the API never meet in it.
 *
 * The maintained generators need TypeScript 5 beside the 7 here, and write JSON numbers as `number`; the console keeps
 * them as text (`Exact`), so that none becomes a double.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument, Operation } from '../src/api/http/openapi.ts';
import { openApiDocument } from '../src/api/http/openapi.ts';
import { PACKAGE_ROOT } from '../src/core/package-root.ts';
import { everyRouteOfApp } from './reference/every-route.ts';

const FILE = join(PACKAGE_ROOT, 'console/src/api/operations.gen.d.ts');

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

function document(): OpenApiDocument {
  return openApiDocument(everyRouteOfApp(), '0');
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'Exact',
  integer: 'Exact',
  boolean: 'boolean',
  null: 'null',
  object: 'Readonly<Record<string, unknown>>',
};

function typeOf(schema: Schema | boolean | undefined): string {
  if (typeof schema !== 'object') return 'unknown';
  if (schema.$ref !== undefined) return `Schemas[${quoted(schema.$ref.split('/').at(-1) ?? '')}]`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.map((each) => `(${typeOf(each)})`).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${typeOf(each)})`).join(' & ');
  if (schema.properties !== undefined) return objectType(schema);
  if (schema.items !== undefined) return `readonly (${typeOf(schema.items)})[]`;
  if (typeof schema.additionalProperties === 'object') {
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`;
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? 'unknown' : types.map((type) => WORDS[type] ?? 'unknown').join(' | ');
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, each]) => `readonly ${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(each)};`,
  );
  const rest = typeof additionalProperties === 'object' ? ' & Readonly<Record<string, unknown>>' : '';
  return `{ ${members.join(' ')} }${rest}`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function operationType({ parameters, requestBody, responses }: Operation): string {
  const of = (place: 'path' | 'query') =>
    objectType({
      properties: Object.fromEntries(
        parameters.filter((each) => each.in === place).map((each) => [each.name, { type: 'string' }]),
      ),
      required: parameters.filter((each) => each.in === place && each.required).map(({ name }) => name),
    });
  const body = requestBody?.content['application/json']?.schema as Schema | undefined;
  const answer = responses['200']?.content?.['application/json']?.schema as Schema | undefined;
  return `{ params: ${of('path')}; query: ${of('query')}; body: ${body === undefined ? 'undefined' : typeOf(body)}; answer: ${answer === undefined ? 'undefined' : typeOf(answer)} }`;
}

function fileText({ components, paths }: OpenApiDocument): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `  ${quoted(name)}: ${typeOf(schema as Schema)};`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `  ${quoted(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)};`,
    ),
  );
  return [
    '// Written by scripts/console-types.ts.',
    "import type { Exact } from './exact.ts';",
    `export interface Schemas {\n${schemas.join('\n')}\n}`,
    `export interface Operations {\n${operations.join('\n')}\n}\n`,
  ].join('\n\n');
}

writeFileSync(FILE, fileText(document()));
