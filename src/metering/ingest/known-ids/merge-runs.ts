/**
 * Merges neighbouring runs into one: every run costs a lookup of each new id, so there should be few. Ids that are no
 * longer known are left out. Runs that cover much of the window are not merged, because a run is removed only with its
 * last id.
 */
import { setImmediate as pause } from 'node:timers/promises';
import { reachOf, SHARDS } from '../deduplication-slots.ts';
import type { Run } from './run.ts';
import { PAGE_BYTES, SLOTS_PER_PAGE, sortKey, WORDS_PER_SLOT } from './run-layout.ts';
import { createRunWriter } from './run-writer.ts';

/** The maximum span, as a share of the window: expired ids take memory until the whole run has expired. */
const SHARE_OF_WINDOW_MAX = 1 / 6;
/**
 * Newer runs are merged with an older one once they have this multiple of its ids: each id is merged two or three
 * times.
 */
const NEWER_IDS_MIN = 2;
/** The maximum that is merged without a pause: a few milliseconds. */
const IDS_PER_SLICE = 10_000;

type Sized = Pick<Run, 'from' | 'to' | 'ids'>;

/** The neighbours to merge, the newest ones; empty, or at least two. */
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

/** One run with the ids of all of them. They are neighbours, in order. */
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
  let key = AT_END;
  for (const cursor of cursors) {
    if (cursor.key >= key) continue;
    found = cursor;
    key = cursor.key;
  }
  return found;
}

/** Read together, because a read costs more than its data. */
const PAGES_PER_READ = 64;
const WORDS_PER_PAGE = PAGE_BYTES / 4;
/** The key of a cursor without a slot. */
const AT_END = Number.POSITIVE_INFINITY;

/** The slots of a run in sequence. */
class RunCursor {
  readonly #run: Run;
  readonly #pages = Buffer.allocUnsafeSlow(PAGES_PER_READ * PAGE_BYTES);
  readonly slots: Uint32Array;
  offset = 0;
  shard = 0;
  key = AT_END;
  #slot = 0;
  /** The next slot that is not on the loaded pages. */
  #readUpTo = 0;

  constructor(run: Run) {
    this.#run = run;
    this.slots = new Uint32Array(this.#pages.buffer, this.#pages.byteOffset, PAGES_PER_READ * WORDS_PER_PAGE);
  }

  /** Moves to the next slot. False if `load` has to be called first. */
  advance(): boolean {
    this.#slot += 1;
    if (this.#slot >= this.#run.ids) {
      this.key = AT_END;
      return true;
    }
    if (this.#slot === this.#readUpTo) return false;
    this.offset += this.#slot % SLOTS_PER_PAGE === 0 ? WORDS_PER_SLOT + REST_OF_PAGE : WORDS_PER_SLOT;
    this.#place();
    return true;
  }

  async load(): Promise<void> {
    const pages = await this.#run.readPages(this.#slot / SLOTS_PER_PAGE, this.#pages);
    this.#readUpTo = this.#slot + pages * SLOTS_PER_PAGE;
    this.offset = 0;
    this.#place();
  }

  #place(): void {
    while (this.shard < SHARDS - 1 && this.#slot >= (this.#run.starts[this.shard + 1] ?? 0)) this.shard += 1;
    this.key = sortKey(this.shard, this.slots[this.offset + 1] ?? 0);
  }
}

/** Words after the last slot of a page. */
const REST_OF_PAGE = WORDS_PER_PAGE - SLOTS_PER_PAGE * WORDS_PER_SLOT;
