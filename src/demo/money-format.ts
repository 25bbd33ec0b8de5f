/** Amounts as the demo prints them: in dollars, every digit kept unless the name says otherwise. */
import { formatExact } from '../app/commands/terminal/number-format.ts';
import { type Decimal, decimal, roundDecimal } from '../core/decimal.ts';

const HUNDRED_CENTS = decimal('0.01');

/** An amount in cents as dollars with every digit, at least two of them after the point: `$12.30`. */
export function formatDollarsExact(cents: Decimal): string {
  const text = formatExact(cents.times(HUNDRED_CENTS));
  const [integer = '0', fraction = ''] = text.split('.');
  const digits = `${integer}.${fraction.padEnd(2, '0')}`;
  return digits.startsWith('-') ? `-$${digits.slice(1)}` : `$${digits}`;
}

/** An amount in cents as dollars, rounded half-up to whole cents: for reading, never for comparing. */
export function formatDollarsRounded(cents: Decimal): string {
  return formatDollarsExact(roundDecimal(cents, 'ROUND_HALF_UP', 0));
}
