/** Group values as keys: two records with the same pairs are the same key, whatever their order. */
import { ownValue } from '../../core/own-value.ts';

export type GroupValues = Readonly<Record<string, string>>;

/** The distinct names, in code unit order. */
export function sortedKeys(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/** One text per set of pairs. */
export function groupValuesKey(values: GroupValues): string {
  const names = Object.keys(values);
  const [only] = names;
  if (only === undefined) return '[]';
  // Fast path for one name, without a sort and two lists for each line of an invoice.
  if (names.length === 1) return JSON.stringify([only, values[only]]);
  return JSON.stringify(names.sort().flatMap((name) => [name, values[name]]));
}

/** The pairs of `values` whose names are in `names`; a name without a value is left out. */
export function pickGroupValues(values: GroupValues, names: readonly string[]): GroupValues {
  if (names.length === 0) return NO_GROUP_VALUES;
  if (hasExactly(values, names)) return values;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = ownValue(values, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const NO_GROUP_VALUES: GroupValues = Object.freeze({});

/** Whether the record has exactly these names, in this order. */
function hasExactly(values: GroupValues, names: readonly string[]): boolean {
  let count = 0;
  for (const name of Object.keys(values)) {
    if (name !== names[count]) return false;
    count += 1;
  }
  return count === names.length;
}

/** Order of two records by the values of the given names in turn, in code units (no locale). */
export function compareGroupValues(a: GroupValues, b: GroupValues, names: readonly string[]): number {
  for (const name of names) {
    const order = compareText(ownValue(a, name) ?? '', ownValue(b, name) ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
