/**
 * A second rating engine for comparison, simple and slow: hour by hour and unit by unit, in whole hundredths. It
 * shares no code with src/rating.
 *
 * Values, sizes, prices, multipliers and factors must be multiples of 0.01, and so must every quantity.
 */
import type { Product, ProductVersion, Rate, RateEntry } from '../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';
import type { StreamingMetric } from '../../../src/core/metric.ts';
import type { Override } from '../../../src/core/terms/overrides.ts';
import { HOUR_MS, type Instant, type Interval } from '../../../src/core/time.ts';
import type { Charge } from './charges.ts';
import { type NaiveSubject, naiveApplicable, naiveEntitlement, naiveOverriddenPrice } from './overrides.ts';
import { naiveQuantity } from './quantity.ts';
import { type NaivePrice, naiveListPrice, naivePairs, naiveRateAt, versionAt } from './rates.ts';
import { type NaiveFilter, type NaiveMeter, type NaiveSeries, naiveValueAt } from './series.ts';
import type { NaiveEvent } from './usage.ts';

/** Everything that decides what one contract owes for one billing period. */
export interface NaiveInput {
  readonly period: Interval;
  readonly metrics: readonly StreamingMetric[];
  readonly events: readonly NaiveEvent[];
  readonly products: readonly { readonly product: Product; readonly rateEntries: readonly RateEntry[] }[];
  readonly overrides: readonly Override[];
  readonly prioritization: 'LOWEST_MULTIPLIER' | 'EXPLICIT';
  readonly usageFilters: readonly {
    readonly groupKey: string;
    readonly groupValues: readonly string[];
    readonly startingAt: Instant;
  }[];
}

/** How far a line of the invoice has counted: the value of the metric, and the quantity billed. */
interface Counter {
  value: number;
  position: number;
  /** Where it stood after each hour in which it moved. */
  readonly moves: { readonly at: Instant; readonly position: number }[];
  /** Units at volume prices, by the hour in which they were used. */
  readonly volumes: VolumeUnits[];
}

interface VolumeUnits {
  readonly line: Pick<Charge, 'productId' | 'pricing' | 'presentation'>;
  readonly at: Instant;
  readonly quantity: number;
  /** The price of each unit if this is the last one. */
  readonly quote: (unit: number) => Quote;
}

interface Quote extends Pick<NaivePrice, 'price' | 'level'> {
  readonly creditTypeId: string;
}

/** Charges by the hour. Usage that nothing prices is a charge of 0 without a pricing unit. */
export function naiveCharges(input: NaiveInput, meter: NaiveMeter): Charge[] {
  const charges: Charge[] = [];
  for (const { product, rateEntries } of input.products) {
    let counters = new Map<string, Counter>();
    let grouping = '';
    let counted = input.period.start;
    for (let at = input.period.start; at < input.period.end; at += HOUR_MS) {
      const version = versionAt(product, at);
      const keys = JSON.stringify([
        [...version.pricingGroupKey].sort(),
        [...version.presentationGroupKey].sort(),
      ]);
      if (keys !== grouping) {
        charges.push(...[...counters.values()].flatMap(volumeCharges));
        counters = new Map();
      }
      grouping = keys;
      // Usage that is counted only once is counted in the last hour before anything about the counting changes.
      const next = at + HOUR_MS;
      const isCounted =
        version.sqlBreakdownGranularity === 'HOUR' ||
        next === input.period.end ||
        countingAt(input, product, at) !== countingAt(input, product, next);
      if (!isCounted) continue;
      const since = counted;
      counted = next;
      for (const series of usageOf(meter, version, filterAt(input, at))) {
        const who = subjectOf(product, version, series);
        const line = `${naivePairs(who.pricingGroupValues)} ${naivePairs(who.presentationGroupValues)}`;
        const counter = counters.get(line) ?? { value: 0, position: 0, moves: [], volumes: [] };
        counters.set(line, counter);
        const from = counter.position;
        const quantityBefore = naiveQuantity(version, counter.value);
        counter.value += naiveValueAt(series, next) - naiveValueAt(series, since);
        counter.position += naiveQuantity(version, counter.value) - quantityBefore;
        if (counter.position === from) continue;
        counter.moves.push({ at, position: counter.position });
        charges.push(...chargesOfHour(input, rateEntries, who, at, from, counter));
      }
    }
    charges.push(...[...counters.values()].flatMap(volumeCharges));
  }
  return charges;
}

