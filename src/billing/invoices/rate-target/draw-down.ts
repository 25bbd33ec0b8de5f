/** The second step of rating: balances pay for usage, charges of subscriptions and composites. Pure. */
import { coverSegments } from '../../../rating/balances/coverage.ts';
import type { ChargedKey } from '../../../rating/invoices/charged-keys.ts';
import type { UnlistedProduct } from '../../../rating/invoices/line-collector.ts';
import { type CountedCharges, type InvoiceRater, NO_CHARGES } from '../../../rating/invoices/rate-invoice.ts';
import type { UsageLine, UsageRating } from '../../../rating/lines/types.ts';
import { usageNeeds } from '../../../rating/quantities/product-spans.ts';
import { chargeClaims } from '../../../rating/scheduled/charge-lines.ts';
import { chargesToCount } from '../scheduled/joined-lines.ts';
import { termsOf } from '../terms/invoice-context.ts';
import type { CollectedUsage } from './collect-usage.ts';
import type { RatingPlan } from './plan-rating.ts';

/** The content of the invoice, and the payers. */
export interface DrawnUsage extends ReturnType<typeof coverSegments> {
  readonly usageLines: readonly UsageLine[];
  readonly composites: ReturnType<InvoiceRater['composites']>;
  /** The keys whose lines are still to be computed. */
  readonly later: readonly ChargedKey[];
  /** Products with too many lines, which have none. */
  readonly unlisted: readonly UnlistedProduct[];
  readonly unpriced: UsageRating['warnings'];
}

/** Deducts the paid amounts from the book. Products whose metric failed, or with too many lines, are left out. */
export function drawDown(
  plan: RatingPlan,
  { collected, claims, claiming, notes }: CollectedUsage,
): DrawnUsage {
  const { book, buckets, charges, joined, rater, target } = plan;
  const failed = productsWith(notes.failedMetrics(), plan);
  const unlisted = collected.unlisted.filter(({ productId }) => !failed.has(productId));
  const missing = new Set([...failed, ...unlisted.map(({ productId }) => productId)]);
  const isOnInvoice = ({ productId }: { readonly productId: string }) => !missing.has(productId);
  const usageLines = collected.lines.filter(isOnInvoice);
  const composites = rater.composites(
    usageLines,
    (productId) => !missing.has(productId),
    countedCharges(plan),
  );
  const subscribed = chargeClaims(charges, joined.prices, target.contract.id, book);
  const claimed = [...claims.filter(isOnInvoice), ...subscribed, ...composites.claims(buckets)];
  return {
    ...coverSegments(claimed, book),
    ...{ usageLines, composites, unlisted },
    later: claiming.filter(({ priced }) => isOnInvoice({ productId: priced.product.id })),
    unpriced: collected.warnings.filter(isOnInvoice),
  };
}

/** The charges of subscriptions that composites count. */
function countedCharges({ target, context, card, joined, charges }: RatingPlan): CountedCharges {
  const { compositesCountSubscriptions } = termsOf(context, target.contract);
  if (card.composites.length === 0 || !compositesCountSubscriptions) return NO_CHARGES;
  return chargesToCount(
    joined,
    charges,
    card.terms.subscriptions.map(({ product }) => product),
    target.period,
  );
}

function productsWith(metricIds: ReadonlySet<string>, { target, context, card }: RatingPlan): Set<string> {
  if (metricIds.size === 0) return new Set();
  const { usageFilters } = termsOf(context, target.contract);
  const failed = card.products.filter(({ product }) =>
    usageNeeds(product, target.period, usageFilters).some((need) => metricIds.has(need.billableMetricId)),
  );
  return new Set(failed.map(({ product }) => product.id));
}
