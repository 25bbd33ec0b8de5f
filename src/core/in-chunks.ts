/** Work on long lists in parts, between which the process answers other requests. */
import { setImmediate } from 'node:timers/promises';

/** Resolves when the process has done what other work was waiting. */
export async function afterOtherWork(): Promise<void> {
  await setImmediate();
}

/** Lists of more items than this may take long enough to be worth parts. */
export const CHUNK_ITEMS = 500;

/** How long other work waits. The last item of a part, or a collection of garbage, may take longer. */
const PART_MS = 8;

/** Like `Array.forEach`; other work runs after each part of a few milliseconds. */
export async function eachInChunks<Item>(
  items: readonly Item[],
  act: (item: Item, index: number) => void,
): Promise<void> {
  let start = performance.now();
  for (const [index, item] of items.entries()) {
    act(item, index);
    if (performance.now() - start < PART_MS) continue;
    await afterOtherWork();
    start = performance.now();
  }
}

/** Like `Array.map`, in such parts. */
export async function mapInChunks<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await eachInChunks(items, (item, index) => {
    results.push(map(item, index));
  });
  return results;
}
