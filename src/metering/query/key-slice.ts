/**
 * Slices of line keys. Usage that does not fit in memory is read slice by slice: each slice has whole line keys, and
 * every metric assigns a key to the same slice.
 */
import type { Parameters } from './parameters.ts';

/** The line keys whose hash modulo `count` is `index`. */
export interface KeySlice {
  readonly index: number;
  readonly count: number;
}

/** The slices that together contain all keys. */
export function keySlices(count: number): KeySlice[] {
  return Array.from({ length: count }, (_, index) => ({ index, count }));
}

/** The two slices that together contain the keys of this one. */
export function halves({ index, count }: KeySlice): KeySlice[] {
  return [
    { index, count: count * 2 },
    { index: index + count, count: count * 2 },
  ];
}

/** `groups`: the group values in the order of the sorted names; without any, all usage is in one slice. */
export function sliceConditions(
  parameters: Parameters,
  groups: readonly string[],
  slice: KeySlice | null,
): string[] {
  if (slice === null || slice.count === 1) return [];
  // The empty text makes a single group a tuple, too. NULL belongs to no line and so to no slice.
  const values = ["''", ...groups.map((group) => `ifNull(${group}, '')`)];
  const count = parameters.bind('slice_count', 'UInt32', slice.count);
  return [
    `modulo(sipHash64(tuple(${values.join(', ')})), ${count}) = ${parameters.bind('slice', 'UInt32', slice.index)}`,
  ];
}
