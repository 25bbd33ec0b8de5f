/**
 * How the values of contract terms are written into a JSON document and read back: a decimal as text, so
 * that no digit passes through a binary float, an instant as its milliseconds.
 *
 * `JSON.stringify` writes what these schemas read: `exactText` accepts what a `Decimal` becomes in JSON.
 */
import { z } from 'zod';
import { decimal } from '../decimal.ts';

/** A `Decimal`, text in JSON. */
export const exactText = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(decimal);

/** An `Instant`, a number in JSON. */
export const instantValue = z.int();

/** An object that is never changed once made. */
export function objectOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).readonly();
}

/**
 * The same members as a patch has them: absent is unchanged, and null takes a value away that may be null.
 * Defaults do not count here: they are what documents mean that were written before a member was there.
 */
export function patchOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const entries = Object.entries(shape).map(([name, schema]) => {
    return [name, z.optional(schema instanceof z.ZodDefault ? schema.unwrap() : schema)];
  });
  // The compiler does not follow names through entries.
  return Object.fromEntries(entries) as {
    [Name in keyof Shape]: z.ZodOptional<WithoutDefault<Shape[Name]>>;
  };
}

type WithoutDefault<Schema> = Schema extends z.ZodDefault<infer Inner> ? Inner : Schema;

/** The members of a patch that are there. */
export function given<Patch extends object>(patch: Patch): Given<Patch> {
  const members = Object.entries(patch).filter(([, value]) => value !== undefined);
  // The compiler does not know of `filter` which members are left.
  return Object.fromEntries(members) as Given<Patch>;
}

type Given<Patch> = { readonly [Name in keyof Patch]?: Exclude<Patch[Name], undefined> };

/** These members of a term as a client describes them: null is not given, and the service decides. */
export type MayBeGiven<Term, Names extends keyof Term> = { readonly [Name in Names]: Term[Name] | null };

/** A list that is never changed once made. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** Names and values, such as those of an event's groups. */
export const textMap = z.record(z.string(), z.string()).readonly();
