/** How numbers are printed: thousands separated, every digit kept unless the name says otherwise. */
import { Decimal, decimal, roundDecimal } from '../core/decimal.ts';

const HUNDRED_CENTS = decimal('0.01');

/** `1234567.5` → `1,234,567.5`. All digits. */
export function formatExact(value: Decimal): string {
  const [integer = '0', fraction] = value.toString().split('.');
  const grouped = integer.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function formatCount(count: number): string {
  return formatExact(new Decimal(String(Math.round(count))));
}

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

/** `12.3 M`: three significant digits for the axis of a chart. */
export function formatShort(value: number): string {
  const units = [
    { size: 1e12, letter: ' T' },
    { size: 1e9, letter: ' G' },
    { size: 1e6, letter: ' M' },
    { size: 1e3, letter: ' k' },
  ];
  const unit = units.find(({ size }) => value >= size);
  if (unit === undefined) return String(Number(value.toPrecision(3)));
  return `${Number((value / unit.size).toPrecision(3))}${unit.letter}`;
}

/** `2.4 s`, `1 min 5 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
