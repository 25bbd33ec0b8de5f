import { describe, expect, it } from 'vitest';
import { decimal } from '../../../src/core/decimal.ts';
import { columnChartLines } from '../../../src/demo/column-chart.ts';
import {
  formatDollarsExact,
  formatDollarsRounded,
  formatExact,
  formatSeconds,
  formatShort,
} from '../../../src/demo/number-format.ts';
import { createProgress } from '../../../src/demo/progress.ts';
import { createTerminal } from '../../../src/demo/terminal.ts';
import { tableLines } from '../../../src/demo/text-table.ts';

function recordingTerminal(isTTY: boolean) {
  let written = '';
  const output = {
    isTTY,
    write: (text: string) => {
      written += text;
    },
  };
  return { terminal: createTerminal(output), written: () => written };
}

describe('numbers', () => {
  it('keep every digit and get separators in front of the point only', () => {
    expect(formatExact(decimal('1234567.0001234'))).toBe('1,234,567.0001234');
    expect(formatExact(decimal('-1234'))).toBe('-1,234');
    expect(formatExact(decimal('999'))).toBe('999');
  });

  it('show cents as dollars, exact with at least two places or rounded half-up', () => {
    expect(formatDollarsExact(decimal('123456.789'))).toBe('$1,234.56789');
    expect(formatDollarsExact(decimal('5'))).toBe('$0.05');
    expect(formatDollarsExact(decimal('-1250'))).toBe('-$12.50');
    expect(formatDollarsRounded(decimal('123456.5'))).toBe('$1,234.57');
  });

  it('are short on axes and in words for time', () => {
    expect(formatShort(0)).toBe('0');
    expect(formatShort(12_345_678)).toBe('12.3 M');
    expect(formatShort(950)).toBe('950');
    expect(formatSeconds(2.34)).toBe('2.3 s');
    expect(formatSeconds(65)).toBe('1 min 5 s');
  });
});

describe('a chart', () => {
  it('fills the highest column, shows the smallest and leaves nothing where there is nothing', () => {
    const lines = columnChartLines([100, 1, 0], ['a', '', 'c']);
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe('      100 ┤██');
    expect(lines[5]).toBe('        0 ┤██▁▁');
    expect(lines[7]?.trim()).toBe('a   c');
  });

  it('of no usage at all is empty, not broken', () => {
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

describe('progress', () => {
  it('is a bar redrawn in place on a terminal, with rate and remaining time', () => {
    let nowMs = 0;
    const { terminal, written } = recordingTerminal(true);
    const progress = createProgress(terminal, 'events', 1000, () => nowMs);
    nowMs = 1000;
    progress.advance(250);
    expect(written()).toContain('\r');
    expect(written()).toContain('25 %  250 of 1,000 events  250/s  ETA 3.0 s');
    nowMs = 2000;
    progress.advance(750);
    expect(progress.finish()).toBe(2);
    expect(written()).toContain('100 %  1,000 of 1,000 events  500/s  in 2.0 s\n');
  });

  it('is a plain line for every tenth where nothing can be redrawn', () => {
    let nowMs = 0;
    const { terminal, written } = recordingTerminal(false);
    const progress = createProgress(terminal, 'events', 1000, () => nowMs);
    for (let i = 0; i < 100; i++) {
      nowMs += 10;
      progress.advance(10);
    }
    progress.finish();
    expect(written().trimEnd().split('\n')).toHaveLength(10);
    expect(written()).not.toContain('\r');
  });
});
