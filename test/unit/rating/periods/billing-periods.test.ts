import { describe, expect, test } from 'vitest';
import type { StatementSchedule } from '../../../../src/core/catalogue.ts';
import { formatInstant, type Instant, type Interval } from '../../../../src/core/time.ts';
import {
  firstPeriod,
  nextPeriod,
  type PeriodTerms,
  periodContaining,
  periodsOverlapping,
} from '../../../../src/rating/periods/billing-periods.ts';

function at(text: string): Instant {
  return Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}:00:00Z`);
}

function terms(schedule: Partial<StatementSchedule>, start: string, end: string | null = null): PeriodTerms {
  return {
    schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH', anchor: null, ...schedule },
    contract: { start: at(start), end: end === null ? null : at(end) },
  };
}

function show(period: Interval | null): string | null {
  if (period === null) return null;
  return `${formatInstant(period.start).slice(0, 13)} - ${formatInstant(period.end).slice(0, 13)}`;
}

function firstThree(of: PeriodTerms): (string | null)[] {
  const first = firstPeriod(of);
  const second = first && nextPeriod(of, first);
  const third = second && nextPeriod(of, second);
  return [first, second, third].map(show);
}

describe('the first periods of a contract', () => {
  const weekly = { frequency: 'WEEKLY' } as const;
  const quarterly = { frequency: 'QUARTERLY' } as const;
  const annual = { frequency: 'ANNUAL' } as const;
  const fromStart = { day: 'CONTRACT_START' } as const;
  const rows: [string, PeriodTerms, string[]][] = [
    [
      'monthly, first of month',
      terms({}, '2026-01-15T09'),
      ['2026-01-15T09 - 2026-02-01T00', '2026-02-01T00 - 2026-03-01T00', '2026-03-01T00 - 2026-04-01T00'],
    ],
    [
      'monthly, starting on a first',
      terms({}, '2026-01-01'),
      ['2026-01-01T00 - 2026-02-01T00', '2026-02-01T00 - 2026-03-01T00', '2026-03-01T00 - 2026-04-01T00'],
    ],
    [
      'monthly from the 31st at 10 o’clock: clamped to short months, back to the 31st after',
      terms(fromStart, '2026-01-31T10'),
      ['2026-01-31T10 - 2026-02-28T10', '2026-02-28T10 - 2026-03-31T10', '2026-03-31T10 - 2026-04-30T10'],
    ],
    [
      'monthly from an earlier anchor date',
      terms({ day: 'CUSTOM_DATE', anchor: at('2024-05-10T06') }, '2026-01-05'),
      ['2026-01-05T00 - 2026-01-10T06', '2026-01-10T06 - 2026-02-10T06', '2026-02-10T06 - 2026-03-10T06'],
    ],
    [
      'monthly from a later anchor date',
      terms({ day: 'CUSTOM_DATE', anchor: at('2026-12-31') }, '2026-02-01'),
      ['2026-02-01T00 - 2026-02-28T00', '2026-02-28T00 - 2026-03-31T00', '2026-03-31T00 - 2026-04-30T00'],
    ],
    [
      'quarterly: calendar quarters',
      terms(quarterly, '2026-02-10'),
      ['2026-02-10T00 - 2026-04-01T00', '2026-04-01T00 - 2026-07-01T00', '2026-07-01T00 - 2026-10-01T00'],
    ],
    [
      'quarterly from the contract start',
      terms({ ...quarterly, ...fromStart }, '2025-11-30'),
      ['2025-11-30T00 - 2026-02-28T00', '2026-02-28T00 - 2026-05-30T00', '2026-05-30T00 - 2026-08-30T00'],
    ],
    [
      'annual: from 1 January',
      terms(annual, '2026-06-15'),
      ['2026-06-15T00 - 2027-01-01T00', '2027-01-01T00 - 2028-01-01T00', '2028-01-01T00 - 2029-01-01T00'],
    ],
    [
      'annual from a leap day',
      terms({ ...annual, ...fromStart }, '2024-02-29'),
      ['2024-02-29T00 - 2025-02-28T00', '2025-02-28T00 - 2026-02-28T00', '2026-02-28T00 - 2027-02-28T00'],
    ],
    [
      'weekly, first of month: midnight of the starting weekday',
      terms(weekly, '2026-01-15T09'),
      ['2026-01-15T09 - 2026-01-22T00', '2026-01-22T00 - 2026-01-29T00', '2026-01-29T00 - 2026-02-05T00'],
    ],
    [
      'weekly from the contract start: with its hour',
      terms({ ...weekly, ...fromStart }, '2026-01-15T09'),
      ['2026-01-15T09 - 2026-01-22T09', '2026-01-22T09 - 2026-01-29T09', '2026-01-29T09 - 2026-02-05T09'],
    ],
  ];
  test.each(rows)('%s', (_, of, periods) => expect(firstThree(of)).toEqual(periods));
});

describe('the end of a contract', () => {
  const of = terms({}, '2026-01-15', '2026-02-10');

  test('cuts the last period, and none follows', () => {
    expect(firstThree(of)).toEqual(['2026-01-15T00 - 2026-02-01T00', '2026-02-01T00 - 2026-02-10T00', null]);
  });

  test('the end of a contract belongs to no period, nor does anything before the start', () => {
    expect(periodContaining(of, at('2026-02-10'))).toBeNull();
    expect(periodContaining(of, at('2026-01-15') - 1)).toBeNull();
    expect(show(periodContaining(of, at('2026-02-10') - 1))).toBe('2026-02-01T00 - 2026-02-10T00');
  });
});

describe('periodsOverlapping', () => {
  const of = terms({}, '2026-01-15', '2026-04-10');

  test('periodsOverlapping gives whole periods that meet the range', () => {
    const range = { start: at('2026-02-28'), end: at('2026-03-02') };
    expect(periodsOverlapping(of, range).map(show)).toEqual([
      '2026-02-01T00 - 2026-03-01T00',
      '2026-03-01T00 - 2026-04-01T00',
    ]);
  });

  test('a range that ends where a period starts does not meet it', () => {
    const range = { start: at('2026-02-01'), end: at('2026-03-01') };
    expect(periodsOverlapping(of, range).map(show)).toEqual(['2026-02-01T00 - 2026-03-01T00']);
  });

  test('periodsOverlapping gives nothing outside the contract', () => {
    expect(periodsOverlapping(of, { start: at('2025-01-01'), end: at('2026-01-15') })).toEqual([]);
  });

  test('periodsOverlapping refuses a range of more periods than anyone can mean', () => {
    const weekly = terms({ frequency: 'WEEKLY' }, '1900-01-01');
    expect(() => periodsOverlapping(weekly, { start: at('1900-01-01'), end: at('2100-01-01') })).toThrow(
      /10436 billing periods/,
    );
  });
});
