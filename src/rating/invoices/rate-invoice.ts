/** The lines of a usage invoice: of usage products, and of the composite products that count them. Pure. */
import type { Product } from '../../core/catalogue.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { Coverage } from '../balances/coverage.ts';
import type { BilledSpend } from '../composites/composite-lines.ts';
import { type RatedComposites, rateComposites } from '../composites/rate-composites.ts';
import { createSpendCollector, type SpendCollector, type SpentLine } from '../composites/spend-collector.ts';
import type { CompositeOnCard, UsageLine, WindowAmount } from '../lines/types.ts';
import { versionAt } from '../quantities/product-spans.ts';
import type { MeteredUsage } from '../quantities/usage-need.ts';
import { lineKeyText } from '../usage/usage-claims.ts';
import { windowBoundaries } from './breakdown.ts';
import { inLineOrder } from './line-collector.ts';
import { sortProducts } from './product-order.ts';
import { type ClaimingKeys, type DrawnUsageInput, rateKeys, rateKeysByProduct } from './rate-usage.ts';

/** Everything that an invoice is rated from, except usage. */
export interface InvoiceTermsInput extends Omit<DrawnUsageInput, 'usage'> {
  readonly composites: readonly CompositeOnCard[];
  /** The value of one custom unit in the currency. */
  readonly worths: ReadonlyMap<string, Decimal>;
}

/**
 * Rates the usage of one invoice part by part, and then its composite products.
 *
 * Composites are computed from hours, so with composites on the card usage is rated by the hour, independent of the
 * windows in `boundaries`. The lines do not depend on that.
 */
export interface InvoiceRater {
  /** The lines of some line keys, product by product; see `rateKeys`. The caller must consume all of them. */
  rate(usage: readonly MeteredUsage[], groupedBy?: readonly string[] | null): Iterable<ClaimingKeys>;
  /** Recomputes the lines of covered keys, for usage that was not kept. */
  rateCovered(
    coverage: Coverage,
    usage: readonly MeteredUsage[],
    groupedBy?: readonly string[] | null,
  ): Iterable<ClaimingKeys>;
  /**
   * The composites, after all usage is rated; their lines have hourly windows. Their base is the cost of the products
   * on the invoice before balances, whose usage lines are `lines` in invoice order, and the charges of subscriptions on
   * it.
   */
  composites(
    lines: readonly UsageLine[],
    isOnInvoice?: (productId: string) => boolean,
    charges?: CountedCharges,
  ): RatedComposites;
}

/** Charges of subscriptions as composites count them. */
export interface CountedCharges {
  /** Charges before balances pay, each in the last hour of its invoice. */
  readonly billed: readonly SpentLine[];
  /** Charges in the counted time before the invoice, which are on another invoice. */
  readonly earlier: readonly SpentLine[];
  /** The products of all these charges. */
  readonly products: readonly Product[];
}

export const NO_CHARGES: CountedCharges = { billed: [], earlier: [], products: [] };

const NO_COMPOSITES: RatedComposites = { lines: () => [], claims: () => [] };

export function createInvoiceRater(input: InvoiceTermsInput): InvoiceRater {
  const { composites, period, boundaries } = input;
  const rateCovered: InvoiceRater['rateCovered'] = (coverage, usage, groupedBy) =>
    rateKeysByProduct({ ...input, buckets: [], coverage, isCoveredOnly: true, usage }, groupedBy);
  if (composites.length === 0) {
    return {
      rate: (usage, groupedBy) => rateKeysByProduct({ ...input, usage }, groupedBy),
      rateCovered,
      composites: () => NO_COMPOSITES,
    };
  }
  const billed = spentIn(input, { start: period.start, end: period.end });
  const earlier =
    period.countedFrom === period.start
      ? null
      : spentIn({ ...input, buckets: [] }, { start: period.countedFrom, end: period.start });
  return {
    rateCovered,
    rate(usage, groupedBy) {
      earlier?.rate(usage, groupedBy);
      return billed
        .rate(usage, groupedBy)
        .map((keys) => ({ ...keys, lines: keys.lines.map((line) => inWindows(line, boundaries)) }));
    },
    composites: (lines, isOnInvoice = () => true, charges = NO_CHARGES) =>
      rateComposites({
        ...input,
        subscribed: charges.products,
        billed: {
          ...withCharges(billed.of(isOnInvoice), charges.billed),
          lines: [...lines, ...charges.billed],
        },
        earlier: earlier === null ? null : withCharges(earlier.of(isOnInvoice), charges.earlier),
      }),
  };
}

