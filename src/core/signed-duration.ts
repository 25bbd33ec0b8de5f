/**
 * Signed ISO 8601 durations, such as `P1D` and `-PT2H`: a time after an instant, or before it with a minus. Years and
 * months are calendar steps, a day is 24 hours. Pure.
 */
import { addMonths, DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from './time.ts';

/** Both members have the sign of the duration. */
export interface SignedDuration {
  readonly months: number;
  readonly milliseconds: number;
}

export const AT_ONCE: SignedDuration = { months: 0, milliseconds: 0 };

/** Whole numbers of up to six digits. */
const ISO_DURATION =
  /^([+-])?P(?=.)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/;

const LONGEST_MONTHS = 120;
const LONGEST_REST_MS = 3_660 * DAY_MS;

/** Null if the text is not a duration, or exceeds 120 months of years and months or 3,660 days of the other units. */
export function parseSignedDuration(text: string): SignedDuration | null {
  const match = ISO_DURATION.exec(text);
  if (match === null) return null;
  const [, sign, ...parts] = match;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map(
    (part) => Number(part ?? 0),
  );
  const allMonths = 12 * years + months;
  const rest = (7 * weeks + days) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
  if (allMonths > LONGEST_MONTHS || rest > LONGEST_REST_MS) return null;
  // Avoids a negative zero.
  const signed = (value: number) => (sign === '-' && value !== 0 ? -value : value);
  return { months: signed(allMonths), milliseconds: signed(rest) };
}

/** The sign of the duration: negative, zero or positive. */
export function signOf({ months, milliseconds }: SignedDuration): number {
  return Math.sign(months + milliseconds);
}

/** Calendar months first (31 January and one month are 28 February), then the rest. */
export function addDuration(at: Instant, { months, milliseconds }: SignedDuration): Instant {
  return addMonths(at, months) + milliseconds;
}
