/** Formats amounts, quantities and dates for documents that people read. */
import type { CreditType } from './credit-types.ts';
import { type Currency, currencyOf, inMajorUnits } from './currencies.ts';
import { Decimal, roundDecimal, ZERO } from './decimal.ts';
import { DAY_MS, formatInstant, type Instant, type Interval } from './time.ts';

/** `-1234567.5` as `-1,234,567.50` with two places; further digits are all shown. */
export function printedNumber(value: Decimal, placesMin = 0): string {
  const exact = value.toFixed();
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(exact) ?? [];
  const places = fraction.padEnd(placesMin, '0');
  const grouped = integer.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return `${sign}${grouped}${places === '' ? '' : `.${places}`}`;
}

/** An amount in major units of its currency, such as dollars, or in a custom unit with its name. */
export function printedAmount(value: Decimal, unit: CreditType): string {
  const currency = currencyOf(unit.id);
  if (currency === null) return `${printedNumber(value)} ${unit.name}`;
  return printedNumber(inMajorUnits(value, currency), currency.minorUnitPlaces);
}

/** Maximum decimals of a line's amount unless `INVOICE_DECIMALS` is set. */
const LINE_DECIMALS_MAX = 4;

/**
 * The amount of a line in major units, with as many decimals as its unit price has, at least those of the minor unit
 * and at most `placesMax`: rounded half away from zero, for display only. Sums are of the exact amounts.
 */
export function printedLineAmount(
  value: Decimal,
  unitPrice: Decimal,
  unit: CreditType,
  placesMax = LINE_DECIMALS_MAX,
): string {
  const currency = currencyOf(unit.id);
  if (currency === null) return `${printedQuantity(value)} ${unit.name}`;
  const needed = Math.max(currency.minorUnitPlaces, placesOf(inMajorUnits(unitPrice, currency)));
  const places = Math.max(currency.minorUnitPlaces, Math.min(needed, placesMax));
  const shown = roundDecimal(inMajorUnits(value, currency), 'ROUND_HALF_UP', places);
  return printedNumber(shown, currency.minorUnitPlaces);
}

/** The number of decimals of a number. */
function placesOf(value: Decimal): number {
  return value.toFixed().split('.')[1]?.length ?? 0;
}

/** The smallest amount of the currency that can be paid, such as `0.01`. */
export function printedMinorUnit({ minorUnitPlaces }: Pick<Currency, 'minorUnitPlaces'>): string {
  return new Decimal(`1e-${minorUnitPlaces}`).toFixed();
}

/** Documents show at most this many decimals of a quantity; exports have all of them. */
const QUANTITY_DECIMALS_MAX = 4;

/**
 * A quantity with at most four decimals, rounded half away from zero for display only; `< 0.0001` if all of them would
 * be zeros.
 */
export function printedQuantity(value: Decimal): string {
  const shown = roundedQuantity(value);
  if (value.eq(ZERO) || !shown.eq(ZERO)) return printedNumber(shown);
  const least = new Decimal(`1e-${QUANTITY_DECIMALS_MAX}`).toFixed();
  return value.gt(ZERO) ? `< ${least}` : `> -${least}`;
}

/** The quantity as shown in documents. */
export function roundedQuantity(value: Decimal): Decimal {
  return roundDecimal(value, 'ROUND_HALF_UP', QUANTITY_DECIMALS_MAX);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day in UTC, formatted as in the console: `2 Dec 2026`. */
export function printedDate(at: Instant): string {
  return `${dayAndMonth(at)} ${new Date(at).getUTCFullYear()}`;
}

function dayAndMonth(at: Instant): string {
  const date = new Date(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** First and last day of an interval of whole days in UTC, `1 Nov – 30 Nov 2026`; other intervals with the minute. */
export function printedTime({ start, end }: Interval): string {
  if (start % DAY_MS !== 0 || end % DAY_MS !== 0) return `${minute(start)} – ${minute(end)} UTC`;
  const lastAt = end - DAY_MS;
  const [first, last] = [printedDate(start), printedDate(lastAt)];
  if (first === last) return last;
  const isOneYear = new Date(start).getUTCFullYear() === new Date(lastAt).getUTCFullYear();
  return `${isOneYear ? dayAndMonth(start) : first} – ${last}`;
}

function minute(at: Instant): string {
  return `${printedDate(at)}, ${formatInstant(at).slice(11, 16)}`;
}
