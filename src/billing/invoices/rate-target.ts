/**
 * Computes the lines of one invoice from metered usage and terms, for drafts, finalization and late usage.
 *
 * Line keys do not depend on each other, so usage that is too large for memory is rated slice by slice: of each line
 * only what the invoice shows is kept. The hours of such lines, which are frozen when the invoice is issued, are
 * computed by a second pass over the slices.
 */
import type { Refusal } from '../../core/errors.ts';
import { afterOtherWork, eachInChunks } from '../../core/in-chunks.ts';
import type { InvoiceWarning } from '../../core/invoice.ts';
import { INVOICE_LINES_MAX_DEFAULT } from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { type BalanceBook, type Deduction, NO_BALANCES } from '../../rating/balances/balance-book.ts';
import { type ClaimedSegment, coverSegments } from '../../rating/balances/coverage.ts';
import { deductionsOf } from '../../rating/balances/draw-down.ts';
import { offeredBalances } from '../../rating/balances/offered-balances.ts';
import { type WindowSize, windowBoundaries } from '../../rating/invoice/breakdown.ts';
import { type ChargedKey, coveredLines, linesOfKey } from '../../rating/invoice/charged-keys.ts';
import { createLineCollector, type UnlistedProduct } from '../../rating/invoice/line-collector.ts';
import {
  type CountedCharges,
  createInvoiceRater,
  type InvoiceTermsInput,
  inProductOrder,
  inWindows,
  NO_CHARGES,
  withCovered,
  withLater,
} from '../../rating/invoice/rate-invoice.ts';
import type { RatedLine, RatedSubscriptionLine, UsageLine } from '../../rating/lines/types.ts';
import { usageNeeds } from '../../rating/quantities/product-spans.ts';
import { chargeClaims, chargeLines, type PricedCharge } from '../../rating/scheduled/charge-lines.ts';
import { conversionLines } from '../../rating/usage/cpu-conversion.ts';
import { filterWarnings } from './filter-warnings.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from './invoice-context.ts';
import { ratedProducts } from './priced-card.ts';
import {
  chargesToCount,
  issuedChargeLines,
  joinedCharges,
  joinedLines,
  NOTHING_JOINED,
  windowOfJoined,
} from './scheduled/joined-lines.ts';
import { type LineHours, slicedHours } from './sliced-hours.ts';
import { isTooLarge, needGroups, readGroups, seriesOf } from './target-usage.ts';
import type { UsageAnswers } from './usage-answers.ts';
import { createUsageNotes } from './usage-notes.ts';
import { meteredUsage } from './usage-slices.ts';

export interface RatedTarget {
  /** In the order of the invoice. */
  readonly lines: readonly RatedLine[];
  /** What it takes from balances: what its applied lines take back. */
  readonly deductions: readonly Deduction[];
  /** Those that may pay for something on it, as it found them, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
  readonly warnings: readonly InvoiceWarning[];
  /** Why metrics could not be evaluated. Products that need one of them have no lines. */
  readonly problems: readonly Refusal[];
  /** Products with too many lines, which have none. */
  readonly unlisted: readonly UnlistedProduct[];
  /** The hours of the lines, by position; null where the lines have them as their windows. */
  readonly hours: (() => AsyncIterable<readonly LineHours[]>) | null;
}

/** Which windows lines record: one for the whole period where the size is null. */
export interface RecordedWindows {
  readonly size: WindowSize | null;
  /** Only windows in this time are needed; the others may be joined. Null for all. */
  readonly within: Interval | null;
  /**
   * Default: everything. `lines`: without the balances that it found. `deductions`: only what it takes from balances,
   * with lines and warnings as they come.
   */
  readonly wanted?: 'lines' | 'deductions';
}

export interface RateDeps {
  readonly clickhouse: ClickHouse;
  /** Default: `INVOICE_LINES_MAX_DEFAULT`. */
  readonly invoiceLinesMax?: number;
}

/** The terms of a target cannot be rated, which is a bug. Unlike a failure to read usage, it is its own alone. */
export class UnratableError extends Error {
  override readonly name = 'UnratableError';
}

