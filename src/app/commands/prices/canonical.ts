/** One text for all ways of writing the same terms. Pure. */
import { JsonNumber } from '../../../api/base/json.ts';
import { Decimal } from '../../../core/decimal.ts';

/**
 * Equal for terms that mean the same: numbers by value, members in any order, without members that are null or empty,
 * and without those that state a default.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(canonical(value)) ?? 'null';
}

function canonical(value: unknown): unknown {
  if (typeof value === 'number' || value instanceof JsonNumber) return new Decimal(String(value)).toString();
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value)
    .filter(([name, member]) => !isEmpty(member) && !(name === 'tiers_mode' && member === 'graduated'))
    .map(([name, member]) => [name, canonical(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && !(value instanceof JsonNumber) && Object.keys(value).length === 0;
}
