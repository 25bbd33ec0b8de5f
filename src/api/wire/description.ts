/**
 * Fields of wire objects. One field defines how a value is parsed, documented, written into answers and
 * patched. `record.ts` combines fields into objects.
 *
 * |                | absent or null in a request | in an answer     | null in a patch |
 * |----------------|-----------------------------|------------------|-----------------|
 * | a plain kind   | refused                     | always           | no change       |
 * | `optional`     | null                        | if not null      | removes it      |
 * | `optionalMany` | the empty list or map       | if not empty     | removes all     |
 * | `decided`      | null: the service decides   | always           | no change       |
 * | `defaulted`    | the default value           | always           | no change       |
 */
import { z } from 'zod';
import type { TermNames } from '../../billing/contracts/term-names.ts';
import { CHUNK_ITEMS } from '../../core/in-chunks.ts';
import { JsonList, JsonText, stringifyJson } from '../base/json.ts';

/** Whether unknown members of a record are refused or ignored. */
export type Mode = 'strict' | 'tolerant';

/** The schema of a value in each mode. */
export type Inputs<Value> = Readonly<Record<Mode, z.ZodType<Value>>>;

/** A kind of value. `Sent` is the parsed value of a request, `Stored` the value that answers are written from. */
export interface Kind<Sent, Stored = Sent> {
  readonly input: Inputs<Sent>;
  readonly output: z.ZodType;
  /** Undefined leaves the member out. */
  write(value: Stored, names: TermNames): unknown;
  /**
   * The state that the JSON of a value shows besides the value. A long list writes a value that cannot change once, and
   * again when this has changed.
   */
  shownNames?(value: Stored, names: TermNames): string;
}

/** Wire names that replace the one from `wireName`. */
interface Words {
  readonly sentAs?: string;
  readonly answeredAs?: string;
}

/** A kind of value as a member of a record, with its behaviour in a patch. */
export interface Field<Sent, Stored = Sent, PatchSent = Sent, PatchStored = Stored>
  extends Kind<Sent, Stored>,
    Words {
  /** Absent: no change. Null removes an optional value; for any other it means no change. */
  patch(): Kind<PatchSent | undefined, PatchStored | undefined>;
  /** Absent: in both requests and answers. */
  readonly side?: 'sent' | 'answered' | 'inside';
}

/** A field of any kind. */
export type AnyField = Field<unknown, unknown, unknown, unknown>;

export interface HasSide<Side extends string> {
  readonly side: Side;
}

/** Uses one schema for both modes. */
export function each<From, To>(
  inputs: Inputs<From>,
  make: (input: z.ZodType<From>) => z.ZodType<To>,
): Inputs<To> {
  const tolerant = make(inputs.tolerant);
  return { tolerant, strict: inputs.strict === inputs.tolerant ? tolerant : make(inputs.strict) };
}

/** A required field. */
export function field<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent, Stored> {
  return {
    ...of,
    patch: () => ({
      input: each(of.input, (input) => input.nullish().transform((value) => value ?? undefined)),
      output: of.output.optional(),
      write: (value, names) => (value === undefined ? undefined : of.write(value, names)),
    }),
  };
}

/** A value that is not a record: its schema in requests, its schema in answers, and how it is written. */
export function kind<Sent, Stored = Sent>(
  input: z.ZodType<Sent>,
  output: z.ZodType,
  write: (value: Stored, names: TermNames) => unknown = (value) => value,
): Field<Sent, Stored> {
  return field({ input: { strict: input, tolerant: input }, output, write });
}

/** May be absent or null. */
export function optional<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored | null> {
  return {
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? null)),
    output: of.output.optional(),
    write: (value, names) => (value === null ? undefined : of.write(value, names)),
    patch: () => removable(of),
  };
}

/** May be absent or null; both mean empty. */
export function optionalMany<Sent, Stored extends object>(
  of: Kind<Sent, Stored>,
  empty: Sent,
): Field<Sent, Stored, Sent | null, Stored | null> {
  return {
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? empty)),
    output: of.output.optional(),
    write: (value, names) => (isEmpty(value) ? undefined : of.write(value, names)),
    patch: () => removable(of),
  };
}

export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function removable<Sent, Stored>(
  of: Kind<Sent, Stored>,
): Kind<Sent | null | undefined, Stored | null | undefined> {
  return {
    input: each(of.input, (input) => input.nullish()),
    output: of.output.nullable().optional(),
    write: (value, names) => (value === null || value === undefined ? value : of.write(value, names)),
  };
}

