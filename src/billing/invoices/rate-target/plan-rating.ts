/** The plan that the steps of rating an invoice share, from its terms. Pure. */
import { INVOICE_LINES_MAX_DEFAULT } from '../../../core/invoice.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import type { UsageSeries } from '../../../core/usage-series.ts';
import { type BalanceBook, NO_BALANCES } from '../../../rating/balances/balance-book.ts';
import { type WindowSize, windowBoundaries } from '../../../rating/invoices/breakdown.ts';
import {
  createInvoiceRater,
  type InvoiceRater,
  type InvoiceTermsInput,
} from '../../../rating/invoices/rate-invoice.ts';
import type { PricedCharge } from '../../../rating/scheduled/charge-lines.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type JoinedSchedule, joinedCharges, NOTHING_JOINED } from '../scheduled/joined-lines.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { ratedProducts } from '../terms/priced-card.ts';
import { isTooLarge, needGroups, readGroups, seriesOf } from '../usage/target-usage.ts';
import type { UsageAnswers } from '../usage/usage-answers.ts';
import { asRating } from './unratable.ts';

/** Which windows lines record: one for the whole period where the size is null. */
export interface RecordedWindows {
  readonly size: WindowSize | null;
  /** Only windows in this time are needed; the others may be joined. Null for all. */
  readonly within: Interval | null;
  /** Lines of usage that is read in slices have no windows; their hours are computed after them. */
  readonly areLaterIfSliced?: boolean;
  /**
   * Default: everything. `lines`: without the offered balances. `deductions`: only the deductions from balances, with
   * lines and warnings as a by-product.
   */
  readonly wanted?: 'lines' | 'deductions';
}

/** An invoice to rate. */
export interface TargetToRate {
  readonly target: UsageTarget;
  readonly context: InvoiceContext;
  readonly usage: UsageAnswers;
  readonly windows: RecordedWindows;
  /** For a customer with balances: the book that the invoice draws from. Default: no balances. */
  readonly book?: BalanceBook;
}

export interface RatingPlan extends Required<TargetToRate> {
  readonly linesMax: number;
  readonly card: ReturnType<typeof cardOf>;
  /**
   * The usage does not fit in memory: it is read in slices of line keys, once more for each step that needs it.
   */
  readonly isSliced: boolean;
  /** The hours of lines are computed after them, from slices. */
  readonly hasLaterHours: boolean;
  /**
   * Lines of keys with a claim are computed after drawdown. Otherwise they are computed before, and paid ones again.
   */
  readonly isAfterDrawdown: boolean;
  readonly buckets: ReturnType<BalanceBook['bucketsOf']>;
  readonly input: InvoiceTermsInput;
  readonly rater: InvoiceRater;
  readonly joined: JoinedSchedule;
  /** Charges of subscriptions. */
  readonly charges: readonly PricedCharge[];
  /** All usage, group by group; slices are read again at each call. */
  readUsage(): ReturnType<typeof readGroups>;
}

/** The usage and its limit: nothing else reaches the rating of one invoice. */
export type RatingContext = Pick<BillingContext, 'usageSource' | 'invoiceLinesMax'>;

export function planRating(billing: RatingContext, { book = NO_BALANCES, ...one }: TargetToRate): RatingPlan {
  const { target, context, usage, windows } = one;
  const { contract, period } = target;
  const groups = asRating(() => needGroups(target, context));
  const isSliced = groups.some((group) => isTooLarge(group, target, usage));
  const areAllHours = windows.size === 'hour' && windows.within === null;
  const hasLaterHours = isSliced && (windows.areLaterIfSliced ?? areAllHours);
  const card = cardOf(context, contract);
  // Composites count the amounts of lines before drawdown.
  const isAfterDrawdown = !isSliced && card.composites.length === 0;
  const buckets = book.bucketsOf(contract.id, period);
  const boundaries = boundariesOf(period, hasLaterHours ? null : windows.size, windows.within);
  const input = asRating(() => ({
    ...ratingInput(target, context, boundaries, isSliced ? null : seriesOf(groups, target, usage)),
    buckets,
    isAfterDrawdown,
  }));
  const joined = context.joined.get(contract.id) ?? NOTHING_JOINED;
  return {
    ...one,
    ...{ book, card, isSliced, hasLaterHours, isAfterDrawdown, buckets, input, joined },
    linesMax: billing.invoiceLinesMax ?? INVOICE_LINES_MAX_DEFAULT,
    rater: asRating(() => createInvoiceRater(input)),
    charges: asRating(() => joinedCharges(joined, period)),
    readUsage: () => readGroups(billing.usageSource, target, context, usage, groups),
  };
}

/** The input of rating besides usage. `usage` null: for any usage. */
export function ratingInput(
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
