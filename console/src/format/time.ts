/** Instants for people: always in UTC, which is stated with every time of day. */
import { spoken } from './language.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const LONG_MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;

const SHORT_DAY = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;

/** Without the year: `26 Nov` */
export function shortDayText(instant: string): string {
  const at = new Date(instant);
  const { locale } = spoken();
  if (locale !== 'en-US') return at.toLocaleDateString(locale, SHORT_DAY);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** `26 Nov 2026` */
export function dayText(instant: string): string {
  const at = new Date(instant);
  const { locale } = spoken();
  if (locale !== 'en-US') return at.toLocaleDateString(locale, { ...SHORT_DAY, year: 'numeric' });
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** `26 Nov 2026, 14:17 UTC` */
export function timeText(instant: string): string {
  const at = new Date(instant);
  return `${dayText(instant)}, ${two(at.getUTCHours())}:${two(at.getUTCMinutes())} UTC`;
}

/** The last day of a half-open interval: `30 Nov 2026` for one that ends on 1 December at midnight. */
export function lastDayText(endingBefore: string): string {
  return dayText(new Date(Date.parse(endingBefore) - 1).toISOString());
}

/** `1 Nov – 30 Nov 2026`: both days are included. */
export function periodText(startingAt: string, endingBefore: string): string {
  const [start, end] = [dayText(startingAt), lastDayText(endingBefore)];
  if (start === end) return start;
  if (spoken().locale !== 'en-US') return `${start} – ${end}`;
  return start.slice(-4) === end.slice(-4) ? `${start.slice(0, -5)} – ${end}` : `${start} – ${end}`;
}

/** `3 s ago`, `12 min ago`, `5 h ago`, `3 days ago` */
export function agoText(instant: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(instant)) / SECOND_MS));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** A month as in addresses: `2026-11`. */
export function monthOf(instant: string | number): string {
  return new Date(instant).toISOString().slice(0, 7);
}

/** `November 2026` */
export function monthText(month: string): string {
  return `${LONG_MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

export function isMonth(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);
}

/** The month this many months later, or earlier if the number is negative. */
export function monthAfter(month: string, months: number): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() + months);
  return at.toISOString().slice(0, 7);
}

/**
 * The month of an invoice, as in the API's filter `month`: the month in which its billing period ends, where an end at
 * midnight of the first belongs to the month before; without a period, the month of its issue.
 */
export function monthOfInvoice(invoice: {
  readonly end_timestamp?: string | undefined;
  readonly issued_at: string;
}): string {
  const { end_timestamp: end, issued_at: issued } = invoice;
  return monthOf(end === undefined ? issued : Date.parse(end) - 1);
}

interface Interval {
  readonly starting_on: string;
  readonly ending_before: string;
}

/** The half-open interval of a month. */
export function intervalOf(month: string): Interval {
  return {
    starting_on: `${month}-01T00:00:00.000Z`,
    ending_before: `${monthAfter(month, 1)}-01T00:00:00.000Z`,
  };
}

/** Midnights in UTC from the first to before the end. */
export function daysOf({ starting_on, ending_before }: Interval): string[] {
  const days: string[] = [];
  const end = Date.parse(ending_before);
  for (let at = Math.floor(Date.parse(starting_on) / DAY_MS) * DAY_MS; at < end; at += DAY_MS) {
    days.push(new Date(at).toISOString());
  }
  return days;
}
