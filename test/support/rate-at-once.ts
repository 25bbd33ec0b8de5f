/** Rates a whole invoice at once. The service rates it part by part, with the same functions. */
import { type BalanceBook, NO_BALANCES } from '../../src/rating/balances/balance-book.ts';
import { type Coverage, coverSegments } from '../../src/rating/balances/coverage.ts';
import type { CoveredClaim } from '../../src/rating/balances/draw-down.ts';
import { coveredLines } from '../../src/rating/invoices/charged-keys.ts';
import { createLineCollector } from '../../src/rating/invoices/line-collector.ts';
import {
  type CountedCharges,
  createInvoiceRater,
  type InvoiceTermsInput,
  inProductOrder,
  inWindows,
  withCovered,
} from '../../src/rating/invoices/rate-invoice.ts';
import { rateKeys } from '../../src/rating/invoices/rate-usage.ts';
import type { UsageRating, UsageRatingInput } from '../../src/rating/lines/types.ts';
import type { MeteredUsage } from '../../src/rating/quantities/usage-need.ts';

export interface InvoiceRatingInput extends InvoiceTermsInput {
  readonly usage: readonly MeteredUsage[];
  /** Charges that composites count and that have no lines here. Default: none. */
  readonly charges?: CountedCharges;
}

/** An invoice with the amounts that it takes from balances. */
export interface DrawnInvoice extends UsageRating {
  /** The coverage of its lines. */
  readonly coverage: Coverage;
  readonly covered: readonly CoveredClaim[];
}

/** The lines in invoice order, and warnings for usage without a price. Draws on the book. */
export function rateInvoice(input: InvoiceRatingInput, book: BalanceBook = NO_BALANCES): DrawnInvoice {
  const rater = createInvoiceRater(input);
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  const rated = [...rater.rate(input.usage)];
  collector.add(rated);
  const { lines: base, warnings } = collector.result();
  const composites = rater.composites(base, undefined, input.charges);
  const buckets = input.buckets ?? [];
  const { coverage, covered } = coverSegments(
    [...rated.flatMap(({ claims }) => claims), ...composites.claims(buckets)],
    book,
  );
  const claiming = rated.flatMap((keys) => keys.claiming);
  const paid = claiming.flatMap((key) => coveredLines(key, coverage, input.boundaries));
  const usage = withCovered(base, paid, coverage);
  const lines = [...usage, ...composites.lines(coverage).map((line) => inWindows(line, input.boundaries))];
  return { lines: inProductOrder(lines, input), warnings, coverage, covered };
}

/**
 * The lines of a usage invoice in invoice order, and warnings for usage without a price. Pure. Throws if the
 * input is inconsistent (usage missing, steps outside the period), which is a bug of the caller.
 */
export function rateUsage(input: UsageRatingInput): UsageRating {
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  collector.add(rateKeys(input));
  const { lines, warnings } = collector.result();
  return { lines, warnings };
}
