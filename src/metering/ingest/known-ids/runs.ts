/**
 * The runs of a window, oldest first, each for the seconds of acceptance after those of the one before it. Excludes ids
 * that are in none of them, and reads the others from their pages.
 *
 * Does not decide the meaning of an acceptance for an event (`known-ids.ts`), or which runs exist (`spill.ts`,
 * `merge-runs.ts`, `restore-runs.ts`).
 */
import { assert } from '../../../core/errors.ts';
import { type Acceptance, AHEAD_UNIT_SECONDS } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import type { Run } from './run.ts';

export interface Runs {
  readonly all: readonly Run[];
  /** Increases when ids are added that were not in any run: earlier results for an id are then no longer valid. */
  readonly version: number;
  /** Prefetches the filter blocks of the first `count` hashes; nothing changes. */
  approach(words: Uint32Array, count: number): void;
  mayHave(words: Uint32Array, at: number): boolean;
  /** Adds the next run. */
  append(run: Run): void;
  /** Replaces neighbours by one run with their ids. */
  replace(old: readonly Run[], run: Run): void;
  remove(run: Run): void;
  /** Removes runs without known ids, and returns them. */
  dropExpired(oldestSeconds: number): Run[];
  readonly ids: number;
  readonly bytes: number;
}

export function createRuns(): Runs {
  return new RunList();
}

/**
 * Whether all ids of a run are past the window, `oldestSeconds` being the last second outside, and their events as
 * well.
 */
function isExpired(run: Pick<Run, 'to' | 'reach'>, oldestSeconds: number): boolean {
  return run.to - 1 <= oldestSeconds && run.reach < oldestSeconds;
}

/** Whether an acceptance of its id makes an event with this timestamp a duplicate. */
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
