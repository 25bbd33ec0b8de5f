/** Sorts long lists step by step (`in-chunks.ts`). */

/** Items that are sorted or merged between two yields. */
const STEP_ITEMS = 256;

/** The list that `toSorted` gives; stable. Yields after each step of at most some hundreds of items. */
export function* sortedInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[], undefined> {
  let sorted: Item[][] = [];
  for (let from = 0; from < items.length; from += STEP_ITEMS) {
    sorted.push(items.slice(from, from + STEP_ITEMS).sort(compare));
    yield;
  }
  while (sorted.length > 1) {
    const merged: Item[][] = [];
    for (let index = 0; index < sorted.length; index += 2) {
      merged.push(yield* mergedInSteps(sorted[index] ?? [], sorted[index + 1] ?? [], compare));
    }
    sorted = merged;
  }
  return sorted[0] ?? [];
}

/** Among equal items, those of `first` precede. */
function* mergedInSteps<Item>(
  first: readonly Item[],
  second: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[], undefined> {
  const merged: Item[] = [];
  let [left, right] = [0, 0];
  while (left < first.length && right < second.length) {
    const [a, b] = [first[left] as Item, second[right] as Item];
    const isFirst = compare(a, b) <= 0;
    merged.push(isFirst ? a : b);
    if (isFirst) left += 1;
    else right += 1;
    if (merged.length % STEP_ITEMS === 0) yield;
  }
  return [...merged, ...first.slice(left), ...second.slice(right)];
}
