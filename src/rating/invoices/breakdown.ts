/**
 * Breakdowns of invoice lines by hour or day, and totals by pricing unit.
 *
 * Works on lines with recorded windows, both of drafts and of finalized invoices.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { resultAtOnce } from '../../core/in-chunks.ts';
import { countsInTotal, type InvoiceLine, type LineWindow, type SummedLine } from '../../core/invoice.ts';
import { DAY_MS, HOUR_MS, type Instant, type Interval } from '../../core/time.ts';
import type { RatedLine } from '../lines/types.ts';

export type WindowSize = 'hour' | 'day';

const WINDOW_MS: Record<WindowSize, number> = { hour: HOUR_MS, day: DAY_MS };

/** A line's share of one window: the invoice line with the window's quantity and total. */
export interface BreakdownLine<Line extends InvoiceLine = InvoiceLine> {
  /** Position of the line on the invoice. */
  readonly position: number;
  readonly line: Line;
  readonly quantity: Decimal;
  readonly total: Decimal;
}

export interface BreakdownWindow<Line extends InvoiceLine = InvoiceLine> {
  readonly window: Interval;
  /** Lines with a quantity in this window, in invoice order. */
  readonly lines: readonly BreakdownLine<Line>[];
}

/** The start, all full UTC hours or days between, and the end: the first and last window may be shorter. */
export function windowBoundaries(period: Interval, size: WindowSize): Instant[] {
  const step = WINDOW_MS[size];
  const boundaries = [period.start];
  for (let at = (Math.floor(period.start / step) + 1) * step; at < period.end; at += step)
    boundaries.push(at);
  boundaries.push(period.end);
  return boundaries;
}

/** The windows between these boundaries that start at or after an instant, in ascending order. */
export function* windowsFrom(period: Interval, size: WindowSize, from: Instant): Generator<Interval, void> {
  const step = WINDOW_MS[size];
  let start = from <= period.start ? period.start : Math.ceil(from / step) * step;
  if (start >= period.end && start > period.start) return;
  for (;;) {
    const end = Math.min((Math.floor(start / step) + 1) * step, period.end);
    yield { start, end };
    if (end >= period.end) return;
    start = end;
  }
}

/** The windows that start at or before an instant, in descending order. */
export function* windowsDownFrom(
  period: Interval,
  size: WindowSize,
  from: Instant,
): Generator<Interval, void> {
  const step = WINDOW_MS[size];
  const last = Math.max(period.start, Math.ceil(period.end / step - 1) * step);
  if (from < period.start) return;
  let start = from >= last ? last : Math.max(period.start, Math.floor(from / step) * step);
  for (;;) {
    yield { start, end: Math.min((Math.floor(start / step) + 1) * step, period.end) };
    if (start <= period.start) return;
    start = Math.max(period.start, Math.ceil(start / step - 1) * step);
  }
}

/** The windows of all lines, with each line's position on the invoice. */
export function lineWindows(lines: readonly RatedLine[]): LineWindow[] {
  return [...lineWindowsOf(lines)];
}

/** `lineWindows` as a generator. */
export function* lineWindowsOf(lines: readonly RatedLine[]): Generator<LineWindow, void, undefined> {
  for (const [position, line] of lines.entries()) {
    for (const amount of line.windows) yield { position, ...amount };
  }
}

/**
 * The breakdown of an invoice: every window of the period in order, including empty ones, each with the lines that
 * changed in it. `windows` are recorded windows of the same or a finer size.
 */
export function breakdownWindows<Line extends InvoiceLine>(
  lines: readonly Line[],
  windows: readonly LineWindow[],
  size: WindowSize,
  period: Interval,
): BreakdownWindow<Line>[] {
  return resultAtOnce(breakdownWindowsInSteps(lines, windows, size, period));
}

/** `breakdownWindows` in steps: yields after each step of its work. */
export function* breakdownWindowsInSteps<Line extends InvoiceLine>(
  lines: readonly Line[],
  windows: readonly LineWindow[],
  size: WindowSize,
  period: Interval,
): Generator<void, BreakdownWindow<Line>[], undefined> {
  const boundaries = windowBoundaries(period, size);
  const cells = boundaries.slice(1).map(() => new Map<number, LineWindow>());
  const step = WINDOW_MS[size];
  const firstWhole = Math.floor(period.start / step);
  for (const one of windows) {
    const index = Math.floor(one.window.start / step) - firstWhole;
    const cell = cells[index];
    assert(
      cell !== undefined && one.window.end <= (boundaries[index + 1] ?? 0),
      'recorded windows fit the breakdown',
    );
    const sum = cell.get(one.position);
    if (sum === undefined) cell.set(one.position, one);
    else {
      const quantity = sum.quantity.plus(one.quantity);
      cell.set(one.position, { ...sum, quantity, total: sum.total.plus(one.total) });
    }
    yield;
  }
  const cut: BreakdownWindow<Line>[] = [];
  for (const [index, cell] of cells.entries()) {
    const window = { start: boundaries[index] ?? period.start, end: boundaries[index + 1] ?? period.end };
    cut.push({ window, lines: cellLines(cell, lines) });
    yield;
  }
  return cut;
}

/** Sum of the lines per pricing unit, in the order in which the units appear. */
export function totalsByCreditType(lines: Iterable<SummedLine>): Map<string, Decimal> {
  const totals = new Map<string, Decimal>();
  for (const line of lines) {
    if (!countsInTotal(line)) continue;
    const { creditTypeId, total } = line;
    totals.set(creditTypeId, (totals.get(creditTypeId) ?? ZERO).plus(total));
  }
  return totals;
}

/** The exact sum of the lines in one pricing unit; 0 if there are none. */
export function invoiceTotal(lines: Iterable<SummedLine>, creditTypeId: string): Decimal {
  return totalsByCreditType(lines).get(creditTypeId) ?? ZERO;
}

/** Leaves out lines that rose and fell back within the window. */
function cellLines<Line extends InvoiceLine>(
  cell: ReadonlyMap<number, LineWindow>,
  lines: readonly Line[],
): BreakdownLine<Line>[] {
  return [...cell.values()]
    .filter(({ quantity, total }) => !quantity.eq(ZERO) || !total.eq(ZERO))
    .sort((a, b) => a.position - b.position)
    .map(({ position, quantity, total }) => {
      const line = lines[position];
      assert(line !== undefined, 'a recorded window belongs to a line of the invoice');
      return { position, line, quantity, total };
    });
}
