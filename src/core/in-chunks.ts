/** Long work in parts, between which the process serves other requests. */
import { setImmediate } from 'node:timers/promises';
import { addToGroup } from './group-by.ts';

/** Resolves when other pending work has run. */
export async function afterOtherWork(): Promise<void> {
  await setImmediate();
}

/** Lists of more items than this may take long enough to be worth parts. */
export const CHUNK_ITEMS = 500;

/** The maximum time that other work waits. The last step of a part, or a garbage collection, may take longer. */
const PART_MS = 5;

/** Calls `act` with each item; other work runs after each part of a few milliseconds. */
export async function eachInChunks<Item>(
  items: Iterable<Item>,
  act: (item: Item, index: number) => void,
): Promise<void> {
  await resultInChunks(stepsOf(items, act));
}

/**
 * Not a generator function nested in its caller: V8 keeps memory for each of those, which holds the caller's scope
 * alive until the whole heap is collected.
 */
function* stepsOf<Item>(
  items: Iterable<Item>,
  act: (item: Item, index: number) => void,
): Generator<undefined, void, undefined> {
  let index = 0;
  for (const item of items) {
    act(item, index);
    index += 1;
    yield;
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

/** Like `groupBy`, in such parts. */
export async function groupInChunks<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Promise<Map<Key, Item[]>> {
  const groups = new Map<Key, Item[]>();
  await eachInChunks(items, (item) => addToGroup(groups, keyOf(item), item));
  return groups;
}

/**
 * Returns the result of the generator, which yields after every step of its work. Other work runs between its steps.
 */
export async function resultInChunks<Result>(steps: Generator<unknown, Result, undefined>): Promise<Result> {
  let start = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - start < PART_MS) continue;
    await afterOtherWork();
    start = performance.now();
  }
}

/** `resultInChunks` without parts, for work that is known to be short. */
export function resultAtOnce<Result>(steps: Generator<unknown, Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
