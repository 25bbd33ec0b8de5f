/** A single event, as read by its transaction id. */
import type { Instant } from '../../core/time.ts';

export interface StoredEvent {
  readonly transactionId: string;
  /** Customer id or ingest alias, exactly as sent. */
  readonly customerRef: string;
  readonly eventType: string;
  readonly timestamp: Instant;
  /** The text of every value; nested values as JSON text. A map, because a name may be `__proto__`. */
  readonly properties: ReadonlyMap<string, string>;
  /** When it was accepted; for a repeat, when it was dropped. Digits beyond the millisecond are cut. */
  readonly receivedAt: Instant;
  /** The same in epoch microseconds. */
  readonly ingestedAt: string;
  /** Distinguishes rows with one id: the microsecond of acceptance, or the index among the repeats. */
  readonly tick: string;
}
