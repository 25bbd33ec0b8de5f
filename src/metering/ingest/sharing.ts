/**
 * Keeps processes that ingest into the same ClickHouse consistent: follows their inserts and removes conflicting
 * copies. Owns timing and metrics; `tail.ts` and `reconcile-copies.ts` do the work.
 */
import type { Clock } from '../../core/clock.ts';
import { createPoll, ignoreFailure, type Poll } from '../../runtime/poll.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { DeduplicationIndex } from './deduplication-index.ts';
import { reconcileCopies } from './reconcile-copies.ts';
import { createTail } from './tail.ts';

export interface SharingOptions {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly windowDays: number;
  readonly index: Pick<DeduplicationIndex, 'add' | 'approach'>;
  readonly cluster?: string | undefined;
  /** Interval of polling; absent: no polling. */
  readonly tailIntervalMs?: number | undefined;
  /** Resolves when everything that this process has accepted is on disk; rejects if some of it failed. */
  readonly drained: () => Promise<void>;
  readonly log: {
    error(fields: Readonly<Record<string, unknown>>, message: string): void;
    warn?(fields: Readonly<Record<string, unknown>>, message: string): void;
  };
}

export interface Sharing {
  /** Call it before the index is built. */
  begin(): Promise<void>;
  start(): void;
  /** One look as far back as rows may be late. */
  tail(): Promise<{ rows: number }>;
  /** Removes conflicting copies of the ids whose hashes begin with these words. */
  reconcile(hashes: ReadonlySet<number>): Promise<void>;
  stats(): { tailedRows: number; failedTails: number; conflictsRemoved: number };
  /** Stops polling and waits for the running look. */
  close(): Promise<void>;
}

/** With more ids to reconcile, the next look waits for them: limits their memory to 4 MB. */
const SUSPECTS_MAX = 100_000;
/** Ids named in one log line; all of them are counted. */
const IDS_LOGGED_MAX = 20;

export function createSharing(options: SharingOptions): Sharing {
  return new FollowedInserts(options);
}

class FollowedInserts implements Sharing {
  readonly #options: SharingOptions;
  readonly #tail;
  readonly #poll: Poll | null;
  readonly #looking = createSerialQueue('inserts of other processes');
  /** First hash words of ids to reconcile. A removal takes seconds, while polling continues. */
  #suspects = new Set<number>();
  readonly #reconciling = createSerialQueue('conflicting copies');
  #tailedRows = 0;
  #failedTails = 0;
  #conflictsRemoved = 0;

  constructor(options: SharingOptions) {
    this.#options = options;
    this.#tail = createTail({ ...options, onSuspects: (hashes) => this.#suspect(hashes) });
    const { tailIntervalMs: intervalMs } = options;
    const work = () => this.#lookAndReconcile();
    this.#poll =
      intervalMs === undefined
        ? null
        : createPoll({ name: 'inserts of other processes', intervalMs, work, onFailure: ignoreFailure });
  }

  begin(): Promise<void> {
    return this.#tail.begin(this.#options.clock.now());
  }

  start(): void {
    this.#poll?.start();
  }

  async tail(): Promise<{ rows: number }> {
    const rows = await this.#look(true);
    await this.#reconcileSuspects();
    return { rows };
  }

  async #lookAndReconcile(): Promise<void> {
    try {
      await this.#look(false);
      const reconciled = this.#reconcileSuspects().catch((error: unknown) => this.#noteFailure(error));
      if (this.#suspects.size >= SUSPECTS_MAX) await reconciled;
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  #noteFailure(error: unknown): void {
    this.#failedTails += 1;
    this.#options.log.error({ err: error }, 'what other processes stored could not be read or reconciled');
  }

  #suspect(hashes: ReadonlySet<number>): void {
    for (const hash of hashes) this.#suspects.add(hash);
  }

  /** Reconciles suspected copies, after those being reconciled. Copies that fail stay suspected. */
  #reconcileSuspects(): Promise<void> {
    return this.#reconciling.run(async () => {
      const hashes = this.#suspects;
      this.#suspects = new Set();
      try {
        await this.reconcile(hashes);
      } catch (error) {
        this.#suspect(hashes);
        throw error;
      }
    });
  }

  async reconcile(hashes: ReadonlySet<number>): Promise<void> {
    if (hashes.size === 0) return;
    const { clickhouse, clock, cluster, windowDays, drained, log } = this.#options;
    // One of our own copies may still be in flight; a failed one is no copy.
    await drained().catch(() => {});
    const removed = await reconcileCopies({ clickhouse, cluster, windowDays, now: clock.now() }, hashes);
    if (removed.length === 0) return;
    this.#conflictsRemoved += removed.length;
    const transactionIds = removed.slice(0, IDS_LOGGED_MAX).map((copy) => copy.transaction_id);
    log.warn?.({ copies: removed.length, transactionIds }, 'later copies of events were removed');
  }

  stats(): { tailedRows: number; failedTails: number; conflictsRemoved: number } {
    return {
      tailedRows: this.#tailedRows,
      failedTails: this.#failedTails,
      conflictsRemoved: this.#conflictsRemoved,
    };
  }

  async close(): Promise<void> {
    await this.#poll?.close();
    await this.#looking.close();
    await this.#reconciling.close();
  }

  /** One look at a time: concurrent ones would read the same rows. */
  #look(isWide: boolean): Promise<number> {
    return this.#looking.run(async () => {
      const rows = await this.#tail.look(this.#options.clock.now(), isWide);
      this.#tailedRows += rows;
      return rows;
    });
  }
}
