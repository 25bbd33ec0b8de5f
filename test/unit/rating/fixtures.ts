/** Builders for rating tests: small products, rates and series, in hours of one period. */

import type { Product, ProductVersion, Rate, RateEntry } from '../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';
import { decimal } from '../../../src/core/decimal.ts';
import type { BilledPeriod } from '../../../src/core/invoice.ts';
import { HOUR_MS, type Instant, type Interval } from '../../../src/core/time.ts';
import type { UsageSeries } from '../../../src/core/usage-series.ts';
import { windowBoundaries } from '../../../src/rating/invoices/breakdown.ts';
import type { UsageLine, UsageRating } from '../../../src/rating/lines/types.ts';
import { usageNeeds } from '../../../src/rating/quantities/product-spans.ts';
import type { MeteredUsage } from '../../../src/rating/quantities/usage-need.ts';
import { type ContractOverrides, NO_OVERRIDES } from '../../../src/rating/rates/overrides.ts';
import { rateBook } from '../../../src/rating/rates/rate-schedule.ts';
import { rateUsage } from '../../support/rate-at-once.ts';

export const METRIC = 'metric-a';
export const OTHER_METRIC = 'metric-b';

/** Two days: hours 0 to 48. */
export const PERIOD: Interval = { start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 2, 3) };

/** The end of the given hour of the period, counted from 0: `hour(0)` is its start. */
export function hour(count: number): Instant {
  return PERIOD.start + count * HOUR_MS;
}

export function version(fields: Partial<ProductVersion> = {}): ProductVersion {
  return {
    startingAt: null,
    name: 'Tokens',
    tags: [],
    billableMetricId: METRIC,
    quantityConversion: null,
    quantityRounding: null,
    sqlBreakdownGranularity: 'HOUR',
    pricingGroupKey: [],
    presentationGroupKey: [],
    createdAt: 0,
    createdBy: 'test',
    ...fields,
  };
}

export function product(...versions: ProductVersion[]): Product {
  return {
    id: 'product-1',
    type: 'USAGE',
    versions: versions.length === 0 ? [version()] : versions,
    archivedAt: null,
  };
}

export function flat(price: string): Rate {
  return { rateType: 'FLAT', price: decimal(price) };
}

/** `tiers(['10', '5'], [null, '2'])`: 10 units at 5, the rest at 2. */
export function tiers(...list: [size: string | null, price: string][]): Rate {
  return {
    rateType: 'TIERED',
    tiers: list.map(([size, price]) => ({
      size: size === null ? null : decimal(size),
      price: decimal(price),
    })),
  };
}

let sequence = 0;

/** An entitled, open-ended rate from long before the period. Later calls are added later. */
export function rate(price: Rate, fields: Partial<RateEntry> = {}): RateEntry {
  sequence += 1;
  return {
    id: `rate-${sequence}`,
    rateCardId: 'card-1',
    productId: 'product-1',
    pricingGroupValues: {},
    billingFrequency: null,
    startingAt: Date.UTC(2020, 0, 1),
    endingBefore: null,
    entitled: true,
    rate: price,
    creditTypeId: USD_CENTS.id,
    commitRate: null,
    sequence,
    ...fields,
  };
}

/** Cumulative values at the ends of hours: `series([1, '5'], [7, '12'])`. */
export function series(...steps: [atHour: number, value: string][]): UsageSeries {
  return grouped({}, ...steps);
}

export function grouped(
  groupValues: Readonly<Record<string, string>>,
  ...steps: [atHour: number, value: string][]
): UsageSeries {
  return { groupValues, steps: steps.map(([at, value]) => ({ at: hour(at), value: decimal(value) })) };
}

export interface Case {
  readonly product?: Product;
  readonly rates: readonly RateEntry[];
  /** Series by metric; each is given to every grouping that the product asks of that metric. */
  readonly usage?: Readonly<Record<string, readonly UsageSeries[]>>;
  readonly period?: Interval;
  /** Where the counters start; the start of the period unless given. */
  readonly countedFrom?: Instant;
  readonly overrides?: ContractOverrides;
}

/** Rates one product with hourly windows. */
export function rateCase({
  product: one = product(),
  rates,
  usage = {},
  period: billed = PERIOD,
  countedFrom = billed.start,
  overrides = NO_OVERRIDES,
}: Case): UsageRating {
  const period = { ...billed, countedFrom };
  return rateUsage({
    period,
    boundaries: windowBoundaries(period, 'hour'),
    products: [{ product: one, rates: rateBook(rates) }],
    usage: meteredFor(one, period, usage),
    overrides,
    usageFilters: [],
    fiatCreditTypeId: USD_CENTS.id,
    productOrder: [],
  });
}

function meteredFor(one: Product, period: BilledPeriod, usage: NonNullable<Case['usage']>): MeteredUsage[] {
  return usageNeeds(one, period, []).map((need) => ({
    ...need,
    series: (usage[need.billableMetricId] ?? []).filter(
      ({ groupValues }) => Object.keys(groupValues).sort().join() === need.groupKeys.join(),
    ),
  }));
}

/** `h0-48 a=1 L2 12 @ 0.5 = 6`: hours, group values, tier level, quantity, unit price, total. */
export function describeLine(line: UsageLine): string {
  const hours = [line.interval.start, line.interval.end].map((at) => (at - PERIOD.start) / HOUR_MS).join('-');
  const values = { ...line.pricingGroupValues, ...line.presentationGroupValues };
  const pairs = Object.keys(values)
    .sort()
    .map((name) => `${name}=${values[name]} `);
  const level = line.tier === null ? '' : `L${line.tier.level} `;
  return `h${hours} ${pairs.join('')}${level}${line.quantity} @ ${line.unitPrice} = ${line.total}`;
}
