/** Amounts, quantities and dates as documents for people show them. Nothing is rounded. */
import type { CreditType } from './credit-types.ts';
import { type Currency, currencyOf, inMajorUnits } from './currencies.ts';
import { Decimal, roundDecimal } from './decimal.ts';
import { DAY_MS, formatInstant, type Instant, type Interval } from './time.ts';

/** `-1234567.5` as `-1,234,567.50` with two places; more digits are all shown. */
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

/** Decimals of a line's amount where `INVOICE_DECIMALS` says nothing else. */
const LINE_DECIMALS_MAX = 4;

/**
 * The amount of a line in major units, with as many decimals as its unit price has, at least those of the minor unit and
 * at most `placesMax`: rounded half away from zero, for reading alone. Sums are of the exact amounts.
 */
export function printedLineAmount(
  value: Decimal,
  unitPrice: Decimal,
  unit: CreditType,
  placesMax = LINE_DECIMALS_MAX,
): string {
  const currency = currencyOf(unit.id);
  if (currency === null) return printedAmount(value, unit);
  const needed = Math.max(currency.minorUnitPlaces, placesOf(inMajorUnits(unitPrice, currency)));
  const places = Math.max(currency.minorUnitPlaces, Math.min(needed, placesMax));
  const shown = roundDecimal(inMajorUnits(value, currency), 'ROUND_HALF_UP', places);
  return printedNumber(shown, currency.minorUnitPlaces);
}

/** How many decimals a number has. */
function placesOf(value: Decimal): number {
  return value.toFixed().split('.')[1]?.length ?? 0;
}

/** The smallest amount of the currency that can be paid, such as `0.01`. */
export function printedMinorUnit({ minorUnitPlaces }: Pick<Currency, 'minorUnitPlaces'>): string {
  return new Decimal(`1e-${minorUnitPlaces}`).toFixed();
}

/** The day in UTC. */
export function printedDate(at: Instant): string {
  return formatInstant(at).slice(0, 10);
}

/** First and last day of a time of whole days in UTC; other times with the minute. */
export function printedTime({ start, end }: Interval): string {
  if (start % DAY_MS === 0 && end % DAY_MS === 0) {
    const last = printedDate(end - DAY_MS);
    return printedDate(start) === last ? last : `${printedDate(start)} to ${last}`;
  }
  return `${minute(start)} to ${minute(end)} UTC`;
}

function minute(at: Instant): string {
  return formatInstant(at).slice(0, 16).replace('T', ' ');
}
