/**
 * Looks up a name chosen by a user in a record. Names such as `constructor` are inherited by every object, so a
 * record is never indexed directly.
 */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Schemas and most JSON parsers drop a member of this name, so it cannot be a group key. */
export const UNUSABLE_NAME = '__proto__';
