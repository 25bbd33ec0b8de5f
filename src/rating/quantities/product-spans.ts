/**
 * A product's versions over a billing period: the metric and settings in force at each time, and the resets of
 * its counters (docs/explanation/rating.md, "Product versions").
 */

import type { Product, ProductVersion } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { sortedKeys } from './group-values.ts';
import { sameQuantitySettings } from './quantity.ts';
import type { UsageNeed } from './usage-need.ts';

/** A span with one metric, conversion and rounding. Name and tags may change inside. */
export interface SettingsSpan {
  readonly interval: Interval;
  readonly version: ProductVersion;
  readonly need: UsageNeed;
}

/** A run with the same pricing and presentation keys. Counters start at 0 at its start and are not reset within it. */
export interface CounterRun {
  readonly interval: Interval;
  readonly pricingGroupKey: readonly string[];
  readonly presentationGroupKey: readonly string[];
  /** Ascending, without gaps. Never empty. */
  readonly spans: readonly SettingsSpan[];
}

/** The version in force at `at`: the last one that has started. */
export function versionAt<Version extends ProductVersion>(
  product: Pick<Product, 'id'> & { readonly versions: readonly Version[] },
  at: Instant,
): Version {
  const version = product.versions.findLast(({ startingAt }) => startingAt === null || startingAt <= at);
  assert(version !== undefined, `product ${product.id} has an initial version`);
  return version;
}

/** The usage needed from metering to rate this product over the period; without duplicates. */
export function usageNeeds(
  product: Product,
  period: BilledPeriod,
  filters: readonly UsageFilter[],
): UsageNeed[] {
  const needs = new Map<string, UsageNeed>();
  for (const { need } of settingsSpans(product, period, filters)) needs.set(needKey(need), need);
  return [...needs.values()];
}

/** One text per need. */
export function needKey({ billableMetricId, evaluatedAt, usageFilter, groupKeys }: UsageNeed): string {
  return JSON.stringify([billableMetricId, evaluatedAt, filterKey(usageFilter), ...groupKeys]);
}

/** The runs from the start of the counters to the period's end, ascending and without gaps. */
export function counterRuns(
  product: Product,
  period: BilledPeriod,
  filters: readonly UsageFilter[],
): CounterRun[] {
  const runs: CounterRun[] = [];
  for (const span of settingsSpans(product, period, filters)) {
    const run = runs.at(-1);
    const last = run?.spans.at(-1);
    if (run === undefined || last === undefined || !sameGrouping(last.version, span.version)) {
      runs.push(newRun(span));
    } else {
      runs[runs.length - 1] = {
        ...run,
        interval: { start: run.interval.start, end: span.interval.end },
        spans: [...run.spans, span],
      };
    }
  }
  return runs;
}

function newRun(span: SettingsSpan): CounterRun {
  return {
    interval: span.interval,
    pricingGroupKey: sortedKeys(span.version.pricingGroupKey),
    presentationGroupKey: sortedKeys(span.version.presentationGroupKey),
    spans: [span],
  };
}

function settingsSpans(
  product: Product,
  period: BilledPeriod,
  filters: readonly UsageFilter[],
): SettingsSpan[] {
  const { countedFrom, start, end } = period;
  return withInstants(cutBySettings(product, { start: countedFrom, end }, filters), [countedFrom, start]);
}

/**
 * Sets the evaluation instants of needs that are not hourly: the starts and ends of their spans, and the start of
 * billing. At the start of the counters every value is 0.
 */
function withInstants(
  spans: readonly SettingsSpan[],
  [countedFrom, billedFrom]: readonly [Instant, Instant],
): SettingsSpan[] {
  const bySpan = groupBy(spans, ({ need }) => needKey(need));
  return spans.map((span) => {
    if (span.need.evaluatedAt === 'hour') return span;
    const own = bySpan.get(needKey(span.need)) ?? [];
    const instants = [billedFrom, ...own.flatMap(({ interval }) => [interval.start, interval.end])];
    const evaluatedAt = [...new Set(instants)].filter((at) => at > countedFrom).sort((a, b) => a - b);
    return { ...span, need: { ...span.need, evaluatedAt } };
  });
}

function cutBySettings(product: Product, within: Interval, filters: readonly UsageFilter[]): SettingsSpan[] {
  const spans: SettingsSpan[] = [];
  for (const [index, version] of product.versions.entries()) {
    const start = version.startingAt ?? Number.NEGATIVE_INFINITY;
    const end = product.versions[index + 1]?.startingAt ?? null;
    const interval = intersect(within, { start, end });
    if (interval === null) continue;
    for (const filtered of filterSpans(interval, filters)) {
      const previous = spans.at(-1);
      const need = needOf(product, version, filtered.filter);
      if (previous !== undefined && sameSettings(previous, { version, need })) {
        spans[spans.length - 1] = {
          ...previous,
          interval: { start: previous.interval.start, end: filtered.interval.end },
        };
      } else {
        spans.push({ interval: filtered.interval, version, need });
      }
    }
  }
  return spans;
}

/** The interval, cut where another filter takes effect. There is no span before the first filter. */
function filterSpans(
  interval: Interval,
  filters: readonly UsageFilter[],
): { readonly interval: Interval; readonly filter: UsageFilter | null }[] {
  return [null, ...filters].flatMap((filter, index) => {
    const start = filter?.startingAt ?? Number.NEGATIVE_INFINITY;
    const part = intersect(interval, { start, end: filters[index]?.startingAt ?? null });
    return part === null ? [] : [{ interval: part, filter }];
  });
}

/** Independent of the order of the values. */
function filterKey(filter: UsageNeed['usageFilter']): string {
  return filter === null ? '' : JSON.stringify([filter.property, ...sortedKeys(filter.values)]);
}

function needOf(product: Product, version: ProductVersion, filter: UsageFilter | null): UsageNeed {
  const { billableMetricId } = version;
  assert(billableMetricId !== null, `usage product ${product.id} has a metric`);
  return {
    billableMetricId,
    evaluatedAt: version.sqlBreakdownGranularity === 'HOUR' ? 'hour' : [],
    usageFilter: filter === null ? null : { property: filter.groupKey, values: filter.groupValues },
    groupKeys: sortedKeys(version.pricingGroupKey, version.presentationGroupKey),
  };
}

function sameSettings(
  a: Pick<SettingsSpan, 'version' | 'need'>,
  b: Pick<SettingsSpan, 'version' | 'need'>,
): boolean {
  return (
    needKey(a.need) === needKey(b.need) &&
    sameQuantitySettings(a.version, b.version) &&
    sameGrouping(a.version, b.version)
  );
}

/** Independent of the order of the names in a key. */
function sameGrouping(a: ProductVersion, b: ProductVersion): boolean {
  return (
    sameNames(a.pricingGroupKey, b.pricingGroupKey) &&
    sameNames(a.presentationGroupKey, b.presentationGroupKey)
  );
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(sortedKeys(a)) === JSON.stringify(sortedKeys(b));
}
