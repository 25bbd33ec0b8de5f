/**
 * Reads from the files of runs when ids were accepted. The pages that many ids need are read once, in the order in which
 * they lie in their file, some at a time: a queue of thousands would keep inserts from the worker threads of Node.
 */
import type { Acceptance } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { pageBuffer, type Run } from './run.ts';

const READS_AT_ONCE = 8;

/** A page that has to be read, and the ids that it may have, by their places in the hashes. */
interface Page {
  readonly run: Run;
  readonly page: number;
  readonly places: number[];
}

export interface FoundInRuns {
  /** Of each hash when it was accepted, as far as the runs say that could be read. */
  readonly acceptances: readonly (readonly Acceptance[])[];
  /** The runs of which a page could not be read, and the places of the hashes that it may have. */
  readonly unread: ReadonlyMap<Run, readonly number[]>;
  readonly errors: readonly unknown[];
}

/** Looks for `count` hashes. Never throws. */
export async function findInRuns(
  runs: readonly Run[],
  words: Uint32Array,
  count: number,
): Promise<FoundInRuns> {
  const acceptances: Acceptance[][] = Array.from({ length: count }, () => []);
  const unread = new Map<Run, number[]>();
  const errors: unknown[] = [];
  const pages = pagesToRead(runs, words, count);
  const read = async ({ run, page, places }: Page, into: Buffer): Promise<void> => {
    try {
      const slots = await run.readPage(page, into);
      for (const place of places)
        run.findIn(slots, page, words, place * HASH_WORDS, acceptances[place] ?? []);
    } catch (error) {
      errors.push(error);
      unread.set(run, [...(unread.get(run) ?? []), ...places]);
    }
  };
  let next = 0;
  const reader = async (): Promise<void> => {
    const into = pageBuffer();
    for (let page = pages[next]; page !== undefined; page = pages[next]) {
      next += 1;
      await read(page, into);
    }
  };
  for (const run of runs) run.hold();
  try {
    await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, pages.length) }, reader));
  } finally {
    for (const run of runs) run.unhold();
  }
  return { acceptances, unread, errors };
}

function pagesToRead(runs: readonly Run[], words: Uint32Array, count: number): Page[] {
  return runs.flatMap((run) => {
    const ofRun = new Map<number, number[]>();
    for (let place = 0; place < count; place += 1) {
      const at = place * HASH_WORDS;
      if (!run.filter.mayHave(words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0)) continue;
      const { first, last } = run.pagesFor(words, at);
      for (let page = first; page <= last; page += 1) {
        const places = ofRun.get(page);
        if (places === undefined) ofRun.set(page, [place]);
        else places.push(place);
      }
    }
    return [...ofRun]
      .map(([page, places]) => ({ run, page, places }))
      .sort((left, right) => left.page - right.page);
  });
}
