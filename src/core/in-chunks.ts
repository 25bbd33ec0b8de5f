/** Work on long lists in parts, between which the process answers other requests. */
import { setImmediate as afterOtherWork } from 'node:timers/promises';

/** Lists of more items than this may take long enough to be worth parts. */
export const CHUNK_ITEMS = 500;

/** How long other work waits. The last item of a part, or a collection of garbage, may take longer. */
const PART_MS = 8;

/** Like `Array.forEach`; other work runs after each part of a few milliseconds. */
export async function eachInChunks<Item>(items: readonly Item[], act: (item: Item) => void): Promise<void> {
  let start = performance.now();
  for (const item of items) {
    act(item);
    if (performance.now() - start < PART_MS) continue;
    await afterOtherWork();
    start = performance.now();
  }
}

/** Like `Array.map`, in such parts. */
export async function mapInChunks<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await eachInChunks(items, (item) => {
    results.push(map(item));
  });
  return results;
}
