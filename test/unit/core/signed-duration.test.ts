import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDuration, parseSignedDuration, signOf } from '../../../src/core/signed-duration.ts';
import { addMonths, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts';

describe('a signed ISO 8601 duration', () => {
  it.each([
    ['P1D', 0, DAY_MS],
    ['+P1D', 0, DAY_MS],
    ['-P7D', 0, -7 * DAY_MS],
    ['-PT2H', 0, -2 * HOUR_MS],
    ['P2W', 0, 14 * DAY_MS],
    ['-P1M', -1, 0],
    ['P1Y2M3DT4H5M6S', 14, 3 * DAY_MS + 4 * HOUR_MS + 5 * MINUTE_MS + 6 * SECOND_MS],
    ['PT0S', 0, 0],
    ['-PT0S', 0, 0],
  ])('a signed ISO 8601 duration is read: %s', (text, months, milliseconds) => {
    expect(parseSignedDuration(text)).toEqual({ months, milliseconds });
  });

  it.each([
    '',
    'P',
    '-P',
    'PT',
    'P1DT',
    '1D',
    'P-7D',
    'P1.5D',
    'P1D1M',
    'PT1D',
    'p1d',
    'P1D ',
    'P1H',
    '--P1D',
  ])('a signed ISO 8601 duration is not %s', (text) => {
    expect(parseSignedDuration(text)).toBeNull();
  });

  it('a signed ISO 8601 duration is ten years at most', () => {
    expect(parseSignedDuration('-P10Y')).toEqual({ months: -120, milliseconds: 0 });
    expect(parseSignedDuration('P121M')).toBeNull();
    expect(parseSignedDuration('P3660D')).toEqual({ months: 0, milliseconds: 3_660 * DAY_MS });
    expect(parseSignedDuration('P3660DT1S')).toBeNull();
  });

  it('a signed ISO 8601 duration moves an instant by months that are clamped first, then by the rest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2100, 0, 1) }),
        fc.integer({ min: 0, max: 120 }),
        fc.integer({ min: 0, max: 3_660 }),
        fc.constantFrom('', '-'),
        (at, months, days, sign) => {
          const duration = parseSignedDuration(`${sign}P${months}M${days}D`);
          const factor = sign === '-' ? -1 : 1;
          if (duration === null) throw new Error('it is one');
          expect(addDuration(at, duration)).toBe(addMonths(at, factor * months) + factor * days * DAY_MS);
          expect(signOf(duration)).toBe(months + days === 0 ? 0 : factor);
        },
      ),
    );
  });
});
