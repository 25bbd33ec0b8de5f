/** The interface of the ingest of events: its dependencies, operations and counts. */
import type { Clock } from '../../core/clock.ts';
import type { UsageWatch } from '../../core/event-quantities.ts';
import type { Instant } from '../../core/time.ts';
import type { Tracer } from '../../core/tracing.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { EventBlocks } from './event-blocks.ts';
import type { ReadEvent } from './event-rows.ts';
import type { KnownIdFigures, OlderIds } from './known-ids/known-ids.ts';
import type { NewEventWatch, ReadWatch } from './new-events.ts';
import type { EventReader } from './validate-events.ts';

interface IngestLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn?(fields: Readonly<Record<string, unknown>>, message: string): void;
  info?(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface IngestOptions {
  /** Includes acknowledged events, if there are blocks. */
  readonly clickhouse: ClickHouse;
  /** The durable log; absent if an event is acknowledged when ClickHouse has it. */
  readonly blocks?: EventBlocks | undefined;
  readonly clock: Clock;
  /** Days for which an id is remembered from its acceptance, and the greatest age of a timestamp. */
  readonly windowDays: number;
  /** How ids that exceed the memory are kept; absent: in memory nevertheless. */
  readonly olderIds?: OlderIds | undefined;
  readonly log: IngestLog;
  readonly tracer?: Tracer;
  /**
   * Interval of polling for events stored by other processes, in milliseconds; absent for a single process, as with
   * an embedded ClickHouse.
   */
  readonly tailIntervalMs?: number | undefined;
  /** Name of the cluster that holds the events, absent for a single node. */
  readonly cluster?: string | undefined;
  /** Called for every event that is dropped as a repeat. Runs within the request, so it must not wait. */
  readonly onRepeat?: (read: () => ReadEvent, now: Instant) => void;
}

/** The receivers of new events. */
export interface EventWatches {
  readonly usage: UsageWatch;
  /** Notified of each new event before it is acknowledged. */
  readonly events: NewEventWatch;
  readonly reads: ReadWatch;
}

export interface IngestOutcome {
  /** Events that this request stored. */
  readonly accepted: number;
  /** Events whose id was accepted before within the window, or earlier in the same request. */
  readonly duplicates: number;
}

interface IngestStats {
  readonly acceptedTotal: number;
  readonly duplicatesTotal: number;
  readonly ids: number;
  readonly indexBytes: number;
  readonly knownIds: KnownIdFigures;
  readonly waitingRows: number;
  readonly waitingBytes: number;
  readonly batches: number;
  readonly failedBatches: number;
  /** Bytes of rows that are acknowledged and not in ClickHouse yet. */
  readonly loggedBytes: number;
  /** Failed attempts to insert them. */
  readonly failedLogInserts: number;
  /** Rows read to find events stored by other processes. */
  readonly tailedRows: number;
  readonly failedTails: number;
  /** Copies of events that were removed because another process had accepted the same id before. */
  readonly conflictsRemoved: number;
}

export interface Ingest {
  /** Notifies these of new events from now on. They read stored events, so they are created after the ingest. */
  watch(watches: EventWatches): void;
  /**
   * Stores the events of a raw request body. Resolves when every one of them, duplicates included, is on disk. Refuses
   * as `invalid` (with `details.errors`, nothing stored), `overloaded` (nothing stored, try later) or `unavailable`
   * (not acknowledged, send it again).
   */
  ingest(body: Buffer, reader?: EventReader): Promise<IngestOutcome>;
  /**
   * Refuses in the conditions in which `ingest` would refuse any events now; cheap, so that a body need not be read.
   */
  admit(): void;
  /** Reads the ids of the window from ClickHouse. `ingest` refuses until this has completed once. Starts the tail. */
  rebuild(): Promise<{ ids: number }>;
  /**
   * Reads events that other processes have stored so far, and removes the later ones of conflicting copies. Runs
   * automatically every `tailIntervalMs`. Rejects if ClickHouse does not respond.
   */
  tail(): Promise<{ rows: number }>;
  /**
   * The subset of these transaction ids whose events are on disk: from this process, and from others as far as `tail`
   * has read them. None before `rebuild`. May reject while files of known ids cannot be read.
   */
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * The ingestion time up to which reads see every event, and before which none is added: epoch microseconds. All
   * acknowledged events are before it. Null if unknown: without blocks, because others may write to the same
   * ClickHouse, and before `rebuild`.
   */
  completeUpTo(): string | null;
  /** No event that is taken later has this ingestion time or an earlier one: epoch microseconds. Null like `completeUpTo`. */
  takenUpTo(): number | null;
  /** An instant of ingestion that no event has, in epoch microseconds. Null like `completeUpTo`. */
  mark(): number | null;
  /** Later events have a later ingestion time than this one, in epoch microseconds. */
  startAfter(tick: number): void;
  stats(): IngestStats;
  /** Calls `observe` with the duration in seconds of every lookup of possibly known ids. */
  observeLookups(observe: (seconds: number) => void): void;
  /** Resolves when the events currently being written are on disk, or have failed. */
  drained(): Promise<void>;
  /** Resolves when no known ids are being moved from memory to their files, and no files are being merged. */
  tidied(): Promise<void>;
  /** Refuses new events and resolves when the accepted ones are in ClickHouse, or it refuses them. */
  close(): Promise<void>;
}
