/** Reports new events one by one, before they are acknowledged. Unwatched customers cost a hash. */
import { hashBytes } from '../../core/byte-hash.ts';
import type { EventRows, ReadEvent } from './event-rows.ts';
import { RowReader } from './row-binary.ts';

/** New events that are being written. */
export interface WatchedEvents {
  /** They are on disk. Their request is answered afterwards. */
  stored(): Promise<void>;
  /** They may be on disk, or not. */
  failed(): void;
}

export interface NewEventWatch {
  isWatching(): boolean;
  /**
   * Whether events whose customer reference has this hash (`hashText`) are wanted. The hash may match another
   * customer's reference.
   */
  isWatched(owner: number): boolean;
  /**
   * Runs within the request, so it must not wait. `ingestedBefore`: epoch microseconds, after the ingestion of each of
   * them and before that of every later event.
   */
  taken(events: readonly ReadEvent[], ingestedBefore: number): WatchedEvents | null;
}

/** Readers of stored usage, which have to read it again after new events. */
export interface ReadWatch {
  isWatching(): boolean;
  /** An event whose customer reference has this hash is being written. Must not wait. */
  taken(owner: number): void;
}

export function watchedEvents(
  { events: watch, reads }: { readonly events: NewEventWatch; readonly reads: ReadWatch },
  rows: EventRows,
  indexes: readonly number[],
  ingestedBefore: () => number,
): WatchedEvents | null {
  const isWatching = watch.isWatching();
  if (!isWatching && !reads.isWatching()) return null;
  const events: ReadEvent[] = [];
  const reader = new RowReader(rows.bytes);
  for (const index of indexes) {
    reader.offset = rows.startOf(index);
    reader.skipText();
    const length = reader.length();
    const owner = hashBytes(rows.bytes, reader.offset, reader.offset + length);
    reads.taken(owner);
    if (isWatching && watch.isWatched(owner)) events.push(rows.read(index));
  }
  return events.length === 0 ? null : watch.taken(events, ingestedBefore());
}