/** Computes an invoice of a customer with balances: what it takes from them it takes from the book. */
export async function rateTarget(
  deps: RateDeps,
  target: UsageTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windows: RecordedWindows,
  book: BalanceBook = NO_BALANCES,
): Promise<RatedTarget> {
  const linesMax = deps.invoiceLinesMax ?? INVOICE_LINES_MAX_DEFAULT;
  const { contract, period } = target;
  const groups = rated(() => needGroups(target, context));
  const isSliced = groups.some((group) => isTooLarge(group, target, usage));
  const hasLaterHours = isSliced && windows.size === 'hour' && windows.within === null;
  const card = cardOf(context, contract);
  const { terms, conversions } = card;
  // Composites count what lines cost before drawdown.
  const isAfterDrawdown = !isSliced && card.composites.length === 0;
  const buckets = book.bucketsOf(contract.id, period);
  const balances = windows.wanted === undefined ? offeredBalances(buckets, book) : [];
  const boundaries = boundariesOf(period, hasLaterHours ? null : windows.size, windows.within);
  const input = rated(() => ({
    ...ratingInput(target, context, boundaries, isSliced ? null : seriesOf(groups, target, usage)),
    buckets,
    isAfterDrawdown,
  }));
  const rater = rated(() => createInvoiceRater(input));
  const joined = context.joined.get(contract.id) ?? NOTHING_JOINED;
  const charges = rated(() => joinedCharges(joined, period));
  const notes = createUsageNotes(context, period);
  const read = () => readGroups(deps.clickhouse, target, context, usage, groups);
  const collector = createLineCollector(linesMax);
  const claims: ClaimedSegment[] = [];
  const claiming: ChargedKey[] = [];
  for await (const { groupKeys, answers } of read()) {
    notes.add(answers);
    for (const keys of eachRated(rated(() => rater.rate(meteredUsage(answers), groupKeys)))) {
      collector.add([keys]);
      for (const claim of keys.claims) claims.push(claim);
      // Slices are read and rated again: what they charge is too much to keep.
      if (!isSliced) for (const key of keys.claiming) claiming.push(key);
      await afterOtherWork();
    }
  }
  const base = rated(() => {
    const collected = collector.result();
    const failed = productsWith(notes.failedMetrics(), target, context);
    const unlisted = collected.unlisted.filter(({ productId }) => !failed.has(productId));
    const missing = new Set([...failed, ...unlisted.map(({ productId }) => productId)]);
    const isOnInvoice = ({ productId }: { readonly productId: string }) => !missing.has(productId);
    const usageLines = collected.lines.filter(isOnInvoice);
    const composites = rater.composites(
      usageLines,
      (productId) => !missing.has(productId),
      countedCharges(target, context, charges),
    );
    const subscribed = chargeClaims(charges, joined.prices, contract.id, book);
    const drawdown = coverSegments(
      [...claims.filter(isOnInvoice), ...subscribed, ...composites.claims(buckets)],
      book,
    );
    const later = claiming.filter(({ priced }) => isOnInvoice({ productId: priced.product.id }));
    const unpriced = collected.warnings.filter(isOnInvoice);
    return { usageLines, unlisted, unpriced, composites, drawdown, later };
  });
  await afterOtherWork();
  const { coverage, covered } = base.drawdown;
  // The lines of a conversion are added up before balances pay for it.
  if (windows.wanted === 'deductions' && conversions.size === 0) {
    return {
      ...{ lines: [], deductions: deductionsOf(covered), balances, warnings: [], hours: null },
      ...{ unlisted: base.unlisted, problems: notes.problems() },
    };
  }
  const paidLines: UsageLine[] = [];
  await eachInChunks(base.later, (key) => {
    const own = rated(() =>
      isAfterDrawdown
        ? linesOfKey(key, coverage.get(key.text) ?? [], boundaries)
        : coveredLines(key, coverage, boundaries),
    );
    for (const line of own) paidLines.push(line);
  });
  if (isSliced && coverage.size > 0) {
    for await (const { groupKeys, answers } of read()) {
      const again = rated(() => rater.rateCovered(coverage, meteredUsage(answers), groupKeys));
      for (const keys of eachRated(again)) {
        for (const line of keys.lines) paidLines.push(line);
        await afterOtherWork();
      }
    }
  }
  return rated(() => {
    const composites = base.composites.lines(coverage);
    const lastWindow = windowOfJoined(period, input.boundaries);
    const ordered = inProductOrder<UsageLine | RatedSubscriptionLine>(
      [
        ...(isAfterDrawdown
          ? withLater(base.usageLines, paidLines)
          : withCovered(base.usageLines, paidLines, coverage)),
        ...composites.map((line) => inWindows(line, input.boundaries)),
        ...chargeLines(charges, joined.prices, coverage, lastWindow),
      ],
      input,
      charges.flatMap(({ charge }) => joined.prices?.productOf(charge) ?? []),
    );
    const lines = [...ordered, ...issuedChargeLines(joined, lastWindow)];
    const { fiatCreditTypeId } = terms;
    const converted = conversionLines({
      ...{ lines, fiatCreditTypeId, conversions, period, boundaries: input.boundaries },
      ...{ buckets, book },
    });
    const all = [...joinedLines(joined.items, period, input.boundaries), ...lines, ...converted.lines];
    return {
      lines: all,
      deductions: deductionsOf([...covered, ...converted.covered]),
      balances,
      unlisted: base.unlisted,
      problems: notes.problems(),
      warnings: [
        ...notes.warnings(),
        ...tooManyLines(base.unlisted, period, linesMax),
        ...filterWarnings(card.products, input.usageFilters, context.metrics, period),
        ...base.unpriced,
      ],
      hours: hasLaterHours
        ? () =>
            slicedHours(
              { lines: all, composites, conversions: converted.paid },
              { ...ratingInput(target, context, windowBoundaries(period, 'hour')), coverage },
              read(),
            )
        : null,
    };
  });
}

