import { describe, expect, test } from 'vitest';
import { addRelative, type RelativeUnit } from '../../../src/core/relative-time.ts';
import { formatInstant, parseRfc3339 } from '../../../src/core/time.ts';

function added(from: string, value: number, unit: RelativeUnit): string {
  const at = parseRfc3339(from);
  if (at === null) throw new Error(`not a timestamp: ${from}`);
  return formatInstant(addRelative(at, { unit, value }));
}

describe('a relative date', () => {
  test.each<[string, number, RelativeUnit, string]>([
    ['2026-01-31T07:00:00Z', 0, 'DAYS', '2026-01-31T07:00:00.000Z'],
    ['2026-01-31T07:00:00Z', 1, 'DAYS', '2026-02-01T07:00:00.000Z'],
    ['2026-02-28T23:00:00Z', 1, 'DAYS', '2026-03-01T23:00:00.000Z'],
    ['2024-02-28T23:00:00Z', 1, 'DAYS', '2024-02-29T23:00:00.000Z'],
    ['2026-03-28T01:30:00Z', 2, 'WEEKS', '2026-04-11T01:30:00.000Z'],
    ['2026-01-31T07:00:00Z', 1, 'MONTHS', '2026-02-28T07:00:00.000Z'],
    ['2024-01-31T07:00:00Z', 1, 'MONTHS', '2024-02-29T07:00:00.000Z'],
    ['2026-01-31T07:00:00Z', 2, 'MONTHS', '2026-03-31T07:00:00.000Z'],
    ['2026-01-31T07:00:00Z', 3, 'MONTHS', '2026-04-30T07:00:00.000Z'],
    ['2026-11-30T00:00:00Z', 3, 'MONTHS', '2027-02-28T00:00:00.000Z'],
    ['2026-12-15T12:00:00Z', 13, 'MONTHS', '2028-01-15T12:00:00.000Z'],
    ['2024-02-29T05:00:00Z', 1, 'YEARS', '2025-02-28T05:00:00.000Z'],
    ['2024-02-29T05:00:00Z', 4, 'YEARS', '2028-02-29T05:00:00.000Z'],
    ['2096-02-29T00:00:00Z', 4, 'YEARS', '2100-02-28T00:00:00.000Z'],
  ])('%s + %i %s = %s', (from, value, unit, expected) => {
    expect(added(from, value, unit)).toBe(expected);
  });

  test('a relative date keeps the hour over the changes of daylight saving anywhere', () => {
    expect(added('2026-03-01T01:30:00Z', 1, 'MONTHS')).toBe('2026-04-01T01:30:00.000Z');
    expect(added('2026-10-20T01:30:00Z', 1, 'WEEKS')).toBe('2026-10-27T01:30:00.000Z');
  });
});
