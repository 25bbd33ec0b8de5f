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

export function watchedEvents(
  watch: NewEventWatch | undefined,
  rows: EventRows,
  indexes: readonly number[],
  ingestedBefore: () => number,
): WatchedEvents | null {
  if (!watch?.isWatching()) return null;
  const events: ReadEvent[] = [];
  const reader = new RowReader(rows.bytes);
  for (const index of indexes) {
    reader.offset = rows.startOf(index);
    reader.skipText();
    const length = reader.length();
    if (watch.isWatched(hashBytes(rows.bytes, reader.offset, reader.offset + length)))
      events.push(rows.read(index));
  }
  return events.length === 0 ? null : watch.taken(events, ingestedBefore());
}
