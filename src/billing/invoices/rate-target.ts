/**
 * Computes lines from metered usage and terms, for drafts, finalization and late usage. Pure.
 */
import type { InvoiceWarning } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { type WindowSize, windowBoundaries } from '../../rating/invoice/breakdown.ts';
import { rateUsage } from '../../rating/invoice/rate-usage.ts';
import type { MeteredUsage, RatedLine } from '../../rating/types.ts';
import { conversionLines } from '../../rating/usage/cpu-conversion.ts';
import { needKey } from '../../rating/usage/product-spans.ts';
import { cardOf, type InvoiceContext, needsOf, termsOf, type UsageTarget } from './invoice-context.ts';
import type { UsageAnswers } from './usage-answers.ts';

export interface RatedTarget {
  /** In the order of the invoice. */
  readonly lines: readonly RatedLine[];
  readonly warnings: readonly InvoiceWarning[];
}

/** Lines record windows of `windowSize`, or one window for the whole period where it is null. */
export function rateTarget(
  target: UsageTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windowSize: WindowSize | null,
): RatedTarget {
  const { contract, period } = target;
  const { terms, products, conversions } = cardOf(context, contract);
  const { overrides, multiplierPrioritization, usageFilters } = termsOf(context, contract);
  const { lines, warnings } = rateUsage({
    period,
    boundaries: boundariesOf(period, windowSize),
    products,
    usageFilters,
    fiatCreditTypeId: terms.fiatCreditTypeId,
    productOrder: terms.productOrder,
    overrides: { overrides, prioritization: multiplierPrioritization },
    usage: meteredUsage(target, context, usage),
  });
  return {
    lines: [...lines, ...conversionLines(lines, terms.fiatCreditTypeId, conversions, period)],
    warnings,
  };
}

function boundariesOf(period: Interval, windowSize: WindowSize | null): readonly Instant[] {
  return windowSize === null ? [period.start, period.end] : windowBoundaries(period, windowSize);
}

/** One answer per need. A customer without metered usage used nothing. */
function meteredUsage(target: UsageTarget, context: InvoiceContext, usage: UsageAnswers): MeteredUsage[] {
  const { contract, period } = target;
  const byKey = new Map(needsOf(context, target).map((need) => [needKey(need), need]));
  return [...byKey.values()].map((need) => ({
    ...need,
    series: usage.seriesOf({ need, period, customerId: contract.customerId }) ?? [],
  }));
}
