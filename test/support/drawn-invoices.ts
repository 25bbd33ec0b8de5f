/** The invoice of a drawdown case from the rating engine, and who pays for what on it, as the naive engine says it. */
import { type Decimal, decimal } from '../../src/core/decimal.ts';
import { isAppliedLine, isConversionLine, isSubscriptionLine } from '../../src/core/invoice.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import { type BalanceBook, createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { deductionsOf } from '../../src/rating/balances/draw-down.ts';
import { invoiceTotal, type WindowSize, windowBoundaries } from '../../src/rating/invoices/breakdown.ts';
import type { RatedConversionLine, RatedSubscriptionLine, UsageLine } from '../../src/rating/lines/types.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { conversionLines } from '../../src/rating/usage/cpu-conversion.ts';
import type { DrawdownCase } from './drawdown-cases.ts';
import type { PaidHour } from './naive/drawdown.ts';
import { fraction } from './naive/fractions.ts';
import { naivePairs } from './naive/rates.ts';
import { type DrawnInvoice, type InvoiceRatingInput, rateInvoice } from './rate-at-once.ts';
import { fixed } from './rating-scenarios.ts';

export type ChargedLine = UsageLine | RatedSubscriptionLine;

export interface DrawnCase<Line extends ChargedLine = UsageLine> {
  readonly lines: readonly (Line | RatedConversionLine)[];
  readonly deductions: ReadonlyMap<string, Decimal>;
  readonly total: Decimal;
}

/** Draws on the book; one with the balances of the case unless given. */
export function drawnInvoice(
  given: DrawdownCase,
  size: WindowSize = 'hour',
  book: BalanceBook = createBalanceBook(given.buckets),
): DrawnCase {
  const buckets = book.bucketsOf('contract', given.period);
  const input = { ...ratingInput(given, size), buckets };
  return withConversions(given, input, rateInvoice(input, book), book);
}

interface CoveredLines<Line> extends Pick<DrawnInvoice, 'covered'> {
  readonly lines: readonly Line[];
}

/** The invoice with the amounts, in the currency, of its lines in custom units. */
export function withConversions<Line extends ChargedLine>(
  { currency: fiatCreditTypeId, period }: DrawdownCase,
  { boundaries, worths, buckets = [] }: InvoiceRatingInput,
  rated: CoveredLines<Line>,
  book: BalanceBook,
): DrawnCase<Line> {
  const converted = conversionLines({
    ...{ lines: rated.lines, fiatCreditTypeId, period, boundaries, buckets, book },
    conversions: new Map(
      [...worths].map(([name, fiatPerCustomCredit]) => [name, { name, fiatPerCustomCredit }]),
    ),
  });
  const lines = [...rated.lines, ...converted.lines];
  const deductions = deductionsOf([...rated.covered, ...converted.covered]);
  return {
    lines,
    deductions: new Map(deductions.map(({ bucket, amount }) => [bucket.segmentId, amount])),
    total: invoiceTotal(lines, fiatCreditTypeId),
  };
}

export function ratingInput(given: DrawdownCase, size: WindowSize): InvoiceRatingInput {
  const { period, products, composites, overrides, prioritization } = given;
  return {
    period,
    boundaries: windowBoundaries(period, size),
    products: products.map(({ product, rateEntries }) => ({ product, rates: rateBook(rateEntries) })),
    composites: composites.map(({ product, rateEntries }) => ({ product, rates: rateBook(rateEntries) })),
    worths: new Map([...given.worths].map(([unit, worth]) => [unit, decimal(fixed(worth, 2))])),
    usage: products.map(({ product, usage }) => ({
      billableMetricId: product.versions[0]?.billableMetricId ?? '',
      groupKeys: Object.keys({ ...usage[0]?.pricing, ...usage[0]?.presentation }).sort(),
      evaluatedAt: 'hour' as const,
      usageFilter: null,
      series: usage.map((one) => seriesOf(given, one)),
    })),
    overrides: { overrides, prioritization },
    usageFilters: [],
    fiatCreditTypeId: given.currency,
    productOrder: [],
  };
}

function seriesOf(
  { period }: DrawdownCase,
  { pricing, presentation, values }: DrawdownCase['products'][number]['usage'][number],
): UsageSeries {
  const ends = windowBoundaries(period, 'hour').slice(1);
  const steps = ends.map((at, index) => ({ at, value: decimal(fixed(values[index] ?? 0, 2)) }));
  return { groupValues: { ...pricing, ...presentation }, steps };
}

/** The windows of the lines, without those that take back what balances pay for. */
export function paidWindows({ lines }: DrawnCase<ChargedLine>): PaidHour[] {
  return lines
    .filter((line) => !isAppliedLine(line))
    .flatMap((line) =>
      line.windows.map(({ window, quantity, total }) => ({
        line: lineText(line),
        segmentId: line.payer?.segmentId ?? null,
        creditTypeId: line.creditTypeId,
        at: window.start,
        quantity: fraction(quantity),
        total: fraction(total),
      })),
    );
}

/** The key of a line with its tier. */
export function lineText(line: ChargedLine | RatedConversionLine): string {
  if (isConversionLine(line)) return `conversion ${line.convertedCreditTypeId} 0`;
  if (isSubscriptionLine(line)) return `${line.productId} charges ${line.tier?.level ?? 0}`;
  const { productId, pricingGroupValues, presentationGroupValues, tier, type } = line;
  if (type === 'minimum') return `${productId} minimum 0`;
  return `${productId} ${naivePairs(pricingGroupValues)} ${naivePairs(presentationGroupValues)} ${tier?.level ?? 0}`;
}
