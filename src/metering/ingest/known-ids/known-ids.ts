/**
 * The ids accepted within the window. Memory holds the newest ones exactly and a filter of the others. An id that a
 * filter cannot exclude has to be looked up in its file to determine whether it is known.
 * docs/explanation/deduplication.md describes it.
 *
 * Call `unsure` first; it changes nothing. `reserve` is for ids that are not unsure, and records them. Both run
 * synchronously, so that of two requests with one id exactly one takes it as new.
 */
import type { Instant } from '../../../core/time.ts';
import { DAY_MS, formatInstant } from '../../../core/time.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { createDeduplicationIndex, type DeduplicationIndex } from '../deduplication-index.ts';
import type { Acceptance } from '../deduplication-slots.ts';
import { ALL_SECONDS, type Rebuilt, rebuildIndex } from '../rebuild-index.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { createLookups, type Lookups } from './look-up.ts';
import { createPageReader, type PageReader } from './read-on-thread.ts';
import { acceptedBefore, type RestoreProgress, restoreRuns } from './restore-runs.ts';
import type { Run } from './run.ts';
import type { RecordedRuns, RunRecord } from './run-record.ts';
import { createRuns, isKnownBy, type Runs } from './runs.ts';
import { createUpkeep, firstKnownSecond, type Upkeep } from './upkeep.ts';

/** How ids that exceed the memory are kept. */
export interface OlderIds {
  /** The directory of their files. */
  readonly directory: string;
  /** Maximum ids in memory; the oldest ones beyond it are moved to files. */
  readonly recentMax: number;
  /** Names the files that belong to the stored events. */
  readonly record: RunRecord;
  /** The identity of the stored events; if it has changed, all files are rebuilt. */
  readonly storeState: () => Promise<string>;
  /**
   * How long ids stay in memory in any case: longer than the delay of other processes' events; 0 without other
   * processes.
   */
  readonly recentSeconds: number;
}

export interface KnownIdsOptions {
  readonly clickhouse: ClickHouse;
  readonly windowDays: number;
  /** Absent: all ids are in memory. */
  readonly older?: OlderIds | undefined;
  /** A shared reader, closed by the caller. Absent: a separate one. */
  readonly pages?: PageReader;
  /** Resolves when the events of all ids reserved so far are in ClickHouse, or released. */
  readonly stored: () => Promise<void>;
  /** From now on nothing may be stored with a time of acceptance before this second. */
  readonly startAfter: (seconds: number) => void;
  readonly log: {
    error(fields: Readonly<Record<string, unknown>>, message: string): void;
    warn?(fields: Readonly<Record<string, unknown>>, message: string): void;
    info?(fields: Readonly<Record<string, unknown>>, message: string): void;
  };
}

/** The results of a lookup of unsure ids. */
export interface LookedUp {
  readonly version: number;
  /** By the index of the hash. */
  readonly acceptances: ReadonlyMap<number, readonly Acceptance[]>;
}

/** Ids that may be known, so that a lookup is needed. */
export interface UnsureIds {
  readonly hashes: Uint32Array;
  /** The indexes of the hashes in the original words. */
  readonly places: readonly number[];
}

export interface KnownIdFigures {
  readonly recent: { readonly ids: number; readonly bytes: number };
  readonly filtered: { readonly ids: number; readonly bytes: number };
  readonly runs: number;
  readonly lookups: { readonly known: number; readonly new: number };
}

export interface KnownIds extends Pick<DeduplicationIndex, 'release' | 'add' | 'approach'> {
  /**
   * The unsure ids among the first `count` hashes; null if there are none. Call it before reserving them. `lookedUp`:
   * earlier results for the same words.
   */
  unsure(
    words: Uint32Array,
    count: number,
    times: { readonly nowSeconds: number; readonly timestamps: Float64Array },
    lookedUp: LookedUp | null,
  ): UnsureIds | null;
  /** Refuses as `unavailable` or `overloaded`. */
  lookUp(ids: UnsureIds): Promise<LookedUp>;
  /** See `DeduplicationIndex.reserve`. */
  reserve(
    words: Uint32Array,
    at: number,
    nowSeconds: number,
    timestampSeconds: number,
    lookedUp: LookedUp | null,
  ): boolean;
  /** The negated result of `reserve`, for an id that is not unsure. Nothing is recorded. */
  isKnown(words: Uint32Array, at: number, nowSeconds: number, lookedUp: LookedUp | null): boolean;
  /** Reads stored ids and those in files. Once. */
  restore(now: Instant): Promise<Rebuilt>;
  /** Starts pending maintenance in the background. */
  tidy(now: Instant): void;
  /** Resolves when no maintenance is running. */
  idle(): Promise<void>;
  figures(): KnownIdFigures;
  /** Calls `observe` with the duration in seconds of every lookup from now on. */
  observeLookups(observe: (seconds: number) => void): void;
  close(): Promise<void>;
}