/** Always in answers, possibly null. */
export function nullable<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored | null> {
  return {
    ...optional(of),
    output: of.output.nullable(),
    write: (value, names) => (value === null ? null : of.write(value, names)),
  };
}

/** May be absent or null; then the service decides. */
export function decided<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored, Sent, Stored> {
  return { ...field(of), input: optional(of).input };
}

/** May be absent or null; both mean `otherwise`. */
export function defaulted<Sent, Stored>(of: Kind<Sent, Stored>, otherwise: Sent): Field<Sent, Stored> {
  return {
    ...field(of),
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? otherwise)),
  };
}

/** Bounds apply to requests. A list that only answers have needs none. */
export function list<Sent, Stored>(
  of: Kind<Sent, Stored>,
  { min, max }: { readonly min?: number; readonly max?: number } = {},
): Field<readonly Sent[], readonly Stored[]> {
  const write = keepsTexts(of) ? writeOnce(of) : of.write;
  return field({
    input: each(of.input, (input) => {
      const items = z.array(input);
      const some = min === undefined ? items : items.min(min);
      return max === undefined ? some : some.max(max);
    }),
    output: z.array(of.output),
    write: (values, names) =>
      values.length > CHUNK_ITEMS
        ? new JsonList(values, (value) => write(value, names))
        : values.map((value) => of.write(value, names)),
  });
}

type KeepsTexts = Required<Pick<Kind<unknown, object>, 'write' | 'shownNames'>>;

function keepsTexts(of: Pick<Kind<unknown>, 'shownNames'>): of is KeepsTexts {
  return of.shownNames !== undefined;
}

/** Texts are cached for as long as their values are used. */
function writeOnce(of: KeepsTexts): (value: unknown, names: TermNames) => unknown {
  const texts = new WeakMap<object, { readonly shown: string; readonly text: JsonText }>();
  return (value, names) => {
    const one = value as object;
    if (!Object.isFrozen(one)) return of.write(one, names);
    const shown = of.shownNames(one, names);
    const known = texts.get(one);
    if (known?.shown === shown) return known.text;
    const text = new JsonText(stringifyJson(of.write(one, names)));
    texts.set(one, { shown, text });
    return text;
  };
}

/** Only in requests. */
export function sent<One extends AnyField>(of: One): One & HasSide<'sent'> {
  return { ...of, side: 'sent' };
}

/** Only in answers. */
export function answered<One extends AnyField>(of: One): One & HasSide<'answered'> {
  return { ...of, side: 'answered' };
}

/** Only in answers; the caller supplies the wire value. */
export function byHand<Wire>(output: z.ZodType<unknown, Wire>): Field<never, Wire> {
  return kind<never, Wire>(z.never(), output);
}

/** Adds a description in requests. */
export function described<One extends AnyField>(description: string, of: One): One {
  return { ...describedKind(description, of), patch: () => describedKind(description, of.patch()) };
}

function describedKind<Of extends Kind<unknown>>(description: string, of: Of): Of {
  return { ...of, input: each(of.input, (input) => input.meta({ description })) };
}

/** Adds a description in answers. */
export function noted<One extends AnyField>(description: string, of: One): One {
  return { ...of, output: of.output.meta({ description }) };
}

/** The field with another wire name than in `names.ts`. */
export function called<One extends AnyField>(name: string, of: One): One {
  return { ...of, sentAs: name, answeredAs: name };
}

/** The field with separate wire names for requests and answers. */
export function named<One extends AnyField>({ sentAs, answeredAs }: Words, of: One): One {
  return {
    ...of,
    ...(sentAs === undefined ? {} : { sentAs }),
    ...(answeredAs === undefined ? {} : { answeredAs }),
  };
}

/** The patch form of a field. */
export function patchOf<Sent, Stored>(
  of: Field<unknown, never, Sent, Stored>,
): Field<Sent | undefined, Stored | undefined> {
  return named(of, field(of.patch()));
}

/** The patch form of each field. */
export function patched<Of extends Readonly<Record<string, AnyField>>>(fields: Of): PatchedOf<Of> {
  const entries = Object.entries(fields).map(([name, of]) => [name, patchOf(of)]);
  return Object.fromEntries(entries) as PatchedOf<Of>;
}

type PatchedOf<Of extends Readonly<Record<string, AnyField>>> = {
  readonly [Name in keyof Of]: ReturnType<Of[Name]['patch']> extends Kind<infer Sent, infer Stored>
    ? Field<Sent, Stored>
    : never;
};
