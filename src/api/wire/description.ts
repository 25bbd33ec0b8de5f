/**
 * Fields of descriptions. A field says once how its value is read from a request, how it is documented, how
 * it is written into an answer, and what becomes of it in a patch. `record.ts` makes objects of fields.
 *
 * |                 | left out or null in a request | in an answer         | null in a patch  |
 * |-----------------|-------------------------------|----------------------|------------------|
 * | a kind as it is | refused                       | always               | changes nothing  |
 * | `optional`      | null                          | if there is one      | takes it away    |
 * | `optionalMany`  | the empty list or map         | if it is not empty   | takes all away   |
 * | `decided`       | null: the service decides     | always               | changes nothing  |
 * | `defaulted`     | the value that it names       | always               | changes nothing  |
 */
import { z } from 'zod';
import type { TermNames } from '../../billing/contracts/reads/contract-views.ts';

/** Whether members that a record does not name are refused or ignored. */
export type Mode = 'strict' | 'tolerant';

/** Both ways of reading one value. */
export type Inputs<Value> = Readonly<Record<Mode, z.ZodType<Value>>>;

/** A kind of value. `Sent` is what reading makes of it, `Stored` what answers are written from. */
export interface Kind<Sent, Stored = Sent> {
  readonly input: Inputs<Sent>;
  readonly output: z.ZodType;
  /** Undefined: the member is left out. */
  write(value: Stored, names: TermNames): unknown;
}

/** In place of what `wireName` says. */
interface Words {
  readonly sentAs?: string;
  readonly answeredAs?: string;
}

/** A kind of value as a member of a record, and what becomes of it in a patch. */
export interface Field<Sent, Stored = Sent, PatchSent = Sent, PatchStored = Stored>
  extends Kind<Sent, Stored>,
    Words {
  /** Absent: unchanged. Null takes the value away where that can be, else it says nothing. */
  patch(): Kind<PatchSent | undefined, PatchStored | undefined>;
  /** Absent: of both requests and answers. */
  readonly side?: 'sent' | 'answered' | 'inside';
}

/** A field of any kind. What it writes is known where its kind is known. */
export type AnyField = Field<unknown, unknown, unknown, unknown>;

export interface HasSide<Side extends string> {
  readonly side: Side;
}

/** Same reading in both modes, where they do not differ. */
export function each<From, To>(
  inputs: Inputs<From>,
  make: (input: z.ZodType<From>) => z.ZodType<To>,
): Inputs<To> {
  const tolerant = make(inputs.tolerant);
  return { tolerant, strict: inputs.strict === inputs.tolerant ? tolerant : make(inputs.strict) };
}

/** A field that must be given. */
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

/** A value that is no record: how it is read, how it looks in answers, and how it is written there. */
export function kind<Sent, Stored = Sent>(
  input: z.ZodType<Sent>,
  output: z.ZodType,
  write: (value: Stored, names: TermNames) => unknown = (value) => value,
): Field<Sent, Stored> {
  return field({ input: { strict: input, tolerant: input }, output, write });
}

/** May be left out, or null. */
export function optional<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored | null> {
  return {
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? null)),
    output: of.output.optional(),
    write: (value, names) => (value === null ? undefined : of.write(value, names)),
    patch: () => removable(of),
  };
}

/** May be left out, or null, which is the same as empty. */
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

/** Answers have it, and it may be null. */
export function nullable<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored | null> {
  return {
    ...optional(of),
    output: of.output.nullable(),
    write: (value, names) => (value === null ? null : of.write(value, names)),
  };
}

/** May be left out, or null: then the service decides. */
export function decided<Sent, Stored>(of: Kind<Sent, Stored>): Field<Sent | null, Stored, Sent, Stored> {
  return { ...field(of), input: optional(of).input };
}

/** May be left out, or null, which means `otherwise`. */
export function defaulted<Sent, Stored>(of: Kind<Sent, Stored>, otherwise: Sent): Field<Sent, Stored> {
  return {
    ...field(of),
    input: each(of.input, (input) => input.nullish().transform((value) => value ?? otherwise)),
  };
}

/** Bounds are those of requests; what only answers have needs none. */
export function list<Sent, Stored>(
  of: Kind<Sent, Stored>,
  { min, max }: { readonly min?: number; readonly max?: number } = {},
): Field<readonly Sent[], readonly Stored[]> {
  return field({
    input: each(of.input, (input) => {
      const items = z.array(input);
      const some = min === undefined ? items : items.min(min);
      return max === undefined ? some : some.max(max);
    }),
    output: z.array(of.output),
    write: (values, names) => values.map((value) => of.write(value, names)),
  });
}

/** Only in requests. */
export function sent<One extends AnyField>(of: One): One & HasSide<'sent'> {
  return { ...of, side: 'sent' };
}

/** Only in answers. */
export function answered<One extends AnyField>(of: One): One & HasSide<'answered'> {
  return { ...of, side: 'answered' };
}

/** Only in answers, which are given it as it stands there. */
export function byHand<Wire>(output: z.ZodType<unknown, Wire>): Field<never, Wire> {
  return kind<never, Wire>(z.never(), output);
}

/** Says what a request means by it. */
export function described<One extends AnyField>(description: string, of: One): One {
  return { ...describedKind(description, of), patch: () => describedKind(description, of.patch()) };
}

function describedKind<Of extends Kind<unknown>>(description: string, of: Of): Of {
  return { ...of, input: each(of.input, (input) => input.meta({ description })) };
}

/** Says what an answer means by it. */
export function noted<One extends AnyField>(description: string, of: One): One {
  return { ...of, output: of.output.meta({ description }) };
}

/** The same with another word on the wire than `names.ts` has for it. */
export function called<One extends AnyField>(name: string, of: One): One {
  return { ...of, sentAs: name, answeredAs: name };
}

/** The same under the words of another field. */
export function named<One extends AnyField>({ sentAs, answeredAs }: Words, of: One): One {
  return {
    ...of,
    ...(sentAs === undefined ? {} : { sentAs }),
    ...(answeredAs === undefined ? {} : { answeredAs }),
  };
}

/** A field as a patch has it. */
export function patchOf<Sent, Stored>(
  of: Field<unknown, never, Sent, Stored>,
): Field<Sent | undefined, Stored | undefined> {
  return named(of, field(of.patch()));
}

/** The same as a patch has it, each field on its own. */
export function patched<Of extends Readonly<Record<string, AnyField>>>(fields: Of): PatchedOf<Of> {
  const entries = Object.entries(fields).map(([name, of]) => [name, patchOf(of)]);
  return Object.fromEntries(entries) as PatchedOf<Of>;
}

type PatchedOf<Of extends Readonly<Record<string, AnyField>>> = {
  readonly [Name in keyof Of]: ReturnType<Of[Name]['patch']> extends Kind<infer Sent, infer Stored>
    ? Field<Sent, Stored>
    : never;
};
