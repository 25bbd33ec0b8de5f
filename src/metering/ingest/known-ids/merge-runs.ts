/**
 * Merges neighbouring runs into one: every run costs a lookup of each new id, so there should be few. Ids that are not
 * known any more are left out. Runs that cover much of the window are not merged, because a run goes when its last id does.
 */
import { setImmediate as pause } from 'node:timers/promises';
import { reachOf, SHARDS } from '../deduplication-slots.ts';
import { pageBuffer, type Run } from './run.ts';
import { SLOTS_PER_PAGE, sortKey, WORDS_PER_SLOT } from './run-layout.ts';
import { createRunWriter } from './run-writer.ts';

/** Of the window: ids that are past it take memory until the run is past it. */
const SHARE_OF_WINDOW_MAX = 1 / 6;
/** Newer runs that have so many times the ids of an older one are merged with it: each id is merged two or three times. */
const NEWER_IDS_MIN = 2;
/** What is merged without a pause: a few milliseconds. */
const IDS_PER_SLICE = 10_000;

type Sized = Pick<Run, 'from' | 'to' | 'ids'>;

/** The neighbours to merge, the newest ones; none, or at least two. */
export function runsToMerge<Each extends Sized>(
  runs: readonly Each[],
  windowSeconds: number,
): readonly Each[] {
  let ids = runs.at(-1)?.ids ?? 0;
  let first = runs.length;
  for (let at = runs.length - 2; at >= 0; at -= 1) {
    const [run, last] = [runs[at], runs.at(-1)];
    if (run === undefined || last === undefined) break;
    if (last.to - run.from > windowSeconds * SHARE_OF_WINDOW_MAX) break;
    if (ids >= NEWER_IDS_MIN * run.ids) first = at;
    ids += run.ids;
  }
  return runs.slice(first);
}

/** One run of the ids of all of them. They are neighbours, in their order. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of one merge, and what ends it.
export async function mergeRuns(
  runs: readonly Run[],
  directory: string,
  oldestSeconds: number,
): Promise<Run> {
  for (const run of runs) run.hold();
  const writer = await createRunWriter(
    directory,
    runs.reduce((sum, { ids }) => sum + ids, 0),
  );
  try {
    const cursors = runs.filter(({ ids }) => ids > 0).map((run) => new RunCursor(run));
    for (const cursor of cursors) await cursor.load();
    for (let added = 1; ; added += 1) {
      const next = lowest(cursors);
      if (next === null) break;
      if (isKeptSlot(next.slots, next.offset, oldestSeconds)) writer.add(next.shard, next.slots, next.offset);
      if (writer.isFull) await writer.flush();
      if (!next.advance()) await next.load();
      if (added % IDS_PER_SLICE === 0) await pause();
    }
    const [first, last] = [runs[0], runs.at(-1)];
    return await writer.finish({ from: first?.from ?? 0, to: last?.to ?? 0 });
  } catch (error) {
    await writer.discard();
    throw error;
  } finally {
    for (const run of runs) run.unhold();
  }
}

function isKeptSlot(slots: Uint32Array, offset: number, oldestSeconds: number): boolean {
  return (slots[offset + 3] ?? 0) > oldestSeconds || reachOf(slots, offset) >= oldestSeconds;
}

function lowest(cursors: readonly RunCursor[]): RunCursor | null {
  let found: RunCursor | null = null;
  for (const cursor of cursors) {
    if (!cursor.isAtEnd && (found === null || cursor.key < found.key)) found = cursor;
  }
  return found;
}

/** The slots of a run, one after the other. */
class RunCursor {
  readonly #run: Run;
  readonly #page = pageBuffer();
  slots: Uint32Array = new Uint32Array(0);
  offset = 0;
  shard = 0;
  key = 0;
  #slot = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  get isAtEnd(): boolean {
    return this.#slot >= this.#run.ids;
  }

  /** Goes to the next slot. False where `load` has to come before that is used. */
  advance(): boolean {
    this.#slot += 1;
    if (this.isAtEnd) return true;
    if (this.#slot % SLOTS_PER_PAGE === 0) return false;
    this.#place();
    return true;
  }

  async load(): Promise<void> {
    this.slots = await this.#run.readPage(Math.floor(this.#slot / SLOTS_PER_PAGE), this.#page);
    this.#place();
  }

  #place(): void {
    while (this.shard < SHARDS - 1 && this.#slot >= (this.#run.starts[this.shard + 1] ?? 0)) this.shard += 1;
    this.offset = (this.#slot % SLOTS_PER_PAGE) * WORDS_PER_SLOT;
    this.key = sortKey(this.shard, this.slots[this.offset + 1] ?? 0);
  }
}