/** Everything that decides how usage is counted, as one text. */
function countingAt(input: NaiveInput, product: Product, at: Instant): string {
  const { billableMetricId, sqlBreakdownGranularity, ...version } = versionAt(product, at);
  const filter = filterAt(input, at);
  return JSON.stringify([
    [billableMetricId, sqlBreakdownGranularity, version.quantityConversion, version.quantityRounding],
    [[...version.pricingGroupKey].sort(), [...version.presentationGroupKey].sort()],
    filter && [filter.property, [...filter.values].sort()],
  ]);
}

/** One hundredth of a unit after the other, each at the price of the tier it lies in. */
function chargesOfHour(
  { overrides, prioritization }: NaiveInput,
  rateEntries: readonly RateEntry[],
  who: NaiveSubject,
  at: Instant,
  from: number,
  { position: to, volumes }: Counter,
): Charge[] {
  const entry = naiveRateAt(rateEntries, who.pricingGroupValues, at);
  const applicable = naiveApplicable(overrides, who, at);
  if (!naiveEntitlement(applicable, entry?.entitled ?? true)) return [];
  const line = {
    productId: who.productId,
    pricing: naivePairs(who.pricingGroupValues),
    presentation: naivePairs(who.presentationGroupValues),
    at,
  };
  const list = entry?.rate ?? null;
  const isExplicit = prioritization === 'EXPLICIT';
  if (list === null && naiveOverriddenPrice(applicable, isExplicit, who, null, 1) === null)
    return [{ ...line, level: 0, creditTypeId: null, quantity: to - from, total: 0 }];
  const quote = (unit: number) => {
    const overridden = naiveOverriddenPrice(applicable, isExplicit, who, list, unit);
    const price = overridden ?? naiveListPrice(list ?? NO_PRICE, unit);
    return { ...price, creditTypeId: overridden?.creditTypeId ?? entry?.creditTypeId ?? USD_CENTS.id };
  };
  if (quote(to).isVolume) {
    const { at: _, ...where } = line;
    volumes.push({ line: where, at, quantity: to - from, quote });
    return [];
  }
  const tallies: Tally[] = [];
  const step = Math.sign(to - from);
  for (let position = from; position !== to; position += step) {
    const unit = step > 0 ? position + 1 : position;
    const { price, level, creditTypeId } = quote(unit);
    const tally = tallyOf(tallies, level, creditTypeId);
    tally.quantity += step;
    tally.total += step * price;
  }
  return tallies.map((tally) => ({ ...line, ...tally }));
}

/** The growth in each hour of the price of all units until then; in the end they are all in the tier of the last one. */
function volumeCharges({ position: whole, moves, volumes }: Counter): Charge[] {
  return volumes.flatMap(({ line, at: used, quantity, quote }) => {
    const { level, creditTypeId } = quote(whole);
    let before = 0;
    return moves
      .filter(({ at }) => at >= used)
      .map(({ at, position }): Charge => {
        const now = quantity * quote(position).price;
        const total = now - before;
        before = now;
        return { ...line, at, level, creditTypeId, quantity: at === used ? quantity : 0, total };
      });
  });
}

/** Never asked: without a list rate an override has priced the unit. */
const NO_PRICE: Rate = { rateType: 'TIERED', tiers: [] };

/** The amounts charged in one tier so far. */
interface Tally {
  readonly level: number;
  readonly creditTypeId: string;
  quantity: number;
  total: number;
}

function tallyOf(tallies: Tally[], level: number, creditTypeId: string): Tally {
  for (const tally of tallies) if (tally.level === level && tally.creditTypeId === creditTypeId) return tally;
  const started = { level, creditTypeId, quantity: 0, total: 0 };
  tallies.push(started);
  return started;
}

function subjectOf(product: Product, version: ProductVersion, { groupValues }: NaiveSeries): NaiveSubject {
  return {
    productId: product.id,
    productTags: version.tags,
    pricingGroupValues: only(groupValues, version.pricingGroupKey),
    presentationGroupValues: only(groupValues, version.presentationGroupKey),
    billingFrequency: null,
    payer: null,
  };
}

/** The usage of the metric of a version, split by all its keys. */
function usageOf(meter: NaiveMeter, version: ProductVersion, filter: NaiveFilter | null) {
  const groupKeys = [...new Set([...version.pricingGroupKey, ...version.presentationGroupKey])].sort();
  return meter(version.billableMetricId ?? '', groupKeys, filter);
}

/** The last one that has started. */
function filterAt({ usageFilters }: NaiveInput, at: Instant): NaiveFilter | null {
  let current: NaiveFilter | null = null;
  for (const { groupKey, groupValues, startingAt } of usageFilters)
    if (startingAt <= at) current = { property: groupKey, values: groupValues };
  return current;
}

function only(
  values: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
}
