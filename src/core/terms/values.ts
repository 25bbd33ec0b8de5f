/**
 * The JSON form of the values of contract terms: decimals are text, so that no digit is lost, and instants are
 * milliseconds.
 *
 * These schemas parse the output of `JSON.stringify`.
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

/** An object that never changes after its creation. */
export function objectOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).readonly();
}

/**
 * The members in a patch: absent means unchanged, null removes a nullable value. Defaults do not apply here: they
 * are for documents written before a member existed.
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

/** The members that are present in a patch. */
export function given<Patch extends object>(patch: Patch): Given<Patch> {
  const members = Object.entries(patch).filter(([, value]) => value !== undefined);
  // The compiler does not infer from `filter` which members are left.
  return Object.fromEntries(members) as Given<Patch>;
}

type Given<Patch> = { readonly [Name in keyof Patch]?: Exclude<Patch[Name], undefined> };

/** Makes these members of a term optional in input: null means omitted, and the service chooses the value. */
export type MayBeGiven<Term, Names extends keyof Term> = { readonly [Name in Names]: Term[Name] | null };

/** A list that never changes after its creation. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** Names and values, such as those of an event's groups. */
export const textMap = z.record(z.string(), z.string()).readonly();
