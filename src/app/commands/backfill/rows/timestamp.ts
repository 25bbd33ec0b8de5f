/** Converts the time formats of files to that of events: RFC 3339. */
import type { Value } from './value.ts';
import { nameOf } from './value.ts';

/** `utc`: without an offset, in UTC. The others count from 1970. */
export const TIME_FORMS = ['rfc3339', 'utc', 's', 'ms', 'us', 'ns'] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

const DECIMALS = { s: 0, ms: 3, us: 6, ns: 9 } as const;
const WITHOUT_OFFSET = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?$/i;

/**
 * A value that is not recognised as a time is returned unchanged, so that validation refuses it. Throws `TimeProblem`.
 */
export function timestampOf(value: Value, form: TimeForm): string | null {
  if (value === null) return null;
  if (form === 'rfc3339' || form === 'utc') {
    if (typeof value !== 'string')
      throw new TimeProblem('is a number; say with --timestamps s, ms, us or ns what it counts');
    const without = WITHOUT_OFFSET.exec(value);
    if (without === null) return value.replace(' ', 'T');
    if (form === 'rfc3339') throw new TimeProblem('has no offset; with --timestamps utc it is taken as UTC');
    const [, date = '', minutes = '00:00', seconds = ':00'] = without;
    return `${date}T${minutes}${seconds}Z`;
  }
  const text = typeof value === 'string' ? value : (nameOf(value) ?? String(value));
  const time = sinceEpoch(text, DECIMALS[form]);
  // Seconds in place of milliseconds give a time in 1970, which is never real usage.
  if (form !== 's' && time.startsWith('1970-')) {
    throw new TimeProblem('is in the year 1970; --timestamps may have the wrong unit');
  }
  return time;
}

export class TimeProblem extends Error {}

/** The time of a count of 10^-decimals seconds since 1970, exact to the nanosecond. */
export function sinceEpoch(text: string, decimals: number): string {
  const match = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text);
  if (match === null) throw new TimeProblem(`is not a number: ${JSON.stringify(text.slice(0, 60))}`);
  const [, sign = '', whole = '', part = ''] = match;
  // In whole nanoseconds; finer digits are cut, as in events.
  const shift = 9 - decimals;
  const digits = `${whole}${part.slice(0, shift).padEnd(shift, '0')}`;
  return textOfNanoseconds(BigInt(`${sign}${digits}`));
}

const NANOSECONDS_PER_MS = 1_000_000n;
/** Beyond these a `Date` has no year of four digits. */
const YEAR_0_MS = -62_167_219_200_000n;
const YEAR_10000_MS = 253_402_300_800_000n;

/** RFC 3339 with as many decimals as the time has, in threes. */
export function textOfNanoseconds(nanoseconds: bigint): string {
  const rest = ((nanoseconds % NANOSECONDS_PER_MS) + NANOSECONDS_PER_MS) % NANOSECONDS_PER_MS;
  const ms = (nanoseconds - rest) / NANOSECONDS_PER_MS;
  if (ms < YEAR_0_MS || ms >= YEAR_10000_MS) {
    throw new TimeProblem('is outside the years 0 to 9999; --timestamps may have the wrong unit');
  }
  const text = new Date(Number(ms)).toISOString();
  if (rest === 0n) return text;
  const finer = String(rest).padStart(6, '0');
  return `${text.slice(0, -1)}${finer.endsWith('000') ? finer.slice(0, 3) : finer}Z`;
}
