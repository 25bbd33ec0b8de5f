/**
 * Keeps the index in memory small, and the runs few, in the background: the oldest ids are moved to a run when there
 * are too many, runs are merged, and expired ones are removed. One step at a time; a failed step leaves everything as
 * it was and is retried.
 *
 * An id leaves memory only when its run is on disk and recorded, and a run only contains ids whose events are in
 * ClickHouse.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { DeduplicationIndex } from '../deduplication-index.ts';
import { AHEAD_SECONDS_MAX } from '../deduplication-slots.ts';
import { mergeOnThread } from './merge-on-thread.ts';
import { runsToMerge } from './merge-runs.ts';
import { type Run, removeRunFile } from './run.ts';
import type { RunRecord } from './run-record.ts';
import type { Runs } from './runs.ts';
import { chooseCut, dropSpilled, writeRun } from './spill.ts';

/** The share of the maximum ids that stays in memory. */
const KEPT_SHARE = 1 / 2;
/** With fewer ids than this share, a run is not worth its lookups. */
const RUN_SHARE_MIN = 1 / 8;
const RETRY_MS = 1_000;

export interface UpkeepOptions {
  readonly recent: DeduplicationIndex;
  readonly runs: Runs;
  readonly record: RunRecord;
  readonly directory: string;
  readonly recentMax: number;
  readonly windowSeconds: number;
  /** The minimum time that ids stay in memory. */
  readonly recentSeconds: number;
  /** From now on no id is accepted before this second, neither in the index nor in storage. */
  readonly raiseFloor: (seconds: number) => void;
  /** Resolves when the events of all ids reserved so far are in ClickHouse, or released. */
  readonly stored: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

export interface Upkeep {
  /** Sets the events that the runs belong to. Call it before the first `tidy`. */
  begin(state: string, coveredFrom: number): void;
  /** Starts pending work in the background. Cheap if there is none. */
  tidy(nowSeconds: number): void;
  /** Records the current runs. */
  note(): Promise<void>;
  /** Resolves when no work is running. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export function createUpkeep(options: UpkeepOptions): Upkeep {
  return new RunUpkeep(options);
}

class RunUpkeep implements Upkeep {
  readonly #options: UpkeepOptions;
  readonly #end = new AbortController();
  #state: string | null = null;
  #coveredFrom = 0;
  #nowSeconds = 0;
  /** With this many ids in memory, spilling is tried again. */
  #spillAt: number;
  #working: Promise<void> | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#spillAt = options.recentMax + 1;
  }

  begin(state: string, coveredFrom: number): void {
    this.#state = state;
    this.#coveredFrom = coveredFrom;
  }

  tidy(nowSeconds: number): void {
    this.#nowSeconds = Math.max(this.#nowSeconds, nowSeconds);
    if (this.#state === null || this.#working !== null || this.#end.signal.aborted) return;
    if (!this.#isDue()) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async idle(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#working;
  }

  async note(): Promise<void> {
    const { record, runs } = this.#options;
    const summaries = runs.all.map(({ name, from, to, ids }) => ({ name, from, to, ids }));
    await record.write({ state: this.#state ?? '', coveredFrom: this.#coveredFrom, runs: summaries });
  }

  #oldest(): number {
    return this.#nowSeconds - this.#options.windowSeconds;
  }

  #isDue(): boolean {
    const { recent, runs, windowSeconds } = this.#options;
    if (recent.size >= this.#spillAt) return true;
    const [first] = runs.all;
    if (first === undefined) return false;
    // Most runs are still far from their expiry.
    const isPast = first.to - 1 <= this.#oldest() && first.reach < this.#oldest();
    return isPast || runsToMerge(runs.all, windowSeconds).length > 0;
  }

  async #work(): Promise<void> {
    try {
      while (this.#isDue() && !this.#end.signal.aborted) {
        await this.#removeExpired();
        if (this.#options.recent.size >= this.#spillAt) await this.#spill();
        await this.#merge();
      }
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#options.onFailure(error);
      await delay(RETRY_MS, undefined, { signal: this.#end.signal, ref: false }).catch(() => {});
    }
  }

  async #removeExpired(): Promise<void> {
    const { runs } = this.#options;
    const expired = runs.dropExpired(this.#oldest());
    if (expired.length === 0) return;
    this.#coveredFrom = Math.max(this.#coveredFrom, ...expired.map(({ to }) => to));
    await this.note();
    await this.#remove(expired);
  }

  async #spill(): Promise<void> {
    const { recent, runs, directory, recentMax, recentSeconds, raiseFloor, stored } = this.#options;
    const from = runs.all.at(-1)?.to ?? this.#coveredFrom;
    const latest = this.#nowSeconds - recentSeconds;
    const ids = recent.size - Math.floor(recentMax * KEPT_SHARE);
    const { cut, older } = latest > from ? await chooseCut(recent, { latest, ids }) : { cut: from, older: 0 };
    const least = Math.max(1, recentMax * RUN_SHARE_MIN);
    // While the clock stands still no second ends, and with few ids the run is not worth it.
    this.#spillAt = Math.max(recentMax + 1, older < least ? recent.size + least : 0);
    if (older < least || cut <= from) return;
    raiseFloor(cut);
    await stored();
    const spilled = await writeRun(recent, directory, { from, to: cut });
    runs.append(spilled.run);
    try {
      await this.note();
    } catch (error) {
      await this.#discardRun(spilled.run);
      throw error;
    }
    await dropSpilled(recent, spilled, this.#nowSeconds);
  }

  /** The ids of the newest run are still in memory. */
  async #discardRun(run: Run): Promise<void> {
    this.#options.runs.remove(run);
    await this.#remove([run]);
  }

  async #merge(): Promise<void> {
    const { runs, directory, windowSeconds } = this.#options;
    const old = runsToMerge(runs.all, windowSeconds);
    if (old.length === 0) return;
    const { signal } = this.#end;
    const merged = await mergeOnThread(old, { directory, oldestSeconds: this.#oldest(), signal });
    runs.replace(old, merged);
    // If this fails, the old files stay recorded and present.
    await this.note();
    await this.#remove(old);
  }

  async #remove(runs: readonly Run[]): Promise<void> {
    for (const run of runs) {
      await run.close();
      await removeRunFile(this.#options.directory, run.name);
    }
  }
}

/** Ids accepted before this second are not known, whatever the timestamps of their events. */
export function firstKnownSecond(nowSeconds: number, windowSeconds: number): number {
  return Math.max(0, nowSeconds - windowSeconds - AHEAD_SECONDS_MAX);
}
