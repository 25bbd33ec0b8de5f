/**
 * A second rating engine, written to be obviously right and slow: hour by hour and unit by unit, in whole
 * hundredths. It shares no code with src/rating and exists to disagree with it.
 *
 * Values, sizes and factors must be multiples of 0.01 and every quantity must come out as one.
 */
import type { Product, ProductVersion, RateEntry } from '../../src/core/catalogue.ts';
import type { Decimal } from '../../src/core/decimal.ts';
import { HOUR_MS, type Instant, type Interval } from '../../src/core/time.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';

export interface NaiveUsage {
  readonly billableMetricId: string;
  readonly groupKeys: readonly string[];
  readonly series: readonly UsageSeries[];
}

export interface NaiveProduct {
  readonly product: Product;
  readonly rateEntries: readonly RateEntry[];
}

/** What one line key came to in one hour and tier: quantity in hundredths, total in ten-thousandths of a cent. */
export interface NaiveAmount {
  quantity: number;
  total: number;
}

interface Counter {
  value: number;
  position: number;
}

/** Amounts by `product|pricing|presentation|hour|tier`; tier 0 is a flat price. Zero amounts are left out. */
export function naiveRating(
  period: Interval,
  products: readonly NaiveProduct[],
  usage: readonly NaiveUsage[],
): Map<string, NaiveAmount> {
  const amounts = new Map<string, NaiveAmount>();
  for (const { product, rateEntries } of products) {
    let counters = new Map<string, Counter>();
    let grouping = '';
    for (let at = period.start; at < period.end; at += HOUR_MS) {
      const version = lastStarted(product.versions, at);
      const keys = JSON.stringify([
        [...version.pricingGroupKey].sort(),
        [...version.presentationGroupKey].sort(),
      ]);
      if (keys !== grouping) counters = new Map();
      grouping = keys;
      for (const series of seriesOf(version, usage)) {
        const pricing = only(series.groupValues, version.pricingGroupKey);
        const presentation = only(series.groupValues, version.presentationGroupKey);
        const key = `${product.id}|${pricing}|${presentation}`;
        const counter = counters.get(key) ?? { value: 0, position: 0 };
        counters.set(key, counter);
        const before = counter.position;
        const quantityBefore = quantityOf(version, counter.value);
        counter.value += valueAt(series, at + HOUR_MS) - valueAt(series, at);
        counter.position += quantityOf(version, counter.value) - quantityBefore;
        const entry = entryAt(rateEntries, pricing, at) ?? entryAt(rateEntries, '{}', at);
        if (entry?.entitled) addUnits(amounts, `${key}|${at}`, entry, before, counter.position);
      }
    }
  }
  for (const [key, amount] of amounts) if (amount.quantity === 0) amounts.delete(key);
  return amounts;
}

/** A custom pricing unit, and what one of it is worth in hundredths of the currency's denomination. */
export interface NaiveUnit {
  readonly id: string;
  readonly worth: number;
}

/**
 * What the amounts of `naiveRating` in custom units come to, by `unit|hour`: quantity in ten-thousandths of
 * the unit, total in millionths. Hours in which a unit comes to 0 are left out.
 */
export function naiveConversions(
  amounts: ReadonlyMap<string, NaiveAmount>,
  unitOf: (productId: string) => NaiveUnit | null,
): Map<string, NaiveAmount> {
  const converted = new Map<string, NaiveAmount>();
  for (const [key, amount] of amounts) {
    const [productId = '', , , hour] = key.split('|');
    const unit = unitOf(productId);
    if (unit === null) continue;
    const sum = converted.get(`${unit.id}|${hour}`) ?? { quantity: 0, total: 0 };
    sum.quantity += amount.total;
    sum.total += amount.total * unit.worth;
    converted.set(`${unit.id}|${hour}`, sum);
  }
  for (const [key, { quantity }] of converted) if (quantity === 0) converted.delete(key);
  return converted;
}

