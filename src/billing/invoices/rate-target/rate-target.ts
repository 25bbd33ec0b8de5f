/**
 * Computes the lines of one invoice from metered usage and terms, for drafts, finalization and late usage, in three
 * steps: usage is collected, balances are drawn down, lines are computed.
 *
 * Line keys do not depend on each other, so usage that is too large for memory is rated slice by slice, and only the
 * part of each line that the invoice shows is kept. The hours of these lines, which are frozen when the invoice is
 * issued, are computed by a second pass over the slices.
 */
import type { Refusal } from '../../../core/errors.ts';
import { afterOtherWork } from '../../../core/in-chunks.ts';
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import { deductionsOf } from '../../../rating/balances/draw-down.ts';
import { offeredBalances } from '../../../rating/balances/offered-balances.ts';
import type { UnlistedProduct } from '../../../rating/invoices/line-collector.ts';
import { collectUsage } from './collect-usage.ts';
import { drawDown } from './draw-down.ts';
import { type MadeLines, makeLines } from './make-lines.ts';
import { planRating, type RatingContext, type TargetToRate } from './plan-rating.ts';
import { asRating } from './unratable.ts';

export interface RatedTarget extends Omit<MadeLines, 'covered'> {
  /** The offered balances that may pay for something on it, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
  /** Why metrics could not be evaluated. Products that need one of them have no lines. */
  readonly problems: readonly Refusal[];
  /** Products with too many lines, which have none. */
  readonly unlisted: readonly UnlistedProduct[];
}

export async function rateTarget(context: RatingContext, one: TargetToRate): Promise<RatedTarget> {
  const plan = planRating(context, one);
  const { wanted } = one.windows;
  // As the invoice finds them, before it draws on them.
  const balances = wanted === undefined ? offeredBalances(plan.buckets, plan.book) : [];
  const usage = await collectUsage(plan);
  const drawn = asRating(() => drawDown(plan, usage));
  await afterOtherWork();
  // The amounts that conversions take from balances depend on the lines.
  const needsLines = wanted !== 'deductions' || plan.card.conversions.size > 0;
  const made = needsLines
    ? await makeLines(plan, drawn, usage.notes)
    : { lines: [], deductions: deductionsOf(drawn.covered), warnings: [], hours: null };
  return { ...made, balances, unlisted: drawn.unlisted, problems: usage.notes.problems() };
}
