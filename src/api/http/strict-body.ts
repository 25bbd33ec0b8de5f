/**
 * Bodies in which no member may be unknown, at any depth. Elsewhere an unknown member is ignored; here a
 * misspelled one must not be lost: a package cannot be changed, and an edit would be recorded without it.
 */
import { z } from 'zod';

/**
 * `schema`, refusing members that it does not name, each by its path. Those in `ignored` are left out of
 * it and not refused: paths without the indexes of lists, such as `add_commits.amount`.
 */
export function strictBody<Schema extends z.ZodType>(schema: Schema, ignored: readonly string[] = []) {
  return z.preprocess((value, context) => {
    for (const path of unknownMembers(schema, value)) {
      if (ignored.includes(path.filter((step) => typeof step === 'string').join('.'))) continue;
      context.addIssue({ code: 'custom', path, message: 'is not a field of this request' });
    }
    return value;
  }, schema);
}

/** The paths of members of `value` that `schema` does not name. */
export function unknownMembers(schema: z.core.$ZodType, value: unknown): PropertyKey[][] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unknownMembers(schema.unwrap(), value);
  }
  if (schema instanceof z.ZodPipe) {
    const { in: before, out } = schema.def;
    return unknownMembers(before instanceof z.ZodTransform ? out : before, value);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => below(index, unknownMembers(schema.element, item)));
  }
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, name)
      ? schema.shape[name]
      : undefined;
    return known === undefined ? [[name]] : below(name, unknownMembers(known, member));
  });
}

function below(name: PropertyKey, paths: readonly PropertyKey[][]): PropertyKey[][] {
  return paths.map((path) => [name, ...path]);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
