/**
 * The column types for money, quantities and time. Drizzle's own types for them return strings or floats; these return
 * the values of core/.
 */
import { customType } from 'drizzle-orm/pg-core';
import { type Decimal, decimal } from '../../core/decimal.ts';
import { formatInstant, type Instant, SECOND_MS } from '../../core/time.ts';

/** A point in time with millisecond precision. */
export const instant = customType<{ data: Instant; driverData: string }>({
  dataType: () => 'timestamp(3) with time zone',
  toDriver: formatInstant,
  fromDriver: instantFromPostgres,
});

/** A point in time of ClickHouse: epoch microseconds as text, since they exceed a number's digits. */
export const microsecond = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp(6) with time zone',
  toDriver: (micros) => {
    const fraction = micros.slice(-6).padStart(6, '0');
    return `${formatInstant(Number(micros.slice(0, -6)) * SECOND_MS).slice(0, -4)}${fraction}Z`;
  },
  fromDriver: microsecondsFromPostgres,
});

/** There may be six digits after the seconds. */
const FRACTION = /(?:\.(\d{1,6}))?\+00$/;

/** Parses the text of a timestamp in Postgres to epoch microseconds: `2026-11-20 00:00:00.000071+00`. */
export function microsecondsFromPostgres(text: string): string {
  const seconds = instantFromPostgres(text.replace(FRACTION, '+00')) / SECOND_MS;
  return `${seconds}${(FRACTION.exec(text)?.[1] ?? '').padEnd(6, '0')}`;
}

/** A decimal of any size and scale; every digit is preserved. */
export const exact = customType<{ data: Decimal; driverData: string }>({
  dataType: () => 'numeric',
  toDriver: (value) => value.toFixed(),
  fromDriver: decimal,
});

/** The connection's time zone is UTC (database.ts), so the offset is always that of UTC. */
const POSTGRES_TIMESTAMP = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)\+00$/;

/** Parses the text of a timestamp in Postgres: `2026-11-20 00:00:00.5+00`. Throws for infinity. */
export function instantFromPostgres(text: string): Instant {
  const [, day, time] = POSTGRES_TIMESTAMP.exec(text) ?? [];
  // One invoice reads many rows of terms, and the JavaScript engine's parser is several times as fast as ours.
  const at = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(at)) throw new Error(`not a timestamp: ${text}`);
  return at;
}
