/**
 * A product's versions over a billing period: which metric and settings count when, and where the
 * counters of its line keys start anew (docs/rating.md, "Product versions").
 */
import type { Product, ProductVersion } from '../core/catalogue.ts';
import { assert } from '../core/errors.ts';
import { type Instant, type Interval, intersect } from '../core/time.ts';
import { sortedKeys } from './group-values.ts';
import { sameQuantitySettings } from './quantity.ts';
import type { UsageNeed } from './types.ts';

/** A stretch with one metric and one way from value to quantity. Name and tags may change inside. */
export interface SettingsSpan {
  readonly interval: Interval;
  readonly version: ProductVersion;
  readonly need: UsageNeed;
}

/** A stretch with the same pricing and presentation keys: counters run through it, and start at 0 with it. */
export interface CounterRun {
  readonly interval: Interval;
  readonly pricingGroupKey: readonly string[];
  readonly presentationGroupKey: readonly string[];
  /** Ascending, without gaps. Never empty. */
  readonly spans: readonly SettingsSpan[];
}

/** The version in force at `at`: the last one that has started. */
export function versionAt(product: Product, at: Instant): ProductVersion {
  const version = product.versions.findLast(({ startingAt }) => startingAt === null || startingAt <= at);
  assert(version !== undefined, `product ${product.id} has an initial version`);
  return version;
}

/** What metering must answer before this product can be rated over the period; without repeats. */
export function usageNeeds(product: Product, period: Interval): UsageNeed[] {
  const needs = new Map<string, UsageNeed>();
  for (const { need } of settingsSpans(product, period)) needs.set(needKey(need), need);
  return [...needs.values()];
}

/** One text per need. */
export function needKey({ billableMetricId, sqlGranularity, groupKeys }: UsageNeed): string {
  return JSON.stringify([billableMetricId, sqlGranularity, ...groupKeys]);
}

/** The runs of the period, ascending and without gaps. */
export function counterRuns(product: Product, period: Interval): CounterRun[] {
  const runs: CounterRun[] = [];
  for (const span of settingsSpans(product, period)) {
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

function settingsSpans(product: Product, period: Interval): SettingsSpan[] {
  const spans: SettingsSpan[] = [];
  for (const [index, version] of product.versions.entries()) {
    const start = version.startingAt ?? Number.NEGATIVE_INFINITY;
    const end = product.versions[index + 1]?.startingAt ?? null;
    const interval = intersect(period, { start, end });
    if (interval === null) continue;
    const previous = spans.at(-1);
    if (previous !== undefined && sameSettings(previous.version, version)) {
      spans[spans.length - 1] = {
        ...previous,
        interval: { start: previous.interval.start, end: interval.end },
      };
    } else {
      spans.push({ interval, version, need: needOf(product, version) });
    }
  }
  return spans;
}

function needOf(product: Product, version: ProductVersion): UsageNeed {
  const { billableMetricId } = version;
  assert(billableMetricId !== null, `usage product ${product.id} has a metric`);
  return {
    billableMetricId,
    sqlGranularity: version.sqlBreakdownGranularity === 'HOUR' ? 'hour' : 'service_period',
    groupKeys: sortedKeys(version.pricingGroupKey, version.presentationGroupKey),
  };
}

function sameSettings(a: ProductVersion, b: ProductVersion): boolean {
  return (
    a.billableMetricId === b.billableMetricId &&
    a.sqlBreakdownGranularity === b.sqlBreakdownGranularity &&
    sameQuantitySettings(a, b) &&
    sameGrouping(a, b)
  );
}

/** The order of the names in a key means nothing. */
function sameGrouping(a: ProductVersion, b: ProductVersion): boolean {
  return (
    sameNames(a.pricingGroupKey, b.pricingGroupKey) &&
    sameNames(a.presentationGroupKey, b.presentationGroupKey)
  );
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(sortedKeys(a)) === JSON.stringify(sortedKeys(b));
}
