/**
 * Finds fields that an operation does not have. A misspelled field of a request about money would be ignored silently,
 * and the customer billed without it: the request is refused with a suggestion of the nearest field, unless the client
 * prefers lenient handling. Ignored fields are always named in the answer.
 *
 * The fields of an operation are those of its documented schema. Does not own: the fields that are ignored on purpose
 * (`ignored-fields.ts`), and how the answer names them (`ignored-header.ts`).
 */
import { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import { afterOtherWork, resultInChunks } from '../../core/in-chunks.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { perObject } from '../../core/per-object.ts';
import { joinPath } from '../base/names.ts';
import { IGNORED_FIELDS } from './ignored-fields.ts';

const IGNORED = 'is accepted and ignored';
export const NOT_A_FIELD = 'is not a field of this operation';

/** Fields named in one message. */
const NAMED_MAX = 5;

/** A field that was ignored. */
interface Warning {
  readonly field: string;
  readonly message: string;
}

interface Checked {
  /** Without the ignored fields. */
  readonly body: unknown;
  readonly warnings: readonly Warning[];
}

/** The treatment of fields that neither the operation nor the official client knows. */
export type UnknownFields =
  /** The request is refused. */
  | 'refuse'
  /** Only objects whose schema is strict refuse them. */
  | 'refuse-in-strict'
  | 'ignore';

/** The fields of an object, by name; those of list items are fields of the list. Null: it may have any. */
interface Shape {
  readonly fields: ReadonlyMap<string, Shape> | null;
  readonly isStrict: boolean;
}

/** The shapes of the requested schemas, which all applications of a process share. */
const shapeFor = perObject(async (schema: z.ZodType): Promise<Shape> => {
  // Takes some milliseconds, once.
  const shape = shapeOf(schema);
  await afterOtherWork();
  return shape;
});

/** Checks the bodies of one operation. Refuses (`invalid`) unknown fields, as `unknownFields` reports them. */
export function fieldCheck(
  schema: z.ZodType,
  operationId: string,
): (body: unknown, unknownFields?: UnknownFields) => Promise<Checked> {
  const ignored = new Set(IGNORED_FIELDS[operationId]);
  return async (body, unknownFields = 'refuse') => {
    const shape = await shapeFor(schema);
    const unknown: string[] = [];
    const warnings: Warning[] = [];
    const found = { ignored, unknownFields, unknown, warnings };
    const checked = await resultInChunks(checkInSteps(body, shape, found, '', []));
    if (unknown.length === 0) return { body: checked, warnings };
    const rest = unknown.length - NAMED_MAX;
    const shown = unknown.slice(0, NAMED_MAX).join('; ');
    throw new Refusal('invalid', rest > 0 ? `${shown}; and ${rest} more` : shown);
  };
}

interface Found {
  readonly ignored: ReadonlySet<string>;
  readonly unknownFields: UnknownFields;
  readonly unknown: string[];
  readonly warnings: Warning[];
}

type Path = readonly (string | number)[];

/**
 * `names` are those of the path without positions, joined by dots. A part of the body without ignored fields is returned
 * as it is. Yields after each item of a list.
 */
function* checkInSteps(
  value: unknown,
  shape: Shape,
  found: Found,
  names: string,
  path: Path,
): Generator<void, unknown, undefined> {
  if (Array.isArray(value)) return yield* checkItems(value, shape, found, names, path);
  const { fields, isStrict } = shape;
  if (fields === null || !isPlainObject(value)) return value;
  const refuses = found.unknownFields === 'refuse' || (found.unknownFields !== 'ignore' && isStrict);
  const changed = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const place = { names: names === '' ? name : `${names}.${name}`, path: [...path, name] };
    const checked = yield* checkMember(member, name, fields, { found, refuses }, place);
    if (checked !== member) changed.set(name, checked);
  }
  return changed.size === 0 ? value : without(value, changed);
}

/** Undefined: the member is left out. */
function* checkMember(
  member: unknown,
  name: string,
  fields: ReadonlyMap<string, Shape>,
  { found, refuses }: { readonly found: Found; readonly refuses: boolean },
  { names, path }: { readonly names: string; readonly path: Path },
): Generator<void, unknown, undefined> {
  const known = fields.get(name);
  if (found.ignored.has(names) || (known === undefined && !refuses)) {
    // Null and absent mean the same.
    if (member !== null) found.warnings.push({ field: joinPath(path), message: IGNORED });
    return undefined;
  }
  if (known === undefined) {
    found.unknown.push(`${joinPath(path)}: ${NOT_A_FIELD}${suggestion(name, [...fields.keys()])}`);
    return member;
  }
  return typeof member === 'object' ? yield* checkInSteps(member, known, found, names, path) : member;
}

function* checkItems(
  list: readonly unknown[],
  shape: Shape,
  found: Found,
  names: string,
  path: Path,
): Generator<void, readonly unknown[], undefined> {
  const items: unknown[] = [];
  for (const [index, item] of list.entries()) {
    items.push(yield* checkInSteps(item, shape, found, names, [...path, index]));
    yield;
  }
  return items.some((item, index) => item !== list[index]) ? items : list;
}

/** The object with members replaced, or left out where they are undefined. */
function without(value: object, changed: ReadonlyMap<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (!changed.has(name)) return [[name, member]];
      const replaced = changed.get(name);
      return replaced === undefined ? [] : [[name, replaced]];
    }),
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  );
}

function suggestion(name: string, known: readonly string[]): string {
  const most = Math.ceil(name.length / 3);
  const best = nearestName(name, known, () => most);
  return best === null ? '' : `; did you mean ${best}?`;
}

/** The part of JSON Schema that defines the fields. */
interface Described {
  readonly $ref?: string;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: unknown;
  readonly type?: unknown;
}

function shapeOf(schema: z.ZodType): Shape {
  const { $defs = {}, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return merged([described as Described], $defs as Readonly<Record<string, Described>>);
}

/** The schemas whose members it has as well. */
function partsOf(
  { $ref, items, anyOf = [], oneOf = [], allOf = [] }: Described,
  definitions: Readonly<Record<string, Described>>,
): Described[] {
  const target = $ref === undefined ? undefined : definitions[$ref.replace('#/$defs/', '')];
  return [target, items, ...anyOf, ...oneOf, ...allOf].flatMap((part) => part ?? []);
}

function hasAnyMembers(
  { properties, additionalProperties, type }: Described,
  parts: readonly Described[],
): boolean {
  if (properties !== undefined) return typeof additionalProperties === 'object';
  return type === 'object' || (parts.length === 0 && type === undefined);
}

/** The fields that at least one of the schemas has. */
function merged(schemas: readonly Described[], definitions: Readonly<Record<string, Described>>): Shape {
  const members = new Map<string, Described[]>();
  let isOpen = false;
  let isStrict = false;
  const add = (one: Described): void => {
    const parts = partsOf(one, definitions);
    for (const part of parts) add(part);
    for (const [name, member] of Object.entries(one.properties ?? {})) {
      members.set(name, [...(members.get(name) ?? []), member]);
    }
    if (one.additionalProperties === false) isStrict = true;
    if (hasAnyMembers(one, parts)) isOpen = true;
  };
  for (const schema of schemas) add(schema);
  if (isOpen || members.size === 0) return { fields: null, isStrict: false };
  const fields = new Map([...members].map(([name, of]) => [name, merged(of, definitions)]));
  return { fields, isStrict };
}
