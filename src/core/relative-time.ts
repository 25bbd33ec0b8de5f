/**
 * Points in time relative to another one, as used by packages (docs/explanation/packages.md, "Relative dates"). Pure.
 */
import { z } from 'zod';
import { addMonths, DAY_MS, type Instant } from './time.ts';

export const RELATIVE_UNITS = ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'] as const;
export type RelativeUnit = (typeof RELATIVE_UNITS)[number];

/** `value` is a whole number that is not negative. */
export const relativeDate = z.object({ unit: z.enum(RELATIVE_UNITS), value: z.int().min(0) }).readonly();
export type RelativeDate = z.output<typeof relativeDate>;

/**
 * `date` after `from`. A day is 24 hours, a week 7 days. Months and years are calendar steps that keep the time of day;
 * a day that the month does not have becomes its last one (31 January + 1 month = 28 February).
 */
export function addRelative(from: Instant, { unit, value }: RelativeDate): Instant {
  switch (unit) {
    case 'DAYS':
      return from + value * DAY_MS;
    case 'WEEKS':
      return from + value * 7 * DAY_MS;
    case 'MONTHS':
      return addMonths(from, value);
    case 'YEARS':
      return addMonths(from, 12 * value);
  }
}
