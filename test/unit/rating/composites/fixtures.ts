/** A small invoice with composites: usage products at a price of 1, so that their quantities are amounts. */
import type { CompositeVersion, PercentageRate, Rate, RateEntry } from '../../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Override } from '../../../../src/core/terms/overrides.ts';
import { HOUR_MS, type Instant } from '../../../../src/core/time.ts';
import { windowBoundaries } from '../../../../src/rating/invoices/breakdown.ts';
import type {
  CompositeOnCard,
  ProductOnCard,
  UsageLine,
  UsageRating,
} from '../../../../src/rating/lines/types.ts';
import { usageNeeds } from '../../../../src/rating/quantities/product-spans.ts';
import type { MeteredUsage } from '../../../../src/rating/quantities/usage-need.ts';
import { rateBook } from '../../../../src/rating/rates/rate-schedule.ts';
import { rateInvoice } from '../../../support/rate-at-once.ts';
import { describeLine, flat, hour, PERIOD, rate, series, tiers, version } from '../fixtures.ts';

/** A custom unit that is worth 2.5 of the currency. */
export const COINS = 'coins';

/** A usage product that is named after its id. */
interface Used {
  /** Cumulative amounts at the ends of hours. */
  readonly steps: readonly [atHour: number, amount: string][];
  readonly tags?: readonly string[];
  readonly unit?: string;
  readonly rate?: Rate;
  readonly versions?: ProductOnCard['product']['versions'];
}

interface CompositeGiven {
  readonly versions: readonly CompositeVersion[];
  readonly rates: readonly RateEntry[];
}

export interface InvoiceGiven {
  readonly used: Readonly<Record<string, Used>>;
  /** By id, which is the name of the first version too. */
  readonly composites: Readonly<Record<string, CompositeGiven>>;
  readonly overrides?: readonly Override[];
  readonly prioritization?: 'LOWEST_MULTIPLIER' | 'EXPLICIT';
  readonly productOrder?: readonly string[];
  /** In hours: where the billed time starts. Counters start with the period. */
  readonly billedFrom?: number;
  readonly billedUntil?: number;
  readonly windows?: 'hour' | 'day' | 'period';
}

export function percent(price: string, minimum: string | null = null): PercentageRate {
  return {
    rateType: 'PERCENTAGE',
    price: decimal(price),
    minimum: minimum === null ? null : decimal(minimum),
  };
}

/** `tieredPercent([['100', '0.1'], [null, '0.05']])`: 10 % of the first 100, 5 % of the rest. */
export function tieredPercent(
  list: [size: string | null, price: string][],
  minimum: string | null = null,
): PercentageRate {
  const tiered = tiers(...list);
  if (tiered.rateType !== 'TIERED') throw new Error('tiers make a tiered rate');
  return {
    rateType: 'TIERED_PERCENTAGE',
    tiers: tiered.tiers,
    minimum: minimum === null ? null : decimal(minimum),
  };
}

/** Counts the products with these ids, from `startingAt` on. */
export function counts(
  ids: readonly string[],
  fields: Partial<CompositeVersion> & { readonly fromHour?: number } = {},
): CompositeVersion {
  const { fromHour, ...rest } = fields;
  return {
    ...version({ billableMetricId: null, sqlBreakdownGranularity: null, name: '' }),
    startingAt: fromHour === undefined ? null : hour(fromHour),
    compositeProductIds: ids,
    compositeTags: [],
    excludeFreeUsage: false,
    includeCompositeSpend: false,
    ...rest,
  };
}

/** One version and one rate without an end. */
export function composite(counted: CompositeVersion, price: Rate): CompositeGiven {
  return { versions: [counted], rates: [rate(price)] };
}

export function rateGiven(given: InvoiceGiven): UsageRating {
  const { billedFrom = 0, billedUntil = 48, windows = 'hour' } = given;
  const period = { countedFrom: PERIOD.start, start: hour(billedFrom), end: hour(billedUntil) };
  const products = Object.entries(given.used).map(
    ([id, used]): ProductOnCard => ({
      product: {
        id,
        type: 'USAGE',
        archivedAt: null,
        versions: used.versions ?? [version({ name: id, billableMetricId: id, tags: used.tags ?? [] })],
      },
      rates: rateBook([
        rate(used.rate ?? flat('1'), { productId: id, creditTypeId: used.unit ?? USD_CENTS.id }),
      ]),
    }),
  );
  const usage = products.flatMap(({ product }) =>
    usageNeeds(product, period, []).map((need): MeteredUsage => {
      const steps = (given.used[product.id]?.steps ?? []).filter(([at]) => at <= billedUntil);
      return { ...need, series: steps.length === 0 ? [] : [series(...steps)] };
    }),
  );
  return rateInvoice({
    period,
    boundaries: windows === 'period' ? [period.start, period.end] : windowBoundaries(period, windows),
    products,
    composites: Object.entries(given.composites).map(
      ([id, { versions, rates }]): CompositeOnCard => ({
        product: {
          id,
          type: 'COMPOSITE',
          archivedAt: null,
          versions: versions.map((one) => ({ ...one, name: one.name === '' ? id : one.name })),
        },
        rates: rateBook(rates.map((entry) => ({ ...entry, productId: id }))),
      }),
    ),
    usage,
    usageFilters: [],
    overrides: {
      overrides: given.overrides ?? [],
      prioritization: given.prioritization ?? 'LOWEST_MULTIPLIER',
    },
    fiatCreditTypeId: USD_CENTS.id,
    worths: new Map([[COINS, decimal('2.5')]]),
    productOrder: given.productOrder ?? [],
  });
}

/** The lines of the composites: `support: h0-48 100 @ 0.1 = 10 coins`. */
export function compositeLines(given: InvoiceGiven): string[] {
  return rateGiven(given)
    .lines.filter(({ productType }) => productType === 'COMPOSITE')
    .map(describeComposite);
}

function describeComposite(line: UsageLine): string {
  const unit = line.creditTypeId === USD_CENTS.id ? '' : ` ${line.creditTypeId}`;
  const minimum = line.type === 'minimum' ? 'minimum ' : '';
  return `${line.name}: ${minimum}${describeLine(line)}${unit}`;
}

/** The windows of one composite's lines: `h3 20 = 2` for each window. */
export function compositeWindows(given: InvoiceGiven, id: string): string[] {
  return rateGiven(given)
    .lines.filter(({ productId }) => productId === id)
    .flatMap(({ windows }) => windows)
    .map(({ window, quantity, total }) => `h${hoursOf(window.start)} ${quantity} = ${total}`);
}

function hoursOf(at: Instant): number {
  return (at - PERIOD.start) / HOUR_MS;
}
