/**
 * Checks an answer against its route: status, media type, schema of the body, and no undeclared members. Throws
 * an `Error` that describes the difference.
 */
import { z } from 'zod';
import { JsonNumber, parseJson } from '../../src/api/base/json.ts';
import { CSV_TYPE } from '../../src/api/http/csv.ts';
import { errorBody } from '../../src/api/http/errors.ts';
import { errorStatusesOf } from '../../src/api/http/openapi.ts';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import { parseCsv } from './csv.ts';

const PDF_TYPE = 'application/pdf';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Returns the body: parsed without losing a digit if it is JSON, else as text. */
export function checkAnswer(
  routes: readonly RouteDefinition[],
  method: string,
  path: string,
  answer: RawAnswer,
): unknown {
  const where = `${method} ${path} → ${answer.status} ${answer.text.slice(0, 500)}`;
  const fail = (problem: string): never => {
    throw new Error(`${where}\nbreaks its contract: ${problem}`);
  };
  if (answer.headers.get('x-request-id') === null) fail('no x-request-id');
  const definition = routeFor(routes, method, path);
  const schema = definition === undefined ? errorBody : schemaFor(definition, answer.status);
  if (definition === undefined && answer.status !== 404 && answer.status !== 405) fail('no such route');
  if (schema === undefined) return fail(`status ${answer.status} is not declared`);
  if (schema === 'empty') return answer.text === '' ? undefined : fail('a body where none is declared');
  const csv = answer.status === 200 && isCsv(answer.headers) ? definition?.csv : undefined;
  if (csv !== undefined) {
    const problem = csvProblem(csv.columns, answer.text);
    return problem === null ? answer.text : fail(problem);
  }
  const mediaType =
    answer.status === 200 ? (definition?.mediaType ?? 'application/json') : 'application/json';
  if (answer.headers.get('content-type') !== mediaType) fail(`content type is not ${mediaType}`);
  // A file is checked by the tests that read its bytes.
  if (mediaType === PDF_TYPE) return answer.text.startsWith('%PDF-') ? answer.text : fail('no PDF');
  const body = mediaType === 'application/json' ? parseJson(answer.text) : answer.text;
  const parsed = schema.safeParse(body);
  if (!parsed.success) return fail(z.prettifyError(parsed.error));
  const undeclared = undeclaredMembers(body, parsed.data, '');
  if (undeclared.length > 0) fail(`members that the schema does not name: ${undeclared.join(', ')}`);
  return body;
}

function isCsv(headers: Headers): boolean {
  return headers.get('content-type') === CSV_TYPE;
}

/** The problem of an answer as CSV, or null. */
function csvProblem(columns: readonly { readonly name: string }[] | null, text: string): string | null {
  const [header = [], ...rows] = parseCsv(text);
  const names = columns?.map(({ name }) => name) ?? header;
  if (JSON.stringify(header) !== JSON.stringify(names)) return `the header is ${header.join()}`;
  const uneven = rows.find((row) => row.length !== names.length);
  return uneven === undefined ? null : `a row has ${uneven.length} cells: ${uneven.join()}`;
}

function schemaFor(definition: RouteDefinition, status: number): z.ZodType | 'empty' | undefined {
  if (status === (definition.emptyStatus ?? 200)) return definition.response;
  if (!errorStatusesOf(definition).includes(status)) return undefined;
  return definition.errorBody ?? errorBody;
}

/** The route that a path belongs to; a fixed segment wins over a parameter. */
export function routeFor(
  routes: readonly RouteDefinition[],
  method: string,
  path: string,
): RouteDefinition | undefined {
  const segments = (path.split('?')[0] ?? '').split('/');
  const parameters = (definition: RouteDefinition): string => definition.path.replaceAll(/[^/{]/g, '');
  return routes
    .filter((definition) => definition.method === method.toLowerCase())
    .filter((definition) => {
      const pattern = definition.path.split('/');
      return (
        pattern.length === segments.length &&
        pattern.every(
          (part, index) => part === segments[index] || (part.startsWith('{') && segments[index] !== ''),
        )
      );
    })
    .sort((a, b) => (parameters(a) < parameters(b) ? -1 : 1))[0];
}

/**
 * Zod drops members that a schema does not name: members that the parsed value lacks were not declared. From maps with
 * free names it drops `__proto__` too, a possible name of a property of an event.
 */
function undeclaredMembers(sent: unknown, parsed: unknown, path: string): string[] {
  if (Array.isArray(sent) && Array.isArray(parsed)) {
    return sent.flatMap((item, index) => undeclaredMembers(item, parsed[index], `${path}[${index}]`));
  }
  if (!isPlainObject(sent) || !isPlainObject(parsed)) return [];
  return Object.entries(sent).flatMap(([name, value]) => {
    const member = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(parsed, name)) return undeclaredMembers(value, parsed[name], member);
    return name === '__proto__' ? [] : [member];
  });
}

/** Whether JSON has members, and is no number. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}
