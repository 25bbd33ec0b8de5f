/**
 * Time in the whole service: instants in UTC, half-open intervals, the hour grid, calendar steps.
 *
 * An `Instant` is a whole number of milliseconds since the Unix epoch. Nothing here reads the clock.
 */

export type Instant = number;

/** `start` is inside, `end` is not. */
export interface Interval {
  readonly start: Instant;
  readonly end: Instant;
}

/** Like `Interval`; without an end if `end` is null. */
export interface OpenInterval {
  readonly start: Instant;
  readonly end: Instant | null;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** RFC 3339 does not limit the digits of a second; more than 30 are refused. */
const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,30}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses an RFC 3339 timestamp with a four-digit year and an explicit offset. Digits beyond the millisecond are cut.
 * Returns null if the text is not one, or names a day or time that does not exist, and for a leap second (`:60`), which
 * Unix time cannot represent.
 */
export function parseRfc3339(text: string): Instant | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, y, mo, d, h, mi, s, fraction, sign, oh, om] = match;
  const year = Number(y);
  const month = Number(mo);
  const day = Number(d);
  const hour = Number(h);
  const minute = Number(mi);
  const second = Number(s);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month - 1)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offsetHours = Number(oh ?? 0);
  const offsetMinutes = Number(om ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * HOUR_MS + offsetMinutes * MINUTE_MS) * (sign === '-' ? -1 : 1);
  const milliseconds = Number((fraction ?? '0').padEnd(3, '0').slice(0, 3));
  return utc(year, month - 1, day, hour, minute, second, milliseconds) - offsetMs;
}

/** `2026-11-20T00:00:00.000Z`. */
export function formatInstant(at: Instant): string {
  return new Date(at).toISOString();
}

/** `Date.UTC` without its special case that adds 1900 to years below 100. */
function utc(y: number, monthIndex: number, d: number, h = 0, mi = 0, s = 0, ms = 0): Instant {
  if (y >= 100) return Date.UTC(y, monthIndex, d, h, mi, s, ms);
  const date = new Date(0);
  date.setUTCFullYear(y, monthIndex, d);
  date.setUTCHours(h, mi, s, ms);
  return date.getTime();
}

function daysInMonth(year: number, monthIndex: number): number {
  return new Date(utc(year, monthIndex + 1, 0)).getUTCDate();
}

export function floorToHour(at: Instant): Instant {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

export function floorToDay(at: Instant): Instant {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

export function isHourAligned(at: Instant): boolean {
  return at % HOUR_MS === 0;
}

export function isDayAligned(at: Instant): boolean {
  return at % DAY_MS === 0;
}

/** First instant of the UTC month that contains `at`. */
export function floorToMonth(at: Instant): Instant {
  const date = new Date(at);
  return utc(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/**
 * Adds calendar months to `anchor`, keeping its day and time of day; the day is clamped to the length
 * of a short month. Always step from the same anchor (31 Jan + 1 = 28 Feb, 31 Jan + 2 = 31 Mar).
 */
export function addMonths(anchor: Instant, months: number): Instant {
  const date = new Date(anchor);
  const target = date.getUTCMonth() + months;
  const year = date.getUTCFullYear() + Math.floor(target / 12);
  const monthIndex = ((target % 12) + 12) % 12;
  const day = Math.min(date.getUTCDate(), daysInMonth(year, monthIndex));
  return utc(year, monthIndex, day) + (anchor - floorToDay(anchor));
}

export function contains(interval: OpenInterval, at: Instant): boolean {
  return interval.start <= at && (interval.end === null || at < interval.end);
}

/** The common part of two intervals, or null if they do not overlap. */
export function intersect(a: Interval, b: OpenInterval): Interval | null {
  const start = Math.max(a.start, b.start);
  const end = b.end === null ? a.end : Math.min(a.end, b.end);
  return start < end ? { start, end } : null;
}
