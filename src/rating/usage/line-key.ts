/**
 * A line key - product, pricing values, presentation values - and its counter: the billable quantity of
 * the key since the counter started, as a function of time (docs/explanation/rating.md, "Quantity").
 */

import { type Decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import type { Interval } from '../../core/time.ts';
import { cumulativeAt, type UsageSeries } from '../../core/usage-series.ts';
import {
  compareGroupValues,
  type GroupValues,
  groupValuesKey,
  pickGroupValues,
  sortedKeys,
} from '../quantities/group-values.ts';
import { type CounterRun, needKey, type SettingsSpan } from '../quantities/product-spans.ts';
import { type QuantityFunction, quantityFunction } from '../quantities/quantity.ts';
import type { MeteredUsage } from '../quantities/usage-need.ts';

/** A span in which one series changes the counter. */
export interface CounterPiece {
  readonly interval: Interval;
  readonly series: UsageSeries;
  /** From the series' cumulative value to the counter. Monotone. */
  readonly positionOf: QuantityFunction;
}

export interface LineKey {
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
  /** The one key of a product without group keys: it shows on an invoice even without usage. */
  readonly keyless: boolean;
  /** Ascending, without gaps, over the whole run. */
  readonly pieces: readonly CounterPiece[];
}

/** The series of each need by their group values. */
export type UsageIndex = ReadonlyMap<string, ReadonlyMap<string, UsageSeries>>;

/** Checks the metered usage and prepares lookups. Throws on an invalid series, which is a bug. */
export function indexUsage(usage: readonly MeteredUsage[], { countedFrom, end }: BilledPeriod): UsageIndex {
  const index = new Map<string, Map<string, UsageSeries>>();
  for (const { series, ...asked } of usage) {
    const { billableMetricId } = asked;
    const need = { ...asked, groupKeys: sortedKeys(asked.groupKeys) };
    const byGroup = new Map<string, UsageSeries>();
    for (const one of series) {
      const key = groupValuesKey(pickGroupValues(one.groupValues, need.groupKeys));
      assert(!byGroup.has(key), `metric ${billableMetricId} has one series for ${key}`);
      assertSteps(one, { start: countedFrom, end });
      byGroup.set(key, one);
    }
    index.set(needKey(need), byGroup);
  }
  return index;
}

/** The line keys of a run, each created on demand. */
export interface LineKeys extends Iterable<LineKey> {
  readonly count: number;
}

/**
 * The line keys of a run: every group with a series, and the one key of a product without group keys even without
 * usage. Sorted by pricing values, then presentation values. `only`: restricts to these groups (`groupValuesKey` of all
 * values of a series); null: all.
 */
export function lineKeys(
  run: CounterRun,
  usage: UsageIndex,
  only: readonly string[] | null = null,
): LineKeys {
  const spans = run.spans.map((span) => ({ span, series: seriesOf(span, usage) }));
  const groups = new Map<string, GroupValues>();
  const keyless = run.pricingGroupKey.length === 0 && run.presentationGroupKey.length === 0;
  if (keyless && only === null) groups.set(groupValuesKey({}), {});
  for (const { series } of spans) {
    for (const key of only ?? series.keys()) {
      const one = series.get(key);
      if (one !== undefined) groups.set(key, one.groupValues);
    }
  }
  const keyNames = [...run.pricingGroupKey, ...run.presentationGroupKey];
  const sorted = [...groups].sort(([, a], [, b]) => compareGroupValues(a, b, keyNames));
  return {
    count: sorted.length,
    [Symbol.iterator]: () => eachKey(run, spans, sorted, keyless),
  };
}

function* eachKey(
  run: CounterRun,
  spans: readonly { readonly span: SettingsSpan; readonly series: ReadonlyMap<string, UsageSeries> }[],
  sorted: readonly (readonly [string, GroupValues])[],
  keyless: boolean,
): Generator<LineKey, void, undefined> {
  for (const [key, groupValues] of sorted) {
    yield {
      pricingGroupValues: pickGroupValues(groupValues, run.pricingGroupKey),
      presentationGroupValues: pickGroupValues(groupValues, run.presentationGroupKey),
      keyless,
      pieces: counterPieces(
        spans.map(({ span, series }) => [span, series.get(key) ?? { groupValues, steps: [] }]),
      ),
    };
  }
}

/**
 * Joins the series of successive spans into one counter that starts at 0. If the metric changes from A to B at
 * s, the value continues as B(t) + A(s) − B(s). If conversion or rounding changes, the counter continues from
 * its value at that time.
 */
function counterPieces(spans: readonly (readonly [SettingsSpan, UsageSeries])[]): CounterPiece[] {
  let value = ZERO;
  let position = ZERO;
  return spans.map(([{ interval, version }, series]) => {
    const quantityOf = quantityFunction(version);
    const valueOffset = value.minus(cumulativeAt(series, interval.start));
    const positionOffset = position.minus(quantityOf(value));
    const positionOf = shifted(quantityOf, valueOffset, positionOffset);
    const valueAtEnd = cumulativeAt(series, interval.end);
    value = valueAtEnd.plus(valueOffset);
    position = positionOf(valueAtEnd);
    return { interval, series, positionOf };
  });
}

function shifted(
  quantityOf: QuantityFunction,
  valueOffset: Decimal,
  positionOffset: Decimal,
): QuantityFunction {
  const shiftsValue = !valueOffset.eq(ZERO);
  const shiftsPosition = !positionOffset.eq(ZERO);
  if (!shiftsValue && !shiftsPosition) return quantityOf;
  return (value) => {
    const quantity = quantityOf(shiftsValue ? value.plus(valueOffset) : value);
    return shiftsPosition ? quantity.plus(positionOffset) : quantity;
  };
}

/** The series of a need. Throws if it is not given, which is a bug. */
export function seriesOf(
  { need }: Pick<SettingsSpan, 'need'>,
  usage: UsageIndex,
): ReadonlyMap<string, UsageSeries> {
  const series = usage.get(needKey(need));
  assert(
    series !== undefined,
    `usage of metric ${need.billableMetricId} by ${need.groupKeys.join(', ')} is given`,
  );
  return series;
}

function assertSteps({ steps }: UsageSeries, counted: Interval): void {
  let previous = counted.start;
  for (const { at } of steps) {
    assert(at > previous && at <= counted.end, 'steps ascend inside the billing period');
    previous = at;
  }
}
