/**
 * The runs of a window, oldest first, each for the seconds of acceptance after those of the one before it. Says which
 * ids cannot be in any of them, and reads the others from their pages.
 *
 * Does not decide what an acceptance means for an event (`known-ids.ts`), or which runs there are (`spill.ts`,
 * `merge-runs.ts`, `restore-runs.ts`).
 */
import { assert } from '../../../core/errors.ts';
import { type Acceptance, AHEAD_UNIT_SECONDS } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import type { Run } from './run.ts';

export interface Runs {
  readonly all: readonly Run[];
  /**
   * Moves on when ids come that were not in any run: what was found out about an id before says nothing then of what it
   * is now.
   */
  readonly version: number;
  /** Fetches the places of the first `count` hashes side by side; nothing changes. */
  approach(words: Uint32Array, count: number): void;
  mayHave(words: Uint32Array, at: number): boolean;
  /** Adds the next run. */
  append(run: Run): void;
  /** Puts one run into the place of neighbours whose ids it has. */
  replace(old: readonly Run[], run: Run): void;
  remove(run: Run): void;
  /** Removes the runs of which no id is known any more, and returns them. */
  dropExpired(oldestSeconds: number): Run[];
  readonly ids: number;
  readonly bytes: number;
}

export function createRuns(): Runs {
  return new RunList();
}

/** Whether the ids of a run are all past the window, whose last second outside is this one, and their events as well. */
function isExpired(run: Pick<Run, 'to' | 'reach'>, oldestSeconds: number): boolean {
  return run.to - 1 <= oldestSeconds && run.reach < oldestSeconds;
}

/** Whether an event with this second as its timestamp is known by an acceptance of its id. */
export function isKnownBy(
  { seconds, aheadUnits }: Acceptance,
  oldestSeconds: number,
  timestampSeconds: number,
): boolean {
  return seconds > oldestSeconds || seconds + aheadUnits * AHEAD_UNIT_SECONDS >= timestampSeconds;
}

class RunList implements Runs {
  #all: readonly Run[] = [];
  #version = 0;
  #ids = 0;
  #bytes = 0;

  get all(): readonly Run[] {
    return this.#all;
  }

  get version(): number {
    return this.#version;
  }

  get ids(): number {
    return this.#ids;
  }

  get bytes(): number {
    return this.#bytes;
  }

  approach(words: Uint32Array, count: number): void {
    for (const { filter } of this.#all) {
      for (let at = 2; at < count * HASH_WORDS; at += HASH_WORDS) filter.touch(words[at] ?? 0);
    }
  }

  mayHave(words: Uint32Array, at: number): boolean {
    const a = words[at] ?? 0;
    const b = words[at + 1] ?? 0;
    const c = words[at + 2] ?? 0;
    for (const { filter } of this.#all) if (filter.mayHave(a, b, c)) return true;
    return false;
  }

  append(run: Run): void {
    const last = this.#all.at(-1);
    assert(last === undefined || run.from >= last.to, 'runs follow each other');
    this.#version += 1;
    this.#set([...this.#all, run]);
  }

  replace(old: readonly Run[], run: Run): void {
    const first = old[0];
    const at = first === undefined ? -1 : this.#all.indexOf(first);
    assert(at >= 0 && old.every((each, i) => this.#all[at + i] === each), 'merged runs are neighbours');
    this.#set([...this.#all.slice(0, at), run, ...this.#all.slice(at + old.length)]);
  }

  remove(run: Run): void {
    this.#set(this.#all.filter((each) => each !== run));
  }

  dropExpired(oldestSeconds: number): Run[] {
    const expired = this.#all.filter((run) => isExpired(run, oldestSeconds));
    if (expired.length > 0) this.#set(this.#all.filter((run) => !expired.includes(run)));
    return expired;
  }

  #set(all: readonly Run[]): void {
    this.#all = all;
    this.#ids = all.reduce((sum, { ids }) => sum + ids, 0);
    this.#bytes = all.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
