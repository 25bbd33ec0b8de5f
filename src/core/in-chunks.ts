/** Work on long lists in parts, between which the process answers other requests. */
import { setImmediate as afterOtherWork } from 'node:timers/promises';

/** Takes a few milliseconds at 10 microseconds an item. */
export const CHUNK_ITEMS = 500;

/** Like `Array.map`; other work runs after each `CHUNK_ITEMS` items. Short lists do not wait. */
export async function mapInChunks<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % CHUNK_ITEMS === 0) await afterOtherWork();
    results.push(map(item));
  }
  return results;
}
