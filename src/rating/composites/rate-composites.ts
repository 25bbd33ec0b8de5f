/**
 * The lines of composite products on a usage invoice: percentages of the charges of other products
 * (docs/explanation/rating.md, "Composite products"). Pure.
 */

import type { Product } from '../../core/catalogue.ts';
import { type Decimal, ONE } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { Bucket } from '../balances/buckets.ts';
import { type ClaimedSegment, type Coverage, NO_COVERAGE } from '../balances/coverage.ts';
import type { CompositeOnCard, ProductOnCard, UsageLine } from '../lines/types.ts';
import { termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import {
  type ChargedComposite,
  type CompositeCharge,
  chargeComposites,
  type MinimumDue,
} from './composite-charges.ts';
import { type BilledLines, type BilledSpend, compositeClaims, compositeLines } from './composite-lines.ts';
import { countingStretches } from './composite-parts.ts';
import { hourlySpend } from './hourly-spend.ts';
import { minimumSpan, percentageOverrides, percentageSpans, pricedComposite } from './percentage-spans.ts';

interface CompositesInput {
  readonly period: BilledPeriod;
  readonly billed: BilledLines;
  /** Usage in the counted time before the billed one; null if there is none. */
  readonly earlier: BilledSpend | null;
  readonly composites: readonly CompositeOnCard[];
  /** The usage products on the card. */
  readonly products: readonly ProductOnCard[];
  /** The products of subscriptions with charges. */
  readonly subscribed: readonly Product[];
  readonly overrides: ContractOverrides;
  readonly fiatCreditTypeId: string;
  /** The value of one custom unit in the currency. */
  readonly worths: ReadonlyMap<string, Decimal>;
}

/** The charges of composites. */
export interface RatedComposites {
  /** The lines of all composites, product by product; within a product by start, pricing unit and tier. */
  lines(coverage: Coverage): UsageLine[];
  /** The parts that the balances may pay for. */
  claims(buckets: readonly Bucket[]): ClaimedSegment[];
}

export function rateComposites(input: CompositesInput): RatedComposites {
  const { composites, products, subscribed, period, billed, earlier, fiatCreditTypeId } = input;
  const counted = { start: period.countedFrom, end: period.end };
  const invoices: readonly BilledSpend[] = earlier === null ? [billed] : [earlier, billed];
  const stretches = countingStretches(
    composites.map(({ product }) => product),
    [...products.map(({ product }) => product), ...subscribed],
    counted,
  );
  const overrides = percentageOverrides(input.overrides);
  const charged = composites.map((one) => chargedComposite(one, invoices, overrides, fiatCreditTypeId));
  const charges = chargeComposites({
    composites: charged,
    stretches,
    hours: hourlySpend(
      invoices.map(({ spends }) => spends),
      charged.flatMap(({ minimumsDue }) => minimumsDue.map(({ window }) => window)),
    ),
    fiatCreditTypeId,
    worthOf: (unit) => worthOf(unit, input),
  });
  const chargeOf = ({ product }: ChargedComposite): CompositeCharge => {
    const charge = charges.get(product.id);
    assert(charge !== undefined, `composite product ${product.id} is charged`);
    return charge;
  };
  const context = { billed, stretches, fiatCreditTypeId };
  return {
    lines: (coverage) =>
      charged.flatMap((one) => compositeLines(one, chargeOf(one), { ...context, coverage })),
    claims: (buckets) =>
      charged.flatMap((one) =>
        compositeClaims(
          one,
          chargeOf(one),
          { ...context, coverage: NO_COVERAGE },
          { buckets, hasCommitSpecificPrices: overrides.hasCommitSpecific },
        ),
      ),
  };
}

/** Rates are cut at the start of the billed time. */
function chargedComposite(
  composite: CompositeOnCard,
  invoices: readonly BilledSpend[],
  overrides: OverrideIndex,
  fiatCreditTypeId: string,
): ChargedComposite {
  const spansOf = ({ interval }: BilledSpend) =>
    percentageSpans(composite, overrides, fiatCreditTypeId, interval);
  const key = pricedComposite(composite.product, fiatCreditTypeId);
  return {
    product: composite.product,
    billedFrom: invoices.at(-1)?.interval.start ?? 0,
    termsFor: (payer, within) => termsSpans(composite.rates, overrides, key, within, payer),
    spans: invoices.flatMap(spansOf),
    minimumsDue: invoices.flatMap((invoice): MinimumDue[] => {
      const span = minimumSpan(spansOf(invoice), invoice.interval);
      return span === undefined ? [] : [{ span, window: lastWindow(span.interval, invoice.boundaries) }];
    }),
  };
}

function worthOf(unit: string, { fiatCreditTypeId, worths }: CompositesInput): Decimal {
  if (unit === fiatCreditTypeId) return ONE;
  const worth = worths.get(unit);
  assert(worth !== undefined, `the rate card converts pricing unit ${unit}`);
  return worth;
}

/** The last window of an interval whose end is one of the ascending `boundaries`. */
function lastWindow({ start, end }: Interval, boundaries: readonly Instant[]): Interval {
  const before = boundaries.findLast((at) => at < end);
  return { start: Math.max(start, before ?? start), end };
}
