/**
 * Writes the oldest ids of the index in memory into a run. The index keeps them; the caller drops them when the run is
 * recorded. Other work runs between shards, so ids may be added and removed concurrently.
 */
import { setImmediate as pause } from 'node:timers/promises';
import type { DeduplicationIndex } from '../deduplication-index.ts';
import { SHARDS } from '../deduplication-slots.ts';
import type { Run } from './run.ts';
import { WORDS_PER_SLOT } from './run-layout.ts';
import { createRunWriter } from './run-writer.ts';

/** The maximum that is searched without a pause: some milliseconds. */
const SHARDS_PER_SLICE = 8;
/** Seconds of acceptance are counted in this many equal spans. */
const SPANS = 4_096;
/** Room for ids that are added while the others are written. */
const ROOM_SHARE = 1.01;
const ROOM_IDS = 1_024;

export interface SpilledRun {
  readonly run: Run;
  /** The number of ids of each shard in the run. */
  readonly counts: Uint32Array;
}

/**
 * The second before which at least `ids` ids were accepted, at most `latest`; otherwise `latest`. Also the number of
 * ids accepted before it.
 */
export async function chooseCut(
  recent: DeduplicationIndex,
  { latest, ids }: { readonly latest: number; readonly ids: number },
): Promise<{ readonly cut: number; readonly older: number }> {
  let from = latest;
  await eachBefore(recent, latest, (slots, offset) => {
    from = Math.min(from, slots[offset + 3] ?? 0);
  });
  const width = Math.max(1, Math.ceil((latest - from) / SPANS));
  const counts = new Uint32Array(SPANS);
  await eachBefore(recent, latest, (slots, offset) => {
    // An older id may have been added during the scan.
    const span = Math.max(0, Math.floor(((slots[offset + 3] ?? 0) - from) / width));
    counts[span] = (counts[span] ?? 0) + 1;
  });
  let older = 0;
  for (let span = 0; span < SPANS; span += 1) {
    older += counts[span] ?? 0;
    const cut = from + (span + 1) * width;
    if (older >= ids || cut >= latest) return { cut: Math.min(cut, latest), older };
  }
  return { cut: latest, older };
}

async function eachBefore(
  recent: DeduplicationIndex,
  before: number,
  visit: (slots: Uint32Array, offset: number) => void,
): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1) {
    recent.eachBefore(shard, before, visit);
    if (shard % SHARDS_PER_SLICE === 0) await pause();
  }
}

/** The run of all ids accepted before `to`, declared to be complete since `from`. */
export async function writeRun(
  recent: DeduplicationIndex,
  directory: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<SpilledRun> {
  const counts = new Uint32Array(SHARDS);
  let ids = 0;
  await eachBefore(recent, to, () => {
    ids += 1;
  });
  const writer = await createRunWriter(directory, Math.ceil(ids * ROOM_SHARE) + ROOM_IDS);
  try {
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const slots = sortedSlots(recent, shard, to);
      counts[shard] = slots.length / WORDS_PER_SLOT;
      for (let offset = 0; offset < slots.length; offset += WORDS_PER_SLOT) {
        writer.add(shard, slots, offset);
        if (writer.isFull) await writer.flush();
      }
      if (shard % SHARDS_PER_SLICE === 0) await pause();
    }
    return { run: await writer.finish({ from, to }), counts };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** Copies, because the index may change while they are written. */
function sortedSlots(recent: DeduplicationIndex, shard: number, before: number): Uint32Array {
  const places: number[] = [];
  let all: Uint32Array | undefined;
  recent.eachBefore(shard, before, (slots, offset) => {
    all = slots;
    places.push(offset);
  });
  if (all === undefined) return new Uint32Array(0);
  const slots = all;
  // They are almost in this order, which makes sorting cheap.
  places.sort((left, right) => (slots[left + 1] ?? 0) - (slots[right + 1] ?? 0));
  const sorted = new Uint32Array(places.length * WORDS_PER_SLOT);
  for (const [i, offset] of places.entries()) {
    for (let word = 0; word < WORDS_PER_SLOT; word += 1)
      sorted[i * WORDS_PER_SLOT + word] = slots[offset + word] ?? 0;
  }
  return sorted;
}

/** Drops the ids of the run from the index. */
export async function dropSpilled(
  recent: DeduplicationIndex,
  { run, counts }: SpilledRun,
  nowSeconds: number,
): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1) {
    recent.dropBefore(shard, run.to, counts[shard] ?? 0, nowSeconds);
    if (shard % SHARDS_PER_SLICE === 0) await pause();
  }
}
