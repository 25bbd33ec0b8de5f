/** The results of the rating engine for a billing case, as charges. */
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, decimal } from '../../src/core/decimal.ts';
import type { BilledPeriod } from '../../src/core/invoice.ts';
import { HOUR_MS, type Instant, type Interval } from '../../src/core/time.ts';
import { type WindowSize, windowBoundaries } from '../../src/rating/invoices/breakdown.ts';
import { type CountedCharges, NO_CHARGES } from '../../src/rating/invoices/rate-invoice.ts';
import type { RatedConversionLine, UsageLine, UsageRating } from '../../src/rating/lines/types.ts';
import { usageNeeds } from '../../src/rating/quantities/product-spans.ts';
import type { MeteredUsage } from '../../src/rating/quantities/usage-need.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { conversionLines } from '../../src/rating/usage/cpu-conversion.ts';
import type { BillingCase } from './billing-cases.ts';
import type { CompositeCase } from './composite-cases.ts';
import type { Charge, Conversion } from './naive/charges.ts';
import { naivePairs } from './naive/rates.ts';
import { type NaiveMeter, naiveValueAt } from './naive/series.ts';
import { type InvoiceRatingInput, rateInvoice } from './rate-at-once.ts';
import { fixed } from './rating-scenarios.ts';

export interface RatedCase extends UsageRating {
  readonly conversions: readonly RatedConversionLine[];
}

/**
 * The invoice of a case, with windows of the given size, or one for the whole period. `billed` is what the
 * invoice bills of the period; all of it unless given.
 */
export function rateCase(
  given: BillingCase & Partial<Pick<CompositeCase, 'composites' | 'fees'>>,
  meter: NaiveMeter,
  size: WindowSize | 'period',
  billed: Interval = given.period,
): RatedCase {
  const input = ratingInputOf(given, meter, size, billed);
  const rating = rateInvoice(input);
  return {
    ...rating,
    conversions: conversionLines({
      lines: rating.lines,
      fiatCreditTypeId: USD_CENTS.id,
      conversions: conversionsOf(given),
      period: input.period,
      boundaries: input.boundaries,
    }).lines,
  };
}

export function ratingInputOf(
  given: BillingCase & Partial<Pick<CompositeCase, 'composites' | 'fees'>>,
  meter: NaiveMeter,
  size: WindowSize | 'period',
  billed: Interval = given.period,
): InvoiceRatingInput {
  const { products, composites = [], fees = [], overrides, prioritization, usageFilters } = given;
  const period = { ...billed, countedFrom: given.period.start };
  return {
    period,
    boundaries: size === 'period' ? [period.start, period.end] : windowBoundaries(period, size),
    products: products.map(({ product, rateEntries }) => ({ product, rates: rateBook(rateEntries) })),
    composites: composites.map(({ product, rateEntries }) => ({ product, rates: rateBook(rateEntries) })),
    worths: new Map(
      [...conversionsOf(given)].map(([unit, { fiatPerCustomCredit }]) => [unit, fiatPerCustomCredit]),
    ),
    usage: meteredUsage(given, period, meter),
    overrides: { overrides, prioritization },
    usageFilters,
    fiatCreditTypeId: USD_CENTS.id,
    productOrder: [],
    charges: billed.end === given.period.end ? countedFees(fees, given.period.end) : NO_CHARGES,
  };
}

/** Charges of subscriptions, in the last hour of the invoice. */
function countedFees(fees: CompositeCase['fees'], end: Instant): CountedCharges {
  const window = { start: end - HOUR_MS, end };
  return {
    billed: fees.map(({ product, creditTypeId, total }) => ({
      ...{ productId: product.id, creditTypeId, total: decimal(fixed(total, 6)) },
      windows: [{ window, quantity: decimal('1'), total: decimal(fixed(total, 6)) }],
    })),
    earlier: [],
    products: fees.map(({ product }) => product),
  };
}

function conversionsOf({ worths }: BillingCase) {
  return new Map(
    [...worths].map(([name, worth]) => [name, { name, fiatPerCustomCredit: decimal(fixed(worth, 2)) }]),
  );
}

/** The answers of metering to the questions of the engine. */
function meteredUsage(
  { products, usageFilters }: BillingCase,
  period: BilledPeriod,
  meter: NaiveMeter,
): MeteredUsage[] {
  const needs = products.flatMap(({ product }) => usageNeeds(product, period, usageFilters));
  return needs.map((need) => ({
    ...need,
    series: meter(need.billableMetricId, need.groupKeys, need.usageFilter).map((series) => ({
      groupValues: series.groupValues,
      steps:
        need.evaluatedAt === 'hour'
          ? series.steps
              .filter(({ at }) => at <= period.end)
              .map(({ at, value }) => ({ at, value: decimal(value) }))
          : need.evaluatedAt.map((at) => ({ at, value: decimal(fixed(naiveValueAt(series, at), 2)) })),
    })),
  }));
}

/** The windows of the lines. */
export function chargesOfWindows(lines: readonly UsageLine[]): Charge[] {
  return lines.flatMap((line) =>
    line.windows.map(({ window, quantity, total }) => chargeOf(line, window.start, quantity, total)),
  );
}

/** The lines as a whole. */
export function chargesOfLines(lines: readonly UsageLine[]): Charge[] {
  return lines.map((line) => chargeOf(line, line.interval.start, line.quantity, line.total));
}

/** Usage without a price. */
export function chargesOfWarnings({ warnings }: UsageRating): Charge[] {
  return warnings.map((warning) => ({
    productId: warning.productId,
    pricing: naivePairs(warning.pricingGroupValues),
    presentation: naivePairs(warning.presentationGroupValues),
    at: warning.interval.start,
    level: 0,
    creditTypeId: null,
    quantity: scaled(warning.quantity, 2),
    total: 0,
  }));
}

export function conversionsOfWindows(lines: readonly RatedConversionLine[]): Conversion[] {
  return lines.flatMap(({ convertedCreditTypeId: creditTypeId, windows }) =>
    windows.map(({ window, quantity, total }) => ({
      creditTypeId,
      at: window.start,
      quantity: scaled(quantity, 6),
      total: scaled(total, 8),
    })),
  );
}

export function conversionsOfLines(lines: readonly RatedConversionLine[]): Conversion[] {
  return lines.map(({ convertedCreditTypeId: creditTypeId, interval, quantity, total }) => ({
    creditTypeId,
    at: interval.start,
    quantity: scaled(quantity, 6),
    total: scaled(total, 8),
  }));
}

function chargeOf(line: UsageLine, at: number, quantity: Decimal, total: Decimal): Charge {
  return {
    productId: line.productId,
    pricing: naivePairs(line.pricingGroupValues),
    presentation: naivePairs(line.presentationGroupValues),
    at,
    level: line.tier?.level ?? 0,
    creditTypeId: line.creditTypeId,
    quantity: scaled(quantity, 2),
    total: scaled(total, 6),
  };
}

/** In units of 10^-places: 1.25 with 2 is 125. */
export function scaled(value: Decimal, places: number): number {
  return Number(value.times(`1e${places}`).toFixed());
}