/** One hundredth of a unit after the other, each at the price of the tier it lies in. */
function addUnits(
  amounts: Map<string, NaiveAmount>,
  prefix: string,
  { rate }: RateEntry,
  from: number,
  to: number,
): void {
  for (let position = from; position !== to; position += Math.sign(to - from)) {
    const sign = Math.sign(to - from);
    const unit = sign > 0 ? position + 1 : position;
    let level = 0;
    let price = 0;
    if (rate.rateType === 'FLAT') price = hundredths(rate.price);
    else if (rate.rateType !== 'TIERED') throw new Error(`${rate.rateType} prices no usage`);
    else {
      let bound = 0;
      for (const tier of rate.tiers) {
        level += 1;
        price = hundredths(tier.price);
        bound += tier.size === null ? Number.POSITIVE_INFINITY : hundredths(tier.size);
        if (unit <= bound) break;
      }
    }
    const key = `${prefix}|${level}`;
    const amount = amounts.get(key) ?? { quantity: 0, total: 0 };
    amounts.set(key, { quantity: amount.quantity + sign, total: amount.total + sign * price });
  }
}

/**
 * The rate that decides at one hour: added one after the other, the winner so far is kept or replaced.
 * An addition erases what it replaces before anything else is looked at.
 */
function entryAt(entries: readonly RateEntry[], pricing: string, at: Instant): RateEntry | null {
  let standing: RateEntry[] = [];
  for (const entry of [...entries].sort((a, b) => a.sequence - b.sequence)) {
    if (only(entry.pricingGroupValues, Object.keys(entry.pricingGroupValues)) !== pricing) continue;
    standing = standing.filter((earlier) => {
      if (earlier.startingAt !== entry.startingAt) return true;
      return earlier.endingBefore === null && entry.endingBefore !== null;
    });
    standing.push(entry);
  }
  let decides: RateEntry | null = null;
  for (const entry of standing) {
    if (at < entry.startingAt || at >= (entry.endingBefore ?? Number.POSITIVE_INFINITY)) continue;
    if (entry.endingBefore === null && decides !== null && decides.startingAt > entry.startingAt) continue;
    decides = entry;
  }
  return decides;
}

function seriesOf(version: ProductVersion, usage: readonly NaiveUsage[]): readonly UsageSeries[] {
  const wanted = new Set([...version.pricingGroupKey, ...version.presentationGroupKey]);
  const found = usage.find(
    ({ billableMetricId, groupKeys }) =>
      billableMetricId === version.billableMetricId &&
      groupKeys.length === wanted.size &&
      groupKeys.every((name) => wanted.has(name)),
  );
  return found?.series ?? [];
}

function quantityOf({ quantityConversion, quantityRounding }: ProductVersion, value: number): number {
  let numerator = value;
  let denominator = 1;
  if (quantityConversion !== null) {
    const factor = hundredths(quantityConversion.conversionFactor);
    if (quantityConversion.operation === 'MULTIPLY') [numerator, denominator] = [value * factor, 100];
    else [numerator, denominator] = [value * 100, factor];
  }
  if (quantityRounding === null) return wholeOrThrow(numerator / denominator);
  const grain = 10 ** (2 - quantityRounding.decimalPlaces);
  denominator *= grain;
  const size = Math.abs(numerator);
  const whole = Math.floor(size / denominator);
  const rest = size - whole * denominator;
  const up = { ROUND_UP: rest > 0, ROUND_DOWN: false, ROUND_HALF_UP: rest * 2 >= denominator };
  return Math.sign(numerator) * (whole + (up[quantityRounding.method] ? 1 : 0)) * grain;
}

function lastStarted(versions: readonly ProductVersion[], at: Instant): ProductVersion {
  let current = versions[0];
  for (const version of versions)
    if (version.startingAt !== null && version.startingAt <= at) current = version;
  if (current === undefined) throw new Error('a product has a version');
  return current;
}

function valueAt({ steps }: UsageSeries, at: Instant): number {
  let value = 0;
  for (const step of steps) if (step.at <= at) value = hundredths(step.value);
  return value;
}

function only(values: Readonly<Record<string, string>>, names: readonly string[]): string {
  const entries = [...new Set(names)].sort().map((name) => [name, values[name]]);
  return JSON.stringify(Object.fromEntries(entries));
}

function hundredths(value: Decimal): number {
  return wholeOrThrow(Number(value.toString()) * 100);
}

function wholeOrThrow(value: number): number {
  const whole = Math.round(value);
  if (Math.abs(value - whole) > 1e-6) throw new Error(`${value} is not a whole number of hundredths`);
  return whole;
}
