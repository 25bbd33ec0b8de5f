/**
 * Writes accepted events as `JSONCompactEachRow` rows of `usage_events`.
 *
 * Owns the order of the columns and the ingestion tick: every row gets its own microsecond in
 * `ingested_at`, strictly increasing within a process, and a `version` that decreases as it rises, so
 * that of two copies of one event the first written wins and the order of ingestion is never in doubt.
 */
import type { Instant } from '../../core/time.ts';
import type { ValidEvent } from './validate-events.ts';

export const USAGE_EVENTS_TABLE = 'usage_events';

export const USAGE_EVENTS_COLUMNS = [
  'transaction_id',
  'customer_ref',
  'event_type',
  'timestamp',
  'properties',
  'ingested_at',
  'version',
  'id_hash_a',
  'id_hash_b',
  'id_hash_c',
] as const;

/** Concatenating prepared groups of three digits is several times faster than printing large numbers. */
const THREE_DIGITS = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

function threeDigits(value: number): string {
  return THREE_DIGITS[value] ?? '';
}

/** `version` is this minus the microsecond of ingestion: sixteen nines. */
const VERSION_SECONDS = 9_999_999_999;
const MICROSECONDS = 1_000_000;

export interface RowEncoder {
  /** Makes sure that the ticks to come are later than this one, in microseconds since the epoch. */
  startAfter(microseconds: number): void;
  /** One row, with a newline. `hash[at…]` are the words of the hash of the event's transaction id. */
  encode(event: ValidEvent, hash: Uint32Array, at: number, now: Instant): string;
}

export function createRowEncoder(): RowEncoder {
  let tick = 0;
  let tickSeconds = -1;
  let ingestedPrefix = '';
  let versionPrefix = '';

  function nextTick(now: Instant): number {
    tick = Math.max(tick + 1, now * 1000);
    const seconds = Math.floor(tick / MICROSECONDS);
    if (seconds !== tickSeconds) {
      tickSeconds = seconds;
      ingestedPrefix = String(seconds);
      versionPrefix = String(VERSION_SECONDS - seconds);
    }
    return tick - seconds * MICROSECONDS;
  }

  return {
    startAfter(microseconds) {
      tick = Math.max(tick, microseconds);
    },
    encode(event, hash, at, now) {
      const micros = nextTick(now);
      return (
        '[' +
        event.transactionIdJson +
        ',' +
        event.customerRefJson +
        ',' +
        event.eventTypeJson +
        ',' +
        millisecondsText(event.timestamp) +
        ',' +
        event.propertiesJson +
        ',' +
        ingestedPrefix +
        sixDigits(micros) +
        ',' +
        versionPrefix +
        sixDigits(MICROSECONDS - 1 - micros) +
        ',' +
        wordText(hash[at]) +
        ',' +
        wordText(hash[at + 1]) +
        ',' +
        wordText(hash[at + 2]) +
        ']\n'
      );
    },
  };
}

/** An unquoted number is the tick count of the column's type: milliseconds for `timestamp`. */
function millisecondsText(at: Instant): string {
  const seconds = Math.floor(at / 1000);
  return seconds + threeDigits(at - seconds * 1000);
}

function sixDigits(value: number): string {
  const thousands = Math.floor(value / 1000);
  return threeDigits(thousands) + threeDigits(value - thousands * 1000);
}

function wordText(word = 0): string {
  const thousands = Math.floor(word / 1000);
  return thousands === 0 ? String(word) : thousands + threeDigits(word - thousands * 1000);
}
