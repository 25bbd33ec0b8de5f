/** Patterns of invoice numbers: what they make, and which are refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invoiceNumber, numberPatternProblem, numberYear } from '../../../src/core/invoice-number.ts';

describe('the number of an invoice', () => {
  test.each([
    ['INV-{year}-{number:6}', 2026, 1, 'INV-2026-000001'],
    ['INV-{year}-{number:6}', 2026, 999_999, 'INV-2026-999999'],
    // Nothing is cut where the padding is too short.
    ['INV-{year}-{number:6}', 2026, 1_000_000, 'INV-2026-1000000'],
    ['{year}{number}', 2026, 12, '202612'],
    ['{number:3}/{year}', 2026, 7, '007/2026'],
    ['A.{number} {year}', 2026, 7, 'A.7 2026'],
    ['#{year}-{number:1}', 2027, 10, '#2027-10'],
  ])('%s in %i at %i is %s', (pattern, year, position, expected) => {
    expect(invoiceNumber(pattern, { year, position })).toBe(expected);
  });

  test('the number of an invoice is different for every two positions of an accepted pattern', () => {
    const literal = fc.stringMatching(/^[A-Za-z0-9./_-]{0,4}$/);
    const number = fc.constantFrom('{number}', '{number:1}', '{number:6}');
    const patterns = fc
      .tuple(literal, literal, literal, number, fc.boolean())
      .map(([a, b, c, n, yearFirst]) => (yearFirst ? `${a}{year}${b}${n}${c}` : `${a}${n}${b}{year}${c}`))
      .filter((pattern) => numberPatternProblem(pattern) === null);
    const position = fc.record({
      year: fc.integer({ min: 1990, max: 2100 }),
      position: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3_000_000 })),
    });
    fc.assert(
      fc.property(patterns, position, position, (pattern, a, b) => {
        const isSame = a.year === b.year && a.position === b.position;
        expect(invoiceNumber(pattern, a) === invoiceNumber(pattern, b)).toBe(isSame);
      }),
    );
  });

  test('the number of an invoice belongs to the year of the issue date in UTC', () => {
    expect(numberYear(Date.parse('2026-12-31T23:59:59.999Z'))).toBe(2026);
    expect(numberYear(Date.parse('2027-01-01T00:00:00Z'))).toBe(2027);
  });
});

describe('a pattern', () => {
  test.each(['INV-{year}-{number:6}', '{year}{number}', '{number:12}/{year}', 'RE {year} {number}'])(
    '%s is accepted',
    (pattern) => expect(numberPatternProblem(pattern)).toBeNull(),
  );

  test.each([
    ['INV', /\{year\} once/],
    ['INV-{year}', /\{number\} once/],
    ['INV-{number:6}', /\{year\} once/],
    ['{year}-{number}-{number}', /\{number\} once/],
    ['{year}{year}{number}', /\{year\} once/],
    ['{year:4}-{number}', /four/],
    ['{year}-{number:0}', /1 to 12/],
    ['{year}-{number:13}', /1 to 12/],
    ['{year}-{number:x}', /\{number\} once/],
    ['{year}-{number}-{month}', /only letters/],
    ['{year}-{number}"', /only letters/],
    ['={year}-{number}', /start with/],
    ['-{year}-{number}', /start with/],
    ['{year}\n{number}', /only letters/],
    [`${'A'.repeat(40)}{year}{number}`, /40 characters/],
  ])('%s is refused', (pattern, problem) => expect(numberPatternProblem(pattern)).toMatch(problem));
});