/** Runs a pure calculation. */
function rated<Result>(calculate: () => Result): Result {
  try {
    return calculate();
  } catch (error) {
    throw new UnratableError('the terms of an invoice cannot be rated', { cause: error });
  }
}

/** The parts of a calculation, each made when it is asked for. */
function* eachRated<Part>(parts: Iterable<Part>): Generator<Part, void, undefined> {
  const iterator = parts[Symbol.iterator]();
  for (;;) {
    const next = rated(() => iterator.next());
    if (next.done === true) return;
    yield next.value;
  }
}

/** The charges of subscriptions that composites count. */
function countedCharges(
  { contract, period }: UsageTarget,
  context: InvoiceContext,
  charges: readonly PricedCharge[],
): CountedCharges {
  const { terms, composites } = cardOf(context, contract);
  const { compositesCountSubscriptions } = termsOf(context, contract);
  if (composites.length === 0 || !compositesCountSubscriptions) return NO_CHARGES;
  const joined = context.joined.get(contract.id) ?? NOTHING_JOINED;
  return chargesToCount(
    joined,
    charges,
    terms.subscriptions.map(({ product }) => product),
    period,
  );
}

/** What rating needs besides usage. `usage` null: for whatever usage there may be. */
function ratingInput(
  { contract, period }: UsageTarget,
  context: InvoiceContext,
  boundaries: readonly Instant[],
  usage: readonly UsageSeries[] | null = null,
): InvoiceTermsInput {
  const card = cardOf(context, contract);
  const { terms, composites, conversions } = card;
  const { overrides, multiplierPrioritization, usageFilters } = termsOf(context, contract);
  const products = usage === null ? card.products : ratedProducts(card, overrides, usage);
  return {
    period,
    boundaries,
    products,
    composites,
    worths: new Map([...conversions].map(([unit, one]) => [unit, one.fiatPerCustomCredit])),
    usageFilters,
    fiatCreditTypeId: terms.fiatCreditTypeId,
    productOrder: terms.productOrder,
    overrides: { overrides, prioritization: multiplierPrioritization },
  };
}

function boundariesOf(
  period: Interval,
  size: WindowSize | null,
  within: Interval | null,
): readonly Instant[] {
  const { start, end } = period;
  if (size === null) return [start, end];
  const all = windowBoundaries(period, size);
  if (within === null) return all;
  return all.filter((at) => at === start || at === end || (at >= within.start && at <= within.end));
}

function productsWith(metricIds: ReadonlySet<string>, target: UsageTarget, context: InvoiceContext) {
  if (metricIds.size === 0) return new Set<string>();
  const { usageFilters } = termsOf(context, target.contract);
  const products = cardOf(context, target.contract).products.map(({ product }) => product);
  return new Set(
    products
      .filter((product) =>
        usageNeeds(product, target.period, usageFilters).some((need) => metricIds.has(need.billableMetricId)),
      )
      .map(({ id }) => id),
  );
}

function tooManyLines(
  unlisted: readonly UnlistedProduct[],
  { start, end }: Interval,
  lineCountMax: number,
): InvoiceWarning[] {
  return unlisted.map((product) => ({
    kind: 'too_many_lines',
    ...product,
    interval: { start, end },
    lineCountMax,
  }));
}
