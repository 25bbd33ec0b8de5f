import { describe, expect, it } from 'vitest';
import { formatInstant, parseRfc3339 } from '../../../src/core/time.ts';

function read(text: string): string | null {
  const at = parseRfc3339(text);
  return at === null ? null : formatInstant(at);
}

describe('an RFC 3339 timestamp', () => {
  it.each([
    ['2026-11-10T05:00:00Z', '2026-11-10T05:00:00.000Z'],
    ['2026-11-10t05:00:00.5z', '2026-11-10T05:00:00.500Z'],
    ['2026-11-10T05:00:00.123456789123Z', '2026-11-10T05:00:00.123Z'],
    [`2026-11-10T05:00:00.${'9'.repeat(30)}Z`, '2026-11-10T05:00:00.999Z'],
    [`2026-11-10T05:00:00.${'0'.repeat(29)}1+05:30`, '2026-11-09T23:30:00.000Z'],
    ['2026-11-10T05:00:00-00:00', '2026-11-10T05:00:00.000Z'],
  ])('%s is read, and what is beyond the millisecond is cut', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    `2026-11-10T05:00:00.${'9'.repeat(31)}Z`,
    '2026-11-10T05:00:00.Z',
    '2026-11-10T05:00:00',
    '2026-11-10T23:59:60Z',
    '2026-11-10T24:00:00Z',
    '2026-02-29T00:00:00Z',
    '12026-11-10T05:00:00Z',
  ])('%s is none, leap seconds and more than 30 digits included', (text) => {
    expect(read(text)).toBeNull();
  });
});
