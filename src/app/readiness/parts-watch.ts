/**
 * Monitors that ClickHouse has all rows that it ever had (docs/how-to/operations.md, "Damaged data"). Compares its
 * parts with the record in PostgreSQL, at the start and every few seconds. While a loss is neither restored nor
 * accepted, the service is not ready, reads no usage, accepts no events and runs no jobs.
 */
import { access } from 'node:fs/promises';
import { ClickHouseError } from '@clickhouse/client';
import { SECOND_MS } from '../../core/time.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import { stringLiteral } from '../../metering/client/clickhouse-parameters.ts';
import { CORRECTED_EVENTS_TABLE } from '../../metering/corrections/corrected-rows.ts';
import { partitionOf } from '../../metering/events/old-months.ts';
import { USAGE_EVENTS_TABLE } from '../../metering/ingest/encode-events.ts';
import type { DamagedPart } from '../../metering/stored-parts/guard-parts.ts';
import {
  describeLoss,
  EVENT_LOG,
  type Loss,
  type LossKind,
  lossesOf,
  type StoredPart,
} from '../../metering/stored-parts/part-losses.ts';
import {
  type ActivePart,
  isPartReadable,
  readActiveParts,
  readLossesOfReplicas,
  readSetAsideParts,
} from '../../metering/stored-parts/read-parts.ts';
import { createPoll } from '../../runtime/poll.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import type { Database } from '../../store/base/database.ts';
import { findEventRetention } from '../../store/erasure/event-retention.ts';
import {
  type RecordedLoss,
  recordedParts,
  recordLosses,
  recordParts,
  unsettledLosses,
} from '../../store/events/event-store.ts';
import type { LostEvents } from '../stores/logged-clickhouse.ts';

/** Their months are removed together. */
const TABLES_OF_EVENTS: readonly string[] = [USAGE_EVENTS_TABLE, CORRECTED_EVENTS_TABLE];

export interface PartsWatch {
  /** Checks once. Rejects if one of the stores does not respond; earlier findings stay valid. */
  check(): Promise<void>;
  /** Losses that are neither restored nor accepted, a line each. */
  problems(): readonly string[];
  /** Whether the log of events is held back, because acknowledged events are missing from it. */
  isLogDamaged(): boolean;
  /** Reports a part that a query could not read. */
  damaged(part: DamagedPart): void;
  /** Calls `listener` when a loss is suspected or found: what was read before may no longer be stored. */
  onLoss(listener: () => void): void;
  /** Checks every few seconds from now on; `onChecked` is called after each check. */
  start(onChecked: () => Promise<void>): void;
  /** Checks a last time, so that the record is complete. */
  close(): Promise<void>;
}

export interface PartsWatchOptions {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly log: Logger;
  /** Name of the cluster; undefined for a single node. */
  readonly cluster: string | undefined;
  /** Whether the files of ClickHouse are on this machine. */
  readonly isEmbedded: boolean;
  /** The losses of the log in front of an embedded ClickHouse. */
  readonly lostEvents?: LostEvents | undefined;
}

/** A part that disappears is noticed if it existed for this long. */
const INTERVAL_MS = 10 * SECOND_MS;

export function createPartsWatch(options: PartsWatchOptions): PartsWatch {
  return new Watch(options);
}

