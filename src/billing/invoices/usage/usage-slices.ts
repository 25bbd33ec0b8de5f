/**
 * Reads the usage of one invoice in slices of line keys, for usage with more values than are held in memory. Every
 * metric puts a key into the same slice, so each slice can be rated on its own.
 */

import { assert } from '../../../core/errors.ts';
import { countByMemory } from '../../../core/process-memory.ts';
import { halves, type KeySlice, keySlices } from '../../../metering/query/key-slice.ts';
import type { MeteredSeries } from '../../../metering/query/usage-series.ts';
import type { MetricSeriesRequest } from '../../../metering/usage/metric-usage.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import type { MeteredUsage, UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { readIfFits } from './usage-reading.ts';

/** Metered usage of one need, of the keys of one slice. */
export interface SlicedAnswer {
  readonly need: UsageNeed;
  readonly answer: MeteredSeries;
}

/** The answers as rating takes them. */
export function meteredUsage(answers: readonly SlicedAnswer[]): MeteredUsage[] {
  return answers.map(({ need, answer }) => ({ ...need, series: answer.series }));
}

/** One need of one customer. */
export interface SlicedQuestion {
  readonly need: UsageNeed;
  readonly request: Omit<MetricSeriesRequest, 'rowsMax'>;
}

/** Values of a slice. Smaller slices take less memory, and more queries over all events. */
const SLICE_VALUES = countByMemory(16_384, { least: 25_000, most: 500_000 });
/** How many slices to begin with if the number of values is not known. */
const SLICES_OF_UNKNOWN = 8;
/** A slice of one key has a value for each hour of a billing period, so this is never reached. */
const SLICES_MAX = 2 ** 24;

/** The answers to questions with the same group keys, slice by slice. */
export async function* readSlices(
  usageSource: UsageSource,
  questions: readonly SlicedQuestion[],
): AsyncGenerator<readonly SlicedAnswer[], void, undefined> {
  const rowsMax = Math.ceil((2 * SLICE_VALUES) / questions.length);
  const open = keySlices(await sliceCount(usageSource, questions));
  for (let slice = open.pop(); slice !== undefined; slice = open.pop()) {
    const answers = await readSlice(usageSource, questions, slice, rowsMax);
    if (answers !== null) yield answers;
    else {
      assert(slice.count < SLICES_MAX, 'a line key has a value for each hour');
      open.push(...halves(slice));
    }
  }
}

async function sliceCount(usageSource: UsageSource, questions: readonly SlicedQuestion[]): Promise<number> {
  let values = 0;
  let isKnown = true;
  for (const { request } of questions) {
    const counts = await usageSource.countValues(request);
    if (counts === null) isKnown = false;
    for (const count of counts?.values() ?? []) values += count;
  }
  const known = Math.max(1, Math.ceil(values / SLICE_VALUES));
  return isKnown ? known : Math.max(known, SLICES_OF_UNKNOWN);
}

/** Null if there are too many values. */
async function readSlice(
  usageSource: UsageSource,
  questions: readonly SlicedQuestion[],
  slice: KeySlice,
  rowsMax: number,
): Promise<SlicedAnswer[] | null> {
  const answers: SlicedAnswer[] = [];
  for (const { need, request } of questions) {
    const found = await readIfFits(usageSource, { ...request, slice, rowsMax });
    if (found === null) return null;
    const [answer] = found.values();
    assert(answer !== undefined, 'the customer of the request has an answer');
    answers.push({ need, answer });
  }
  return answers;
}
