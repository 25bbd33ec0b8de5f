/**
 * The series of one customer as ClickHouse answered them: each line as two texts. An invoice run has the usage of many
 * customers in memory and rates one after the other. Texts take a fifth of the memory of the numbers in them, and a
 * collection of garbage does not look through them.
 */
import { assert } from '../../core/errors.ts';
import type { Aggregation } from '../../core/metric.ts';
import type { Instant } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import { cumulativeSteps } from './series-fold.ts';
import { exactUsage } from './usage-value.ts';

/** Between the windows of a line. No number has it. */
export const WINDOW_SEPARATOR = ' ';

/** The windows of a line in which there was usage. */
export interface PackedLine {
  /** In the order of the names. */
  readonly groupValues: readonly string[];
  /** How many windows these are, at least one. */
  readonly count: number;
  /** Their starts, in seconds after the start of the period. Ascending. */
  readonly offsets: string;
  readonly values: string;
}

export interface PackedSeries {
  /** Values of all lines together. */
  readonly valueCount: number;
  /** The series, made anew by each call. */
  unpack(): UsageSeries[];
}

/** What all lines of an answer have in common. */
interface LineForm {
  readonly aggregation: Aggregation;
  /** The names of the group values. */
  readonly groupBy: readonly string[];
  /** End of the window that starts so many seconds after the period. */
  windowEnd(offsetSeconds: number): Instant;
}

export const NOTHING_PACKED: PackedSeries = { valueCount: 0, unpack: () => [] };

export function packedSeries(lines: readonly PackedLine[], form: LineForm): PackedSeries {
  return {
    valueCount: lines.reduce((total, { count }) => total + count, 0),
    unpack: () => lines.map((line) => unpacked(line, form)),
  };
}

function unpacked(
  { groupValues, count, offsets, values: texts }: PackedLine,
  { aggregation, groupBy, windowEnd }: LineForm,
): UsageSeries {
  const values = texts.split(WINDOW_SEPARATOR);
  const starts = offsets.split(WINDOW_SEPARATOR);
  assert(values.length === count && starts.length === count, 'each window has a start and a value');
  const windows = starts.map((offset, index) => ({
    at: windowEnd(Number(offset)),
    value: exactUsage(values[index] ?? ''),
  }));
  return {
    groupValues: Object.fromEntries(groupBy.map((name, index) => [name, groupValues[index] ?? ''])),
    steps: cumulativeSteps(aggregation, windows),
  };
}
