/**
 * Checks input against a schema, and writes the messages of refusals.
 *
 * Owns: the text of refusals, which name the field by its wire path. A schema's own message is kept.
 * Does not own: status codes (`errors.ts`), names (`wire/names.ts`).
 */
import type { z } from 'zod';
import { type FieldPath, type Problem, Refusal } from '../../core/errors.ts';
import { joinPath, type WireWords, wirePath } from '../base/names.ts';
import { NOT_A_FIELD } from './unknown-fields.ts';

/** Problems named in one message. The first few are enough to act on. */
const PROBLEMS_MAX = 5;
const ECHOED_CHARACTERS_MAX = 200;

/**
 * Returns the schema's output. Throws a `Refusal` for invalid input: 404 for a malformed path parameter,
 * which cannot name anything that exists, and 400 for everything else.
 */
export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  source: 'path' | 'query' | 'body',
  value: unknown,
): z.output<Schema> {
  const result = parseInput(schema, value);
  if (result.success) return result.data;
  throw refusalOf(result.error.issues, source, value);
}

/** Parses with the messages of this service. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  return schema.safeParse(value, { error: describe });
}

/** The refusal of `value`, in which its schema found `issues`. */
export function refusalOf(
  issues: readonly z.core.$ZodIssue[],
  source: 'path' | 'query' | 'body',
  value: unknown,
): Refusal {
  if (source === 'path') return pathNotFound(value, issues);
  const problems = [...new Set(issuesToName(issues).map((issue) => problemOf(issue, source)))];
  const shown = problems.slice(0, PROBLEMS_MAX).join('; ');
  const rest = problems.length - PROBLEMS_MAX;
  return new Refusal('invalid', rest > 0 ? `${shown}; and ${rest} more` : shown);
}

/** The message of a refusal; `own` are the route's wire names. */
export function refusalText({ path, problem }: Refusal, own?: WireWords): string {
  const text = typeof problem === 'string' ? problem : textOf(problem, path, own);
  return path.length === 0 ? text : fieldProblem(wirePath(path, own), text);
}

function textOf(parts: Exclude<Problem, string>, path: FieldPath, own: WireWords | undefined): string {
  const place = placeOf(path);
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      return part instanceof Refusal ? refusalText(part, own) : wirePath(part, own, place);
    })
    .join('');
}

/** The name of the object that contains the field; for an item, of the object that contains its list. */
function placeOf(path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string');
  return names.at(-2) ?? '';
}

/** The one form of a message about a field. `field` is a wire path. */
function fieldProblem(field: string, text: string): string {
  return `${field}: ${text}`;
}

function pathNotFound(params: unknown, issues: readonly z.core.$ZodIssue[]): Refusal {
  const name = String(issues[0]?.path[0] ?? 'resource');
  const value: unknown =
    typeof params === 'object' && params !== null
      ? Object.entries(params).find(([key]) => key === name)?.[1]
      : '';
  return new Refusal(
    'not_found',
    `${name.replace(/_id$/, '').replaceAll('_', ' ')} ${echoed(String(value))} not found`,
  );
}

/** A client's text as messages repeat it: not at length, and without characters that disturb readers. */
function echoed(sent: string): string {
  return sent.slice(0, ECHOED_CHARACTERS_MAX).replaceAll(/\p{Cc}|\p{Surrogate}/gu, '\ufffd');
}

/** If there are unknown members, only those are named: a missing member may be a misspelled one. */
function issuesToName(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ ...issue, path: [...issue.path, key], message: NOT_A_FIELD }))
      : [],
  );
  return unknown.length > 0 ? unknown : issues;
}

function problemOf(issue: z.core.$ZodIssue, source: 'query' | 'body'): string {
  const deepest = issue.code === 'invalid_union' ? deepestOfUnion(issue) : issue;
  return fieldProblem(joinPath(deepest.path) || source, deepest.message);
}

/** The issue of the union branch that parsed furthest, which is most likely the one the client meant. */
function deepestOfUnion(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue {
  const candidates = issue.errors
    .flatMap((branch) => branch.slice(0, 1))
    .map((inner) => (inner.code === 'invalid_union' ? deepestOfUnion(inner) : inner))
    .filter((inner) => inner.path.length > 0)
    .sort((a, b) => b.path.length - a.path.length);
  const [first] = candidates;
  return first === undefined ? issue : { ...first, path: [...issue.path, ...first.path] };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  guid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'an RFC 3339 timestamp',
};

/** zod calls this for every issue whose schema has no message. */
function describe(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${oneOf(issue.values)}`;
    case 'invalid_format':
      return `must be ${FORMAT_NAMES[issue.format] ?? `in the format ${issue.format}`}`;
    case 'too_small':
      return `must ${bound(issue.origin, Number(issue.minimum), 'at least', issue.inclusive ?? true)}`;
    case 'too_big':
      return `must ${bound(issue.origin, Number(issue.maximum), 'at most', issue.inclusive ?? true)}`;
    case 'invalid_union':
      return unionMessage(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not valid';
  }
}

function unionMessage(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (issue.input === undefined) return 'is required';
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  if (options.length > 0) return `must be ${oneOf(options)}`;
  const messages = issue.errors.flatMap((branch) => branch.map((inner) => inner.message));
  return [...new Set(messages)].slice(0, PROBLEMS_MAX).join(', or ') || 'is not valid';
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)),
  );
  return shown.length === 1 ? shown.join('') : `one of ${shown.join(', ')}`;
}

function bound(origin: string, limit: number, word: 'at least' | 'at most', inclusive: boolean): string {
  const plural = limit === 1 ? '' : 's';
  if (origin === 'string') return `be ${word} ${limit} character${plural} long`;
  if (origin === 'array' || origin === 'set') return `have ${word} ${limit} item${plural}`;
  if (origin === 'object' || origin === 'map') return `have ${word} ${limit} member${plural}`;
  if (inclusive) return `be ${word} ${limit}`;
  return word === 'at least' ? `be greater than ${limit}` : `be less than ${limit}`;
}
