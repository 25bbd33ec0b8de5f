/**
 * The series of one customer in the form of ClickHouse's answer: the values of each line as a text. An invoice run
 * holds the usage of many customers in memory and rates one after the other. Texts take a fifth of the memory of their
 * numbers, and the garbage collector does not scan them.
 */
import { assert } from '../../core/errors.ts';
import type { Aggregation } from '../../core/metric.ts';
import type { Instant } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import { createSeriesFold } from './series-fold.ts';
import { exactUsage } from './usage-value.ts';

/** Separates the windows of a line. It occurs in no number. */
export const WINDOW_SEPARATOR = ' ';

/** The value of a window is the text between two offsets; the window starts this many seconds after the period. */
export type WindowVisitor = (offsetSeconds: number, text: string, start: number, end: number) => void;

/** The windows of a line with usage. */
export interface PackedLine {
  /** In the order of the names. */
  readonly groupValues: readonly string[];
  /** The number of windows. */
  readonly count: number;
  /** Visits each of them, ascending. */
  eachWindow(visit: WindowVisitor): void;
}

/** A line as texts. */
export interface LineTexts extends Pick<PackedLine, 'groupValues' | 'count'> {
  /** Starts of windows, in seconds after the start of the period. Ascending. */
  readonly offsets: string;
  /** The value of each window; empty for a window without usage. */
  readonly values: string;
}

export interface PackedSeries {
  /** The number of values of all lines together. */
  readonly valueCount: number;
  /** The series, rebuilt by each call. */
  unpack(): UsageSeries[];
}

/** The part that all lines of an answer share. */
interface LineForm {
  readonly aggregation: Aggregation;
  /** The names of the group values. */
  readonly groupBy: readonly string[];
  /** End of the window that starts this many seconds after the period. */
  windowEnd(offsetSeconds: number): Instant;
}

export const NOTHING_PACKED: PackedSeries = { valueCount: 0, unpack: () => [] };

export function packedSeries(lines: readonly PackedLine[], form: LineForm): PackedSeries {
  return {
    valueCount: lines.reduce((total, { count }) => total + count, 0),
    unpack: () => lines.map((line) => unpacked(line, form)),
  };
}

function unpacked(line: PackedLine, { aggregation, groupBy, windowEnd }: LineForm): UsageSeries {
  const fold = createSeriesFold(aggregation);
  let windowCount = 0;
  line.eachWindow((offset, text, start, end) => {
    fold.add(windowEnd(offset), exactUsage(text, start, end));
    windowCount += 1;
  });
  assert(windowCount === line.count, 'each window has a start and a value');
  return {
    groupValues: Object.fromEntries(groupBy.map((name, index) => [name, line.groupValues[index] ?? ''])),
    steps: fold.steps,
  };
}

export function lineOfTexts({ groupValues, count, offsets, values }: LineTexts): PackedLine {
  return { groupValues, count, eachWindow: (visit) => eachWindowOf(offsets, values, visit) };
}

function eachWindowOf(offsets: string, texts: string, visit: WindowVisitor): void {
  let offsetAt = 0;
  let valueAt = 0;
  // Parsed in place: lists of texts would double the garbage.
  while (offsetAt <= offsets.length && valueAt <= texts.length) {
    const offsetEnd = itemEnd(offsets, offsetAt);
    const valueEnd = itemEnd(texts, valueAt);
    if (valueEnd > valueAt) visit(wholeNumber(offsets, offsetAt, offsetEnd), texts, valueAt, valueEnd);
    offsetAt = offsetEnd + 1;
    valueAt = valueEnd + 1;
  }
  const isWhole = offsetAt > offsets.length && valueAt > texts.length;
  assert(isWhole, 'each window has a start and a value');
}

function itemEnd(items: string, start: number): number {
  const end = items.indexOf(WINDOW_SEPARATOR, start);
  return end < 0 ? items.length : end;
}

const [DIGIT_0, DIGIT_9] = [0x30, 0x39];

/** The digits between two offsets. */
function wholeNumber(text: string, start: number, end: number): number {
  let number = 0;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    assert(code >= DIGIT_0 && code <= DIGIT_9, 'a start is a whole number');
    number = number * 10 + (code - DIGIT_0);
  }
  return number;
}
