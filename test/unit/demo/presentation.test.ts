import { describe, expect, it } from 'vitest';
import { formatExact, formatSeconds } from '../../../src/app/commands/terminal/number-format.ts';
import { tableLines } from '../../../src/app/commands/terminal/text-table.ts';
import { decimal } from '../../../src/core/decimal.ts';
import { columnChartLines, formatShort } from '../../../src/demo/column-chart.ts';
import { formatDollarsExact, formatDollarsRounded } from '../../../src/demo/money-format.ts';

describe('numbers', () => {
  it('numbers keep every digit and get separators in front of the point only', () => {
    expect(formatExact(decimal('1234567.0001234'))).toBe('1,234,567.0001234');
    expect(formatExact(decimal('-1234'))).toBe('-1,234');
    expect(formatExact(decimal('999'))).toBe('999');
  });

  it('numbers show cents as dollars, exact with at least two places or rounded half-up', () => {
    expect(formatDollarsExact(decimal('123456.789'))).toBe('$1,234.56789');
    expect(formatDollarsExact(decimal('5'))).toBe('$0.05');
    expect(formatDollarsExact(decimal('-1250'))).toBe('-$12.50');
    expect(formatDollarsRounded(decimal('123456.5'))).toBe('$1,234.57');
  });

  it('numbers are short on axes and in words for time', () => {
    expect(formatShort(0)).toBe('0');
    expect(formatShort(12_345_678)).toBe('12.3 M');
    expect(formatShort(950)).toBe('950');
    expect(formatSeconds(2.34)).toBe('2.3 s');
    expect(formatSeconds(65)).toBe('1 min 5 s');
  });
});

describe('a chart', () => {
  it('a chart fills the highest column, shows the smallest and leaves nothing where there is nothing', () => {
    const lines = columnChartLines([100, 1, 0], ['a', '', 'c']);
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe('      100 ┤██');
    expect(lines[5]).toBe('        0 ┤██▁▁');
    expect(lines[7]?.trim()).toBe('a   c');
  });

  it('a chart of no usage at all is empty, not broken', () => {
    expect(columnChartLines([0, 0], ['a', 'b'])[0]).toBe('        0 ┤');
  });
});

describe('a table', () => {
  it('aligns its columns and sets the footer apart', () => {
    const lines = tableLines(
      [
        { title: 'Day', align: 'left' },
        { title: 'Tokens', align: 'right' },
      ],
      [['Mon', '5']],
      [['Sum', '5']],
    );
    expect(lines).toEqual([
      '  Day  Tokens',
      '  ───────────',
      '  Mon       5',
      '  ───────────',
      '  Sum       5',
    ]);
  });
});
