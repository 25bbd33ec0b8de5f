/**
 * What a record has under a name that a user chose. Names such as `constructor` exist in every object, with
 * a function as their value, so a record is never asked for one by index alone.
 */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A member of this name gets lost on the way through schemas and most readers of JSON, so nothing is grouped by it. */
export const UNUSABLE_NAME = '__proto__';
