/**
 * Keeps processes that ingest into the same ClickHouse consistent: follows their inserts and removes conflicting
 * copies. Responsible for timing and metrics; `tail.ts` and `reconcile-copies.ts` do the work.
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
  /** Pause between two looks; absent: none by itself. */
  readonly tailIntervalMs?: number | undefined;
  /** Resolves when what this process accepted up to now is on disk; rejects when part of it failed. */
  readonly settled: () => Promise<void>;
  readonly log: {
    error(fields: Readonly<Record<string, unknown>>, message: string): void;
    warn?(fields: Readonly<Record<string, unknown>>, message: string): void;
  };
}

export interface Sharing {
  /** To be called before the index is built. */
  begin(): Promise<void>;
  start(): void;
  /** One look as far back as rows may come late. */
  tail(): Promise<{ rows: number }>;
  /** Removes conflicting copies of the ids whose hashes begin with these words. */
  reconcile(hashes: ReadonlySet<number>): Promise<void>;
  stats(): { tailedRows: number; failedTails: number; conflictsRemoved: number };
  /** Ends the looking and waits for the look under way. */
  close(): Promise<void>;
}

/** Ids that may wait to be reconciled before the next look waits for them: bounds their memory, 4 MB. */
const SUSPECTS_MAX = 100_000;
/** Ids named in one line of the log; all of them are counted. */
const IDS_LOGGED_MAX = 20;

export function createSharing(options: SharingOptions): Sharing {
  return new FollowedInserts(options);
}

class FollowedInserts implements Sharing {
  readonly #options: SharingOptions;
  readonly #tail;
  readonly #poll: Poll | null;
  readonly #looking = createSerialQueue();
  /** First hash words of ids that are to be reconciled. A removal takes seconds, while polling continues. */
  #suspects = new Set<number>();
  readonly #reconciling = createSerialQueue();
  #tailedRows = 0;
  #failedTails = 0;
  #conflictsRemoved = 0;

  constructor(options: SharingOptions) {
    this.#options = options;
    this.#tail = createTail({ ...options, onSuspects: (hashes) => this.#suspect(hashes) });
    const { tailIntervalMs: intervalMs } = options;
    const work = () => this.#lookAndReconcile();
    this.#poll = intervalMs === undefined ? null : createPoll({ intervalMs, work, onFailure: ignoreFailure });
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

  /** Reconciles suspected copies, after those that are being reconciled. Copies that fail stay suspected. */
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
    const { clickhouse, clock, cluster, windowDays, settled, log } = this.#options;
    // A copy of our own may still be on its way; what failed is no copy.
    await settled().catch(() => {});
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
    await this.#looking.idle();
    await this.#reconciling.idle();
  }

  /** One look after the other: two at once would read the same rows. */
  #look(isWide: boolean): Promise<number> {
    return this.#looking.run(async () => {
      const rows = await this.#tail.look(this.#options.clock.now(), isWide);
      this.#tailedRows += rows;
      return rows;
    });
  }
}