/** The charges of usage and subscriptions. No product is charged as both. */
function withCharges(spend: BilledSpend, charges: readonly SpentLine[]): BilledSpend {
  const collector = createSpendCollector();
  collector.add(charges);
  return { ...spend, spends: [...spend.spends, ...collector.spends(() => true)] };
}

/** Replaces the lines of covered line keys, product by product. */
export function withCovered(
  lines: readonly UsageLine[],
  covered: readonly UsageLine[],
  coverage: Coverage,
): UsageLine[] {
  if (covered.length === 0) return [...lines];
  const others = lines.filter((line) => !coverage.has(lineKeyText(line)));
  const byProduct = groupBy([...others, ...covered], ({ productId }) => productId);
  const productIds = new Set(lines.map(({ productId }) => productId));
  return [...productIds].flatMap((id) => inLineOrder(byProduct.get(id) ?? []));
}

/** Adds the lines of further line keys of these products, product by product. */
export function withLater(lines: readonly UsageLine[], later: readonly UsageLine[]): UsageLine[] {
  if (later.length === 0) return [...lines];
  const byProduct = groupBy([...lines, ...later], ({ productId }) => productId);
  return [...byProduct.values()].flatMap(inLineOrder);
}

/** Rates by the hour and sums the charges of the products in `interval`. */
function spentIn(input: InvoiceTermsInput, interval: Interval) {
  const boundaries = windowBoundaries(interval, 'hour');
  const collector: SpendCollector = createSpendCollector();
  return {
    rate(usage: readonly MeteredUsage[], groupedBy?: readonly string[] | null): ClaimingKeys[] {
      const rated = rateKeys({ ...input, boundaries, usage }, groupedBy, interval);
      for (const { lines } of rated) collector.add(lines);
      return rated;
    },
    of: (counts: (productId: string) => boolean) => ({
      interval,
      boundaries,
      spends: collector.spends(counts),
    }),
  };
}

/** The line with its hourly windows merged to those between the boundaries. */
export function inWindows(line: UsageLine, boundaries: readonly Instant[]): UsageLine {
  const windows: WindowAmount[] = [];
  let next = 1;
  for (const { window, quantity, total } of line.windows) {
    while ((boundaries[next] ?? window.end) < window.end) next += 1;
    const [start, end] = [boundaries[next - 1] ?? window.start, boundaries[next] ?? window.end];
    const last = windows.at(-1);
    if (last?.window.start !== start) windows.push({ window: { start, end }, quantity: ZERO, total: ZERO });
    const sum = windows.at(-1);
    if (sum === undefined) continue;
    windows[windows.length - 1] = {
      ...sum,
      quantity: sum.quantity.plus(quantity),
      total: sum.total.plus(total),
    };
  }
  return { ...line, windows };
}

/** Lines of one product keep their order. */
export function inProductOrder<Line extends { readonly productId: string }>(
  lines: readonly Line[],
  { products, composites, period, productOrder }: InvoiceTermsInput,
  subscribed: readonly Product[] = [],
): Line[] {
  const byProduct = groupBy(lines, ({ productId }) => productId);
  const all = [...[...products, ...composites].map(({ product }) => product), ...new Set(subscribed)];
  const named = all.map((product) => ({
    id: product.id,
    name: versionAt(product, period.end - 1).name,
  }));
  return sortProducts(named, productOrder).flatMap(({ id }) => byProduct.get(id) ?? []);
}
