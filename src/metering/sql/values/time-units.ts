/** Units of time in DATE_TRUNC, EXTRACT, DATE_DIFF and INTERVAL. Everything is UTC; weeks begin on Monday. */

export const INTERVAL_UNITS = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
] as const;
export type IntervalUnit = (typeof INTERVAL_UNITS)[number];

/** The maximum of an INTERVAL: no event is so old. */
const INTERVAL_YEARS_MAX = 100;
const PER_YEAR: Readonly<Record<IntervalUnit, number>> = {
  second: 31_536_000,
  minute: 525_600,
  hour: 8_760,
  day: 365,
  week: 52,
  month: 12,
  quarter: 4,
  year: 1,
};

/** The unit that a word names (`day`, `DAYS`), or null. */
export function intervalUnit(word: string): IntervalUnit | null {
  const name = word.toLowerCase().replace(/s$/, '');
  return INTERVAL_UNITS.find((unit) => unit === name) ?? null;
}

export function isIntervalTooLong(amount: number, unit: IntervalUnit): boolean {
  return Math.abs(amount) > INTERVAL_YEARS_MAX * PER_YEAR[unit];
}

/** `time` (DateTime64 in UTC) plus an interval. */
export function addIntervalSql(time: string, amount: number, unit: IntervalUnit): string {
  return `add${unit.charAt(0).toUpperCase()}${unit.slice(1)}s(${time}, ${amount})`;
}

/** Units with a fixed length, in milliseconds. */
const LENGTHS: Partial<Readonly<Record<IntervalUnit, number>>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
/** The first instant of 1970 was a Thursday. */
const WEEK_MS = 604_800_000;
const MONDAY_OFFSET_MS = 3 * 86_400_000;

/** The start of the unit that contains `time`. `time` may be repeated. */
export function truncatedSql(time: string, unit: IntervalUnit): string {
  const epoch = `toUnixTimestamp64Milli(${time})`;
  const instant = (milliseconds: string) => `fromUnixTimestamp64Milli(${milliseconds}, 'UTC')`;
  const length = LENGTHS[unit];
  if (length !== undefined) return instant(`${epoch} - positiveModulo(${epoch}, ${length})`);
  if (unit === 'week') {
    return instant(`${epoch} - positiveModulo(${epoch} + ${MONDAY_OFFSET_MS}, ${WEEK_MS})`);
  }
  const months: Partial<Record<IntervalUnit, string>> = {
    month: `toMonth(${time})`,
    quarter: `toQuarter(${time}) * 3 - 2`,
  };
  const month = months[unit] ?? '1';
  return `toDateTime64(makeDate32(toYear(${time}), ${month}, 1), 3, 'UTC')`;
}

/** Parts of a time for EXTRACT → the function of ClickHouse. */
export const TIME_PARTS: Readonly<Record<string, string>> = {
  second: 'toSecond',
  minute: 'toMinute',
  hour: 'toHour',
  day: 'toDayOfMonth',
  dow: 'toDayOfWeek',
  isodow: 'toDayOfWeek',
  doy: 'toDayOfYear',
  week: 'toISOWeek',
  month: 'toMonth',
  quarter: 'toQuarter',
  year: 'toYear',
};

/** The part of a time as an integer; `dow` counts from Sunday = 0, `isodow` from Monday = 1. */
export function timePartSql(time: string, part: string): string | null {
  const name = TIME_PARTS[part];
  if (part === 'epoch') return `toDecimal256(intDiv(toUnixTimestamp64Milli(${time}), 1000), 30)`;
  if (name === undefined || !Object.hasOwn(TIME_PARTS, part)) return null;
  const value = part === 'dow' ? `modulo(${name}(${time}), 7)` : `${name}(${time})`;
  return `toDecimal256(${value}, 30)`;
}

/** The time of the query, by the clock of the service. */
export const NOW_SQL = "fromUnixTimestamp64Milli({s_now:Int64}, 'UTC')";

/** The local time in a zone at `time`, as a time in UTC. `time` may be repeated. */
export function inZoneSql(time: string, zone: string): string {
  return `addSeconds(${time}, timeZoneOffset(toTimeZone(${time}, ${zone})))`;
}

/** The instant at which clocks in a zone show `time`: the inverse of `inZoneSql`. */
export function ofZoneSql(time: string, zone: string): string {
  return `toTimeZone(toDateTime64(toString(${time}), 3, ${zone}), 'UTC')`;
}

/** A time zone by its name in the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    return (
      /^[A-Za-z0-9_+\-/]{1,60}$/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null
    );
  } catch {
    return false;
  }
}