export function createKnownIds(options: KnownIdsOptions): KnownIds {
  return new TieredIds(options);
}

class TieredIds implements KnownIds {
  readonly #options: KnownIdsOptions;
  readonly #windowSeconds: number;
  readonly #recent: DeduplicationIndex;
  readonly #runs: Runs = createRuns();
  readonly #pages: PageReader;
  readonly #lookups: Lookups;
  readonly #upkeep: Upkeep | null;
  /** No id is accepted before this second. */
  #floor = 0;
  #onLookup: (seconds: number) => void = () => {};

  constructor(options: KnownIdsOptions) {
    this.#options = options;
    this.#windowSeconds = (options.windowDays * DAY_MS) / 1000;
    this.#recent = createDeduplicationIndex(this.#windowSeconds);
    const { clickhouse, older, log, pages } = options;
    this.#pages = pages ?? createPageReader();
    this.#lookups = createLookups({
      runs: this.#runs,
      pages: this.#pages,
      clickhouse,
      onUnreadable: (file, problem) =>
        log.error({ problem, file }, 'a file of known ids cannot be read; ClickHouse is asked instead'),
      onAnswer: (seconds) => this.#onLookup(seconds),
    });
    this.#upkeep =
      older === undefined
        ? null
        : createUpkeep({
            ...older,
            recent: this.#recent,
            runs: this.#runs,
            windowSeconds: this.#windowSeconds,
            raiseFloor: (seconds) => this.#raiseFloor(seconds),
            stored: options.stored,
            onFailure: (error) => log.error({ err: error }, 'known ids could not be written to their files'),
          });
  }

  unsure(
    words: Uint32Array,
    count: number,
    { nowSeconds, timestamps }: { readonly nowSeconds: number; readonly timestamps: Float64Array },
    lookedUp: LookedUp | null,
  ): UnsureIds | null {
    this.#recent.approach(words, count);
    if (this.#runs.all.length === 0) return null;
    this.#runs.approach(words, count);
    const now = Math.max(nowSeconds, this.#floor);
    const places: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const at = i * HASH_WORDS;
      if (!this.#runs.mayHave(words, at)) continue;
      const timestamp = Math.floor((timestamps[i] ?? 0) / 1000);
      if (this.#recent.isKnown(words, at, now, timestamp)) continue;
      if (this.#foundAt(at, lookedUp) === null) places.push(at);
    }
    if (places.length === 0) return null;
    const hashes = new Uint32Array(places.length * HASH_WORDS);
    for (const [i, at] of places.entries()) hashes.set(words.subarray(at, at + HASH_WORDS), i * HASH_WORDS);
    return { hashes, places };
  }

  async lookUp({ hashes, places }: UnsureIds): Promise<LookedUp> {
    const { version } = this.#runs;
    const found = await this.#lookups.find(hashes, places.length);
    return { version, acceptances: new Map(places.map((at, i) => [at, found[i] ?? []] as const)) };
  }

  reserve(
    words: Uint32Array,
    at: number,
    nowSeconds: number,
    timestampSeconds: number,
    lookedUp: LookedUp | null,
  ): boolean {
    const now = Math.max(nowSeconds, this.#floor);
    if (this.#isFound(at, now, timestampSeconds, lookedUp)) return false;
    return this.#recent.reserve(words, at, now, timestampSeconds);
  }

  isKnown(words: Uint32Array, at: number, nowSeconds: number, lookedUp: LookedUp | null): boolean {
    const now = Math.max(nowSeconds, this.#floor);
    return this.#isFound(at, now, now, lookedUp) || this.#recent.isKnown(words, at, now, now);
  }

  #isFound(at: number, now: number, timestampSeconds: number, lookedUp: LookedUp | null): boolean {
    const oldest = now - this.#windowSeconds;
    const found = this.#foundAt(at, lookedUp);
    return found?.some((acceptance) => isKnownBy(acceptance, oldest, timestampSeconds)) === true;
  }

  release(words: Uint32Array, at: number): void {
    this.#recent.release(words, at);
  }

  approach(words: Uint32Array, count: number, wordsPerId?: number): void {
    this.#recent.approach(words, count, wordsPerId);
  }

  add(
    words: Uint32Array,
    at: number,
    stored: Parameters<DeduplicationIndex['add']>[2],
    nowSeconds: number,
  ): number | null {
    return this.#recent.add(words, at, stored, Math.max(nowSeconds, this.#floor));
  }

  async restore(now: Instant): Promise<Rebuilt> {
    const { clickhouse, windowDays, older } = this.#options;
    if (older === undefined) return await rebuildIndex(clickhouse, this.#recent, now, windowDays);
    const inRuns = new Set<number>();
    const recentFrom = await this.#restoreRuns(older, now, inRuns);
    this.#raiseFloor(recentFrom);
    const within = { from: recentFrom, to: ALL_SECONDS.to };
    const rebuilt = await rebuildIndex(clickhouse, this.#recent, now, windowDays, within);
    const before = await acceptedBefore({ ...older, clickhouse, now }, this.#recent, recentFrom);
    return { ...rebuilt, suspects: new Set([...inRuns, ...before, ...rebuilt.suspects]) };
  }

  tidy(now: Instant): void {
    this.#upkeep?.tidy(Math.floor(now / 1000));
  }

  async idle(): Promise<void> {
    await this.#upkeep?.idle();
  }

  figures(): KnownIdFigures {
    const runs = this.#runs;
    return {
      recent: { ids: this.#recent.size, bytes: this.#recent.bytes },
      filtered: { ids: runs.ids, bytes: runs.bytes },
      runs: runs.all.length,
      lookups: this.#lookups.figures(),
    };
  }

  observeLookups(observe: (seconds: number) => void): void {
    this.#onLookup = observe;
  }

  async close(): Promise<void> {
    await this.#upkeep?.close();
    await this.#lookups.close();
    if (this.#options.pages === undefined) await this.#pages.close();
    await Promise.all(this.#runs.all.map((run) => run.close()));
  }

  #raiseFloor(seconds: number): void {
    this.#floor = Math.max(this.#floor, seconds);
    this.#options.startAfter(seconds);
  }

  /** The result for an id; null if there is none, or if it is no longer certain. */
  #foundAt(at: number, lookedUp: LookedUp | null): readonly Acceptance[] | null {
    if (lookedUp === null || lookedUp.version !== this.#runs.version) return null;
    return lookedUp.acceptances.get(at) ?? null;
  }

  /** Returns the second from which ids belong in memory. */
  async #restoreRuns(older: OlderIds, now: Instant, suspects: Set<number>): Promise<number> {
    const { clickhouse, windowDays, log } = this.#options;
    const nowSeconds = Math.floor(now / 1000);
    const state = `${await older.storeState()}, ${windowDays} days`;
    const recorded = await readRecord(older.record, state);
    const coveredFrom = coverage(recorded, nowSeconds, this.#windowSeconds);
    const options = {
      ...{ ...older, clickhouse, windowDays, now },
      onUnusable: (file: string, error: unknown) =>
        log.warn?.({ err: error, file }, 'a file of known ids cannot be used and is built again'),
      onMade: ({ ids, from, to }: Run, progress: RestoreProgress) => {
        const [first, end] = [from, to].map((seconds) => formatInstant(seconds * 1000));
        log.info?.({ ids, from: first, to: end, ...progress }, 'a file of known ids is built');
      },
      onSuspects: (hashes: ReadonlySet<number>) => {
        for (const hash of hashes) suspects.add(hash);
      },
    };
    // An earlier attempt may have failed after its runs were added.
    for (const run of this.#runs.all) {
      this.#runs.remove(run);
      await run.close();
    }
    const { runs, recentFrom } = await restoreRuns(options, recorded, coveredFrom);
    for (const run of runs) this.#runs.append(run);
    if (runs.length > 0) this.#pages.start();
    this.#upkeep?.begin(state, coveredFrom);
    await this.#upkeep?.note();
    return recentFrom;
  }
}

async function readRecord(record: RunRecord, state: string): Promise<RecordedRuns | null> {
  const recorded = await record.read();
  return recorded?.state === state ? recorded : null;
}

/** The second from which runs are complete. If the clock is earlier than it was, they are not. */
function coverage(recorded: RecordedRuns | null, nowSeconds: number, windowSeconds: number): number {
  const needed = firstKnownSecond(nowSeconds, windowSeconds);
  const isCredible = recorded !== null && recorded.coveredFrom <= nowSeconds - windowSeconds + 1;
  return isCredible ? Math.max(needed, recorded.coveredFrom) : needed;
}
