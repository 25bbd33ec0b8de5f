import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InvoiceType } from '../../../src/core/invoice.ts';
import { formatMonth, isInTime, monthOfInvoice, parseMonth } from '../../../src/core/invoice-month.ts';
import { addMonths, formatInstant } from '../../../src/core/time.ts';
import { naiveMonth } from '../../support/naive/months.ts';

const at = (text: string) => Date.parse(text);

test.each<[string, InvoiceType, string, string, string, string]>([
  ['a calendar month', 'USAGE', '2026-11-01', '2026-12-01', '2026-12-02', '2026-11'],
  ['a month from the 15th', 'USAGE', '2026-10-15', '2026-11-15', '2026-11-16', '2026-11'],
  ['a quarter', 'USAGE', '2026-10-01', '2027-01-01', '2027-01-02', '2026-12'],
  ['a year', 'USAGE', '2026-01-01', '2027-01-01', '2027-01-02', '2026-12'],
  ['a week across the first', 'USAGE', '2026-11-28', '2026-12-05', '2026-12-06', '2026-12'],
  ['an hour after the first', 'USAGE', '2026-11-28', '2026-12-01T01:00:00Z', '2026-12-02', '2026-12'],
  ['several contracts', 'USAGE_CONSOLIDATED', '2026-11-01', '2026-12-01', '2026-12-03', '2026-11'],
  ['a charge on the first', 'SCHEDULED', '2026-12-01', '2026-12-01', '2026-12-01', '2026-12'],
  ['a charge that was moved', 'SCHEDULED', '2026-11-20', '2026-11-20', '2026-12-05', '2026-12'],
])('an invoice of %s is in one month', (_name, type, start, end, issued, month) => {
  const times = { type, period: { start: at(start), end: at(end) }, issuedAt: at(issued) };
  expect(formatMonth(monthOfInvoice(times))).toBe(month);
});

const MINUTES_MAX = 60 * 24 * 365 * 4;
/** Around midnight of the first as often as anywhere else. */
const instants = fc.oneof(
  fc.nat({ max: MINUTES_MAX }).map((minutes) => at('2025-01-01') + minutes * 60_000),
  fc
    .tuple(fc.nat({ max: 47 }), fc.integer({ min: -1, max: 1 }))
    .map(([months, off]) => addMonths(at('2025-01-01'), months) + off),
);
const times = fc
  .tuple(
    fc.constantFrom<InvoiceType>('USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED'),
    instants,
    instants,
    instants,
  )
  .map(([type, one, other, issuedAt]) => {
    const [start, end] = [Math.min(one, other), Math.max(one, other)];
    if (type === 'SCHEDULED') return { type, period: { start, end: start }, issuedAt };
    return { type, period: { start, end: Math.max(end, start + 1) }, issuedAt };
  });

test('an invoice of any times passes the filter of exactly one month, that of the naive engine', () => {
  const months = Array.from({ length: 61 }, (_, index) => addMonths(at('2024-12-01'), index));
  fc.assert(
    fc.property(times, (each) => {
      const found = months.filter((month) => isInTime(each, { month }));
      const dated = {
        issued_at: formatInstant(each.issuedAt),
        ...(each.type === 'SCHEDULED' ? {} : { end_timestamp: formatInstant(each.period.end) }),
      };
      expect(found.map(formatMonth)).toEqual([naiveMonth(dated)]);
    }),
  );
});

test('a scheduled invoice passes the filter of exactly one of two times that follow each other', () => {
  fc.assert(
    fc.property(times, instants, (each, border) => {
      const [before, after] = [
        isInTime(each, { endingBefore: border }),
        isInTime(each, { startingOn: border }),
      ];
      if (each.type === 'SCHEDULED') expect(before).toBe(!after);
      else expect(before && after).toBe(false);
    }),
  );
});

describe('a month', () => {
  test('a month is read as it is written', () => {
    expect(formatMonth(parseMonth('2026-11') ?? 0)).toBe('2026-11');
  });
  test.each(['2026-13', '2026-00', '2026-1', '2026', '2026-11-01', '26-11', ''])(
    'a month is not "%s"',
    (text) => {
      expect(parseMonth(text)).toBeNull();
    },
  );
});
