/** Builders for drawdown tests: a small invoice with balances, and what is on it as text. */
import type { CompositeVersion, RateEntry } from '../../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import { isConversionLine } from '../../../../src/core/invoice.ts';
import { ANY_USAGE, type Applicability } from '../../../../src/core/terms/applicability.ts';
import type { CommitType } from '../../../../src/core/terms/commits.ts';
import type { Override } from '../../../../src/core/terms/overrides.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import type { UsageSeries } from '../../../../src/core/usage-series.ts';
import { createBalanceBook } from '../../../../src/rating/balances/balance-book.ts';
import { deductionsOf } from '../../../../src/rating/balances/draw-down.ts';
import { invoiceTotal, windowBoundaries } from '../../../../src/rating/invoices/breakdown.ts';
import type { RatedConversionLine, UsageLine } from '../../../../src/rating/lines/types.ts';
import { usageNeeds } from '../../../../src/rating/quantities/product-spans.ts';
import { rateBook } from '../../../../src/rating/rates/rate-schedule.ts';
import { conversionLines } from '../../../../src/rating/usage/cpu-conversion.ts';
import { rateInvoice } from '../../../support/rate-at-once.ts';
import { hour, PERIOD, product, version } from '../fixtures.ts';

export const COINS = 'coins';
export const GEMS = 'gems';
const WORTHS = new Map([
  [COINS, decimal('2.5')],
  [GEMS, decimal('4')],
]);

interface Balance {
  readonly left: string;
  readonly from?: number;
  readonly until?: number;
  readonly type?: CommitType;
  readonly rateType?: 'LIST_RATE' | 'COMMIT_RATE';
  readonly unit?: string;
  readonly pays?: Partial<Applicability>;
}

interface Used {
  readonly versions?: Parameters<typeof product>;
  readonly rates: readonly RateEntry[];
  readonly series: readonly UsageSeries[];
}

export interface InvoiceGiven {
  /** By product id, which is also its name. */
  readonly used: Readonly<Record<string, Used>>;
  readonly composites?: Readonly<
    Record<string, { readonly counts: readonly string[]; readonly rate: RateEntry }>
  >;
  /** By name, in burn-down order. */
  readonly balances: Readonly<Record<string, Balance>>;
  readonly overrides?: readonly Override[];
}

export interface Drawn {
  readonly lines: string[];
  readonly due: string;
  /** By balance. */
  readonly taken: Record<string, string>;
}

export function drawn({ used, composites = {}, balances, overrides = [] }: InvoiceGiven): Drawn {
  const period = { ...PERIOD, countedFrom: PERIOD.start };
  const boundaries = windowBoundaries(PERIOD, 'hour');
  const book = createBalanceBook(Object.entries(balances).map(([name, one]) => bucketOf(name, one)));
  const buckets = book.bucketsOf('contract', PERIOD);
  const products = Object.entries(used).map(([id, { versions, rates }]) => ({
    product: {
      ...product(),
      id,
      versions: (versions ?? [version({ name: id })]).map((one) => ({ ...one, billableMetricId: id })),
    },
    rates: rateBook(rates.map((one) => ({ ...one, productId: id }))),
  }));
  const rated = rateInvoice(
    {
      ...{ period, boundaries, products, buckets },
      composites: Object.entries(composites).map(([id, { counts, rate: entry }]) => ({
        product: { id, type: 'COMPOSITE', archivedAt: null, versions: [compositeVersion(id, counts)] },
        rates: rateBook([{ ...entry, productId: id }]),
      })),
      usage: products.flatMap(({ product: { id, versions, ...rest } }) =>
        usageNeeds({ id, versions, ...rest }, period, []).map((need) => ({
          ...need,
          series: (used[id]?.series ?? []).filter(
            ({ groupValues }) => Object.keys(groupValues).sort().join() === need.groupKeys.join(),
          ),
        })),
      ),
      usageFilters: [],
      overrides: { overrides, prioritization: 'LOWEST_MULTIPLIER' },
      fiatCreditTypeId: USD_CENTS.id,
      worths: WORTHS,
      productOrder: [],
    },
    book,
  );
  const converted = conversionLines({
    ...{ lines: rated.lines, fiatCreditTypeId: USD_CENTS.id, period, boundaries, buckets, book },
    conversions: new Map(
      [...WORTHS].map(([name, fiatPerCustomCredit]) => [name, { name, fiatPerCustomCredit }]),
    ),
  });
  const lines = [...rated.lines, ...converted.lines];
  const taken = deductionsOf([...rated.covered, ...converted.covered]);
  return {
    lines: lines.map(describeLine),
    due: invoiceTotal(lines, USD_CENTS.id).toString(),
    taken: Object.fromEntries(taken.map(({ bucket, amount }) => [bucket.name, amount.toString()])),
  };
}

function bucketOf(name: string, one: Balance) {
  return {
    ...{ id: name, recurringId: null, segmentId: name, name, contractIds: null, source: null },
    rateType: one.rateType ?? 'LIST_RATE',
    commitType: one.type ?? 'PREPAID',
    creditTypeId: one.unit ?? USD_CENTS.id,
    applicability: { ...ANY_USAGE, ...one.pays },
    access: { start: hour(one.from ?? -100), end: hour(one.until ?? 100) },
    left: decimal(one.left),
  };
}

function compositeVersion(id: string, counts: readonly string[]): CompositeVersion {
  return {
    ...version({ billableMetricId: null, sqlBreakdownGranularity: null, name: id }),
    ...{
      compositeProductIds: counts,
      compositeTags: [],
      excludeFreeUsage: false,
      includeCompositeSpend: true,
    },
  };
}

/** `Tokens h0-48 L1 12 @ 0.5 = 6 by A`, and `A applied h0-48 = -6`. */
function describeLine(line: UsageLine | RatedConversionLine): string {
  const hours = [line.interval.start, line.interval.end].map((at) => (at - PERIOD.start) / HOUR_MS).join('-');
  if (line.type === 'applied' || line.type === 'applied_conversion')
    return `${line.name} h${hours} = ${line.total}`;
  const values = isConversionLine(line)
    ? []
    : Object.values({ ...line.pricingGroupValues, ...line.presentationGroupValues });
  const level = isConversionLine(line) || line.tier === null ? [] : [`L${line.tier.level}`];
  const payer = line.payer === null ? [] : ['by', line.payer.segmentId];
  const amounts = [`${line.quantity}`, '@', `${line.unitPrice}`, '=', `${line.total}`];
  return [line.name, `h${hours}`, ...values, ...level, ...amounts, ...payer].join(' ');
}

/** One product without keys at one rate. */
export function simple(entry: RateEntry, ...steps: [atHour: number, value: string][]): Used {
  return {
    rates: [entry],
    series: [
      { groupValues: {}, steps: steps.map(([at, value]) => ({ at: hour(at), value: decimal(value) })) },
    ],
  };
}