class Watch implements PartsWatch {
  readonly #options: PartsWatchOptions;
  readonly #clickhouse: ClickHouse;
  /** Reported by queries, and not checked yet. */
  #reports: DamagedPart[] = [];
  #problems: readonly string[] = [];
  #recorded = '';
  #isFirst = true;
  #isDenied = false;
  readonly #looks = createSerialQueue('checks of parts');
  readonly #poll = createPoll({
    name: 'checks of parts',
    intervalMs: INTERVAL_MS,
    work: async () => {
      await this.check();
      await this.#onChecked();
    },
    onFailure: (err) =>
      this.#options.log.warn({ err }, 'the parts of ClickHouse cannot be checked; it is tried again'),
  });

  constructor(options: PartsWatchOptions) {
    this.#options = options;
    this.#clickhouse = inLane(options.clickhouse, 'ingest');
  }

  problems(): readonly string[] {
    const suspects = this.#reports.map(({ part }) => `part ${part} could not be read; it is being checked`);
    return [...this.#problems, ...suspects];
  }

  isLogDamaged(): boolean {
    return (this.#options.lostEvents?.loss() ?? null) !== null;
  }

  damaged(part: DamagedPart): void {
    const isKnown = this.#reports.some((one) => one.part === part.part && one.tableId === part.tableId);
    if (isKnown) return;
    this.#reports.push(part);
    this.#onLoss();
    this.#poll.soon();
  }

  onLoss(listener: () => void): void {
    this.#onLoss = listener;
  }

  /** One check at a time. */
  check(): Promise<void> {
    return this.#looks.run(() => this.#look());
  }

  start(onChecked: () => Promise<void>): void {
    this.#onChecked = onChecked;
    this.#poll.start();
  }

  async close(): Promise<void> {
    await this.#poll.close();
    // Queries may have been cancelled: then the record is that of some seconds ago.
    await this.check().catch(() => undefined);
    await this.#looks.close();
  }

  #onChecked: () => Promise<void> = async () => {};
  #onLoss: () => void = () => {};

  async #look(): Promise<void> {
    const { db, cluster } = this.#options;
    const known = await unsettledLosses(db);
    const reports = [...this.#reports];
    // Before the parts: another process may record a part that did not exist yet when this one read them.
    const recorded = (await recordedParts(db)).filter(await this.#isKept());
    const active = cluster === undefined ? await readActiveParts(this.#clickhouse) : [];
    const found = [
      ...(await this.#found(recorded, active)),
      ...(await this.#unreadable(active, known, reports)),
      ...(await this.#fromLog(known)),
    ];
    const absent = await this.#absent(active);
    const losses = await recordLosses(db, unique([...found, ...absent]), Date.now());
    const open = losses.filter(({ acceptedAt }) => acceptedAt === null);
    this.#log(open.filter((loss) => !known.some(({ id }) => id === loss.id)));
    // The engine continues with a part whose files are gone until it is restarted.
    const restart = absent.map((loss) => `${describeLoss(loss)}, and start the service again`);
    this.#problems = open.length === 0 ? restart : open.map((loss) => describeLoss(lossFromRow(loss)));
    this.#reports = this.#reports.filter((report) => !reports.includes(report));
    if (this.#problems.length > 0) this.#onLoss();
    if (open.length === 0 && absent.length === 0) await this.#record(active);
    this.#isFirst = false;
  }

  /** The losses shown by the current parts and the detached ones. */
  async #found(recorded: readonly StoredPart[], active: readonly ActivePart[]): Promise<Loss[]> {
    const { cluster } = this.#options;
    if (cluster !== undefined)
      return (await this.#permitted(() => readLossesOfReplicas(this.#clickhouse, cluster))) ?? [];
    const setAside = (await this.#permitted(() => readSetAsideParts(this.#clickhouse))) ?? [];
    return lossesOf(recorded, active, setAside.filter(await this.#isKept()));
  }

  /** Whether a missing part is a loss: not if its month of events was removed on purpose, or is about to be. */
  async #isKept(): Promise<(part: Pick<StoredPart, 'table' | 'partition'>) => boolean> {
    const retention = await findEventRetention(this.#options.db);
    if (retention === null) return () => true;
    const first = partitionOf(retention.keptFrom);
    return ({ table, partition }) => !TABLES_OF_EVENTS.includes(table) || partition >= first;
  }

  async #permitted<T>(read: () => Promise<T>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClickHouseError) || error.type !== 'ACCESS_DENIED') throw error;
      if (!this.#isDenied) {
        this.#options.log.warn(
          { err: error },
          'ClickHouse does not let this user see which parts are damaged',
        );
      }
      this.#isDenied = true;
      return null;
    }
  }

  /**
   * Parts that queries could not read, if reading all of them fails as well. Known ones are read again only by the
   * first check after a start, because a part may be large. An accepted one is detached, so that queries work again.
   */
  async #unreadable(
    active: readonly ActivePart[],
    known: readonly RecordedLoss[],
    reports: readonly DamagedPart[],
  ): Promise<Loss[]> {
    const losses: Loss[] = [];
    for (const part of active) {
      const { table, name, rows } = part;
      const before = known.find((one) => one.kind === 'unreadable' && isOf(one, part));
      const isReported = reports.some((one) => one.part === name && one.tableId === part.tableId);
      if (before === undefined && !isReported) continue;
      if (before !== undefined && before.acceptedAt !== null) {
        await this.#clickhouse.command(`ALTER TABLE ${table} DETACH PART ${stringLiteral(name)}`);
        continue;
      }
      const isToBeRead = before === undefined || this.#isFirst;
      if (isToBeRead && (await isPartReadable(this.#clickhouse, table, name))) continue;
      losses.push({ table, part: name, kind: 'unreadable', rows });
    }
    return losses;
  }

  /**
   * The records that are missing from the log of events. When their loss is accepted, the log continues with the
   * readable ones.
   */
  async #fromLog(known: readonly RecordedLoss[]): Promise<Loss[]> {
    const damage = this.#options.lostEvents?.loss() ?? null;
    if (damage === null) return [];
    const loss: Loss = { table: EVENT_LOG, part: damage.name, kind: 'log', rows: damage.rows };
    const before = known.find(({ table, part }) => table === EVENT_LOG && part === damage.name);
    if (before === undefined || before.acceptedAt === null) return [loss];
    await this.#options.lostEvents?.accept();
    return [];
  }

  /** Parts that the engine in this process still lists, but whose directories are gone. */
  async #absent(active: readonly ActivePart[]): Promise<Loss[]> {
    if (!this.#options.isEmbedded) return [];
    const gone = await withoutDirectory(active);
    if (gone.length === 0) return [];
    // The directory of a part that was merged in the meantime is gone, too.
    const now = await withoutDirectory(await readActiveParts(this.#clickhouse));
    return gone
      .filter(({ path }) => now.some((part) => part.path === path))
      .map(({ table, name, rows }): Loss => ({ table, part: name, kind: 'missing', rows }));
  }

  async #record(active: readonly ActivePart[]): Promise<void> {
    const parts = active.map(({ table, name, tableId, partition, minBlock, maxBlock, rows }): StoredPart => {
      return { table, name, tableId, partition, minBlock, maxBlock, rows };
    });
    const text = JSON.stringify(parts);
    if (text === this.#recorded) return;
    await recordParts(this.#options.db, parts);
    this.#recorded = text;
  }

  #log(losses: readonly RecordedLoss[]): void {
    for (const { table, part, kind, rows } of losses) {
      const message = 'stored rows are missing: the service is not ready until they are restored or accepted';
      this.#options.log.error({ table, part, kind, rows }, message);
    }
  }
}

async function withoutDirectory(parts: readonly ActivePart[]): Promise<ActivePart[]> {
  const found = await Promise.all(
    parts.map((part) =>
      access(part.path).then(
        () => [],
        () => [part],
      ),
    ),
  );
  return found.flat();
}

function isOf(loss: Pick<RecordedLoss, 'table' | 'part'>, part: StoredPart): boolean {
  return loss.table === part.table && loss.part === part.name;
}

function unique(losses: readonly Loss[]): Loss[] {
  return [...new Map(losses.map((loss) => [`${loss.table}/${loss.part}`, loss])).values()];
}

function lossFromRow({ table, part, kind, rows }: RecordedLoss): Loss {
  return { table, part, kind: kind as LossKind, rows };
}
