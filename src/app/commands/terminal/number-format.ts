/** How commands print numbers and times: with thousands separators, every digit kept. */
import { Decimal } from '../../../core/decimal.ts';

/** `1234567.5` → `1,234,567.5`. All digits. */
export function formatExact(value: Decimal): string {
  const [integer = '0', fraction] = value.toString().split('.');
  const grouped = integer.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function formatCount(count: number): string {
  return formatExact(new Decimal(String(Math.round(count))));
}

/** `2.4 s`, `1 min 5 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
