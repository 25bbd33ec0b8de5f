/** Reads acceptance times of ids from the files of runs. Pages that several ids need are read once, in file order. */
import type { Acceptance } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { type PageReads, WORDS_PER_FOUND, WORDS_PER_LOOKUP, WORDS_PER_READ } from './page-reads.ts';
import type { PageReader } from './read-on-thread.ts';
import type { Run } from './run.ts';

export interface FoundInRuns {
  /** The acceptances of each hash, from all readable runs. */
  readonly acceptances: readonly (readonly Acceptance[])[];
  /** The runs with an unreadable page, and the indexes of the hashes that it may contain. */
  readonly unread: ReadonlyMap<Run, readonly number[]>;
  /** Why the first of them could not be read. */
  readonly problem: string | null;
}

const NONE: readonly Acceptance[] = [];

/** Looks up `count` hashes. Rejects if nothing can be read at all. */
export async function findInRuns(
  runs: readonly Run[],
  words: Uint32Array,
  count: number,
  pages: Pick<PageReader, 'read'>,
): Promise<FoundInRuns> {
  const reads = pagesToRead(runs, words, count);
  const acceptances: (readonly Acceptance[])[] = Array.from({ length: count }, () => NONE);
  const unread = new Map<Run, number[]>();
  if (reads.reads.length === 0) return { acceptances, unread, problem: null };
  for (const run of runs) run.hold();
  try {
    const read = await pages.read(reads);
    const { found } = read;
    for (let at = 0; at < found.length; at += WORDS_PER_FOUND) {
      const place = found[at] ?? 0;
      const acceptance = { seconds: found[at + 1] ?? 0, aheadUnits: found[at + 2] ?? 0 };
      acceptances[place] = [...(acceptances[place] ?? NONE), acceptance];
    }
    for (const page of read.unread) noteUnread(unread, runs, reads, page);
    return { acceptances, unread, problem: read.problem };
  } finally {
    for (const run of runs) run.unhold();
  }
}

function noteUnread(
  unread: Map<Run, number[]>,
  runs: readonly Run[],
  { reads, lookups }: PageReads,
  page: number,
): void {
  const at = page * WORDS_PER_READ;
  const run = runs[reads[at] ?? 0];
  if (run === undefined) return;
  const places = unread.get(run) ?? [];
  unread.set(run, places);
  const from = page === 0 ? 0 : (reads[at - WORDS_PER_READ + 2] ?? 0);
  for (let lookup = from; lookup < (reads[at + 2] ?? 0); lookup += 1)
    places.push(lookups[lookup * WORDS_PER_LOOKUP] ?? 0);
}

/** Exact as long as indexes and pages are less than 2^26. */
const PLACES = 2 ** 26;

function pagesToRead(runs: readonly Run[], words: Uint32Array, count: number): PageReads {
  const reads: number[] = [];
  const lookups: number[] = [];
  for (const [file, run] of runs.entries()) {
    const sorted = Float64Array.from(lookupsIn(run, words, count)).sort();
    let last = -1;
    for (const lookup of sorted) {
      const page = Math.floor(lookup / PLACES);
      const place = lookup % PLACES;
      const { from, to } = run.slotsIn(page, words, place * HASH_WORDS);
      // The previous page may end with another shard.
      if (from === to) continue;
      lookups.push(place, from, to);
      if (page !== last) reads.push(file, page, 0);
      reads[reads.length - 1] = lookups.length / WORDS_PER_LOOKUP;
      last = page;
    }
  }
  return {
    files: runs.map(({ fd }) => fd),
    reads: Uint32Array.from(reads),
    lookups: Uint32Array.from(lookups),
    hashes: words.slice(0, count * HASH_WORDS),
  };
}

/** Pairs of a page and an index. */
function lookupsIn(run: Run, words: Uint32Array, count: number): number[] {
  const lookups: number[] = [];
  for (let place = 0; place < count; place += 1) {
    const at = place * HASH_WORDS;
    if (!run.filter.mayHave(words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0)) continue;
    const { first, last } = run.pagesFor(words, at);
    for (let page = first; page <= last; page += 1) lookups.push(page * PLACES + place);
  }
  return lookups;
}
