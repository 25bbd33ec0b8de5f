/** The third step of rating: the lines as the invoice shows them, with the parts that balances pay. */
import { afterOtherWork, eachInChunks } from '../../../core/in-chunks.ts';
import type { InvoiceWarning } from '../../../core/invoice.ts';
import type { Interval } from '../../../core/time.ts';
import type { Deduction } from '../../../rating/balances/balance-book.ts';
import { type CoveredClaim, deductionsOf } from '../../../rating/balances/draw-down.ts';
import { windowBoundaries } from '../../../rating/invoices/breakdown.ts';
import { coveredLines, linesOfKey } from '../../../rating/invoices/charged-keys.ts';
import type { UnlistedProduct } from '../../../rating/invoices/line-collector.ts';
import { inProductOrder, inWindows, withCovered, withLater } from '../../../rating/invoices/rate-invoice.ts';
import type { RatedLine, RatedSubscriptionLine, UsageLine } from '../../../rating/lines/types.ts';
import { chargeLines } from '../../../rating/scheduled/charge-lines.ts';
import { conversionLines } from '../../../rating/usage/cpu-conversion.ts';
import { issuedChargeLines, joinedLines, windowOfJoined } from '../scheduled/joined-lines.ts';
import { filterWarnings } from '../terms/filter-warnings.ts';
import { type LineHours, slicedHours } from '../usage/sliced-hours.ts';
import type { UsageNotes } from '../usage/usage-notes.ts';
import { meteredUsage } from '../usage/usage-slices.ts';
import type { DrawnUsage } from './draw-down.ts';
import { type RatingPlan, ratingInput } from './plan-rating.ts';
import { asRating, eachRated } from './unratable.ts';

export interface MadeLines {
  /** In the order of the invoice. */
  readonly lines: readonly RatedLine[];
  /** The amounts that the lines take from balances: those of applied lines. */
  readonly deductions: readonly Deduction[];
  /** The claims that balances pay at least in part, in the order in which they were served. */
  readonly covered: readonly CoveredClaim[];
  readonly warnings: readonly InvoiceWarning[];
  /** The hours of the lines, by position; null where the lines have them as their windows. */
  readonly hours: (() => AsyncIterable<readonly LineHours[]>) | null;
}

export async function makeLines(plan: RatingPlan, drawn: DrawnUsage, notes: UsageNotes): Promise<MadeLines> {
  const paidLines = [...(await linesAfterDrawdown(plan, drawn)), ...(await linesOfSlices(plan, drawn))];
  return asRating(() => arranged(plan, drawn, paidLines, notes));
}

/** The lines of keys that were kept. */
async function linesAfterDrawdown(
  { isAfterDrawdown, input: { boundaries } }: RatingPlan,
  { coverage, later }: DrawnUsage,
): Promise<UsageLine[]> {
  const lines: UsageLine[] = [];
  await eachInChunks(later, (key) => {
    const own = asRating(() =>
      isAfterDrawdown
        ? linesOfKey(key, coverage.get(key.text) ?? [], boundaries)
        : coveredLines(key, coverage, boundaries),
    );
    for (const line of own) lines.push(line);
  });
  return lines;
}

/** The lines that balances pay for, of slices that are read again. */
async function linesOfSlices(
  { isSliced, rater, readUsage }: RatingPlan,
  { coverage }: DrawnUsage,
): Promise<UsageLine[]> {
  const lines: UsageLine[] = [];
  if (!isSliced || coverage.size === 0) return lines;
  for await (const { groupKeys, answers } of readUsage()) {
    const again = asRating(() => rater.rateCovered(coverage, meteredUsage(answers), groupKeys));
    for (const keys of eachRated(again)) {
      for (const line of keys.lines) lines.push(line);
      await afterOtherWork();
    }
  }
  return lines;
}

/** All lines in their order, with the conversions of custom units, which are computed from the totals of lines. */
function arranged(
  plan: RatingPlan,
  drawn: DrawnUsage,
  paidLines: readonly UsageLine[],
  notes: UsageNotes,
): MadeLines {
  const { target, context, card, input, joined, charges, buckets, book, linesMax } = plan;
  const { coverage, covered } = drawn;
  const { period } = target;
  const composites = drawn.composites.lines(coverage);
  const lastWindow = windowOfJoined(period, input.boundaries);
  const usageLines = plan.isAfterDrawdown
    ? withLater(drawn.usageLines, paidLines)
    : withCovered(drawn.usageLines, paidLines, coverage);
  const ordered = inProductOrder<UsageLine | RatedSubscriptionLine>(
    [
      ...usageLines,
      ...composites.map((line) => inWindows(line, input.boundaries)),
      ...chargeLines(charges, joined.prices, coverage, lastWindow),
    ],
    input,
    charges.flatMap(({ charge }) => joined.prices?.productOf(charge) ?? []),
  );
  const lines = [...ordered, ...issuedChargeLines(joined, lastWindow)];
  const converted = conversionLines({
    ...{ lines, period, boundaries: input.boundaries, buckets, book },
    ...{ fiatCreditTypeId: card.terms.fiatCreditTypeId, conversions: card.conversions },
  });
  const served = [...covered, ...converted.covered];
  const all = [...joinedLines(joined.items, period, input.boundaries), ...lines, ...converted.lines];
  return {
    lines: all,
    deductions: deductionsOf(served),
    covered: served,
    warnings: [
      ...notes.warnings(),
      ...tooManyLines(drawn.unlisted, period, linesMax),
      ...filterWarnings(card.products, input.usageFilters, context.metrics, period),
      ...drawn.unpriced,
    ],
    hours: plan.hasLaterHours
      ? () =>
          slicedHours(
            { lines: all, composites, conversions: converted.paid },
            { ...ratingInput(target, context, windowBoundaries(period, 'hour')), coverage },
            plan.readUsage(),
          )
      : null,
  };
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
