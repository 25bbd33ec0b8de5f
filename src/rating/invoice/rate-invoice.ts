/** The lines of a usage invoice: of usage products, and of the composite products that count them. Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { rateComposites } from '../composites/rate-composites.ts';
import { createSpendCollector, type SpendCollector } from '../composites/spend-collector.ts';
import type {
  CompositeOnCard,
  MeteredUsage,
  RatedKeys,
  UsageLine,
  UsageRating,
  UsageRatingInput,
  WindowAmount,
} from '../types.ts';
import { versionAt } from '../usage/product-spans.ts';
import { windowBoundaries } from './breakdown.ts';
import { createLineCollector } from './line-collector.ts';
import { sortProducts } from './product-order.ts';
import { rateKeys, rateKeysByProduct } from './rate-usage.ts';

/** Everything that an invoice is rated from, except usage. */
export interface InvoiceTermsInput extends Omit<UsageRatingInput, 'usage'> {
  readonly composites: readonly CompositeOnCard[];
  /** The value of one custom unit in the currency. */
  readonly worths: ReadonlyMap<string, Decimal>;
}

export interface InvoiceRatingInput extends InvoiceTermsInput {
  readonly usage: readonly MeteredUsage[];
}

/**
 * Rates the usage of one invoice part by part, and then its composite products.
 *
 * Composites are computed from hours, so with composites on the card usage is rated by the hour, whatever windows
 * `boundaries` ask for. The lines do not depend on that.
 */
export interface InvoiceRater {
  /** The lines of some line keys, product by product; see `rateKeys`. All must be taken. */
  rate(usage: readonly MeteredUsage[], groupedBy?: readonly string[] | null): Iterable<RatedKeys>;
  /**
   * The lines of the composites, when all usage is rated, with hourly windows. They count the products that are
   * on the invoice, whose usage lines are `lines` in invoice order.
   */
  composites(lines: readonly UsageLine[], isOnInvoice?: (productId: string) => boolean): UsageLine[];
}

export function createInvoiceRater(input: InvoiceTermsInput): InvoiceRater {
  const { composites, period, boundaries } = input;
  if (composites.length === 0) {
    return {
      rate: (usage, groupedBy) => rateKeysByProduct({ ...input, usage }, groupedBy),
      composites: () => [],
    };
  }
  const billed = spentIn(input, { start: period.start, end: period.end });
  const earlier =
    period.countedFrom === period.start
      ? null
      : spentIn(input, { start: period.countedFrom, end: period.start });
  return {
    rate(usage, groupedBy) {
      earlier?.rate(usage, groupedBy);
      return billed
        .rate(usage, groupedBy)
        .map((keys) => ({ ...keys, lines: keys.lines.map((line) => inWindows(line, boundaries)) }));
    },
    composites: (lines, isOnInvoice = () => true) =>
      rateComposites({
        ...input,
        billed: { ...billed.of(isOnInvoice), lines },
        earlier: earlier?.of(isOnInvoice) ?? null,
      }),
  };
}

/** The lines in invoice order, and warnings for usage without a price. */
export function rateInvoice(input: InvoiceRatingInput): UsageRating {
  const rater = createInvoiceRater(input);
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  collector.add([...rater.rate(input.usage)]);
  const { lines, warnings } = collector.result();
  const composites = rater.composites(lines).map((line) => inWindows(line, input.boundaries));
  return { lines: inProductOrder([...lines, ...composites], input), warnings };
}

/** Rates by the hour and adds up what the products charge in `interval`. */
function spentIn(input: InvoiceTermsInput, interval: Interval) {
  const boundaries = windowBoundaries(interval, 'hour');
  const collector: SpendCollector = createSpendCollector();
  return {
    rate(usage: readonly MeteredUsage[], groupedBy?: readonly string[] | null): RatedKeys[] {
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

/** The line with its hourly windows joined to those between the boundaries. */
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
export function inProductOrder(
  lines: readonly UsageLine[],
  { products, composites, period, productOrder }: InvoiceTermsInput,
): UsageLine[] {
  const byProduct = groupBy(lines, ({ productId }) => productId);
  const named = [...products, ...composites].map(({ product }) => ({
    id: product.id,
    name: versionAt(product, period.end - 1).name,
  }));
  return sortProducts(named, productOrder).flatMap(({ id }) => byProduct.get(id) ?? []);
}
