import { describe, expect, test } from 'vitest';
import { instantFromPostgres, microsecondsFromPostgres } from '../../../src/store/base/columns.ts';

describe('reading a timestamp as PostgreSQL prints it', () => {
  test.each([
    ['2026-11-20 00:00:00+00', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20 12:34:56.7+00', '2026-11-20T12:34:56.700Z'],
    ['2026-11-20 12:34:56.789+00', '2026-11-20T12:34:56.789Z'],
    ['0900-02-28 00:00:00+00', '0900-02-28T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(new Date(instantFromPostgres(text)).toISOString()).toBe(iso);
  });

  test.each([
    'infinity',
    '-infinity',
    '2026-11-20',
    '2026-11-20 00:00:00',
    '2026-11-20 00:30:00-01',
    '12026-11-20 00:00:00+00',
    '0044-03-15 00:00:00+00 BC',
  ])('%s is refused', (text) => {
    expect(() => instantFromPostgres(text)).toThrow('not a timestamp');
  });
});

test.each([
  ['2026-11-20 00:00:00+00', '1795132800000000'],
  ['2026-11-20 00:00:00.5+00', '1795132800500000'],
  ['2026-11-20 00:00:00.000071+00', '1795132800000071'],
])('microseconds of %s are %s', (text, micros) => {
  expect(microsecondsFromPostgres(text)).toBe(micros);
});
