/**
 * The drafts that holds are granted from: the amounts left of balances and limits, and the cost of an event on them. Many
 * families are computed from one plan, and each fails by itself.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { BookedBucket, Deduction } from '../../rating/balances/balance-book.ts';
import { type CoveredClaim, coveredAmount } from '../../rating/balances/draw-down.ts';
import { claimPlace } from '../../rating/holds/claim-place.ts';
import type { DrawnClaim } from '../../rating/holds/drawn-runs.ts';
import type { LimitLeft } from '../../rating/holds/hold-book.ts';
import {
  createEventPricer,
  draftCharge,
  type EventPricer,
  type HeldDraft,
  isPrepaid,
} from '../../rating/holds/price-event.ts';
import { spendLeft } from '../../rating/holds/spend-left.ts';
import type { MeteredUsage } from '../../rating/quantities/usage-need.ts';
import { indexUsage } from '../../rating/usage/line-key.ts';
import { createBooks } from '../balances/books.ts';
import type { BillingContext } from '../billing-context.ts';
import { finalizationAt, type InvoiceTarget } from '../invoice-queue/usage-periods.ts';
import { inDrawdownOrder, type PlannedInvoices } from '../invoices/compute/plan-invoices.ts';
import { collectUsage } from '../invoices/rate-target/collect-usage.ts';
import { drawDown } from '../invoices/rate-target/draw-down.ts';
import { makeLines } from '../invoices/rate-target/make-lines.ts';
import { planRating, type RatingPlan, ratingInput } from '../invoices/rate-target/plan-rating.ts';
import { createScheduledDraws, type ScheduledDraws } from '../invoices/scheduled/drawing.ts';
import { cardOf, type InvoiceContext, needsOf, termsOf } from '../invoices/terms/invoice-context.ts';
import { ratedProducts } from '../invoices/terms/priced-card.ts';
import { draftMoment } from '../invoices/usage/draft-moment.ts';
import { readUsageAnswers, type UsageAnswers } from '../invoices/usage/usage-answers.ts';
import { meteredUsage } from '../invoices/usage/usage-slices.ts';

interface PricedDraft {
  readonly draft: HeldDraft;
  readonly pricer: EventPricer;
}

export interface ComputedFamily {
  /** By customer. */
  readonly drafts: ReadonlyMap<string, readonly PricedDraft[]>;
  readonly metrics: ReadonlyMap<string, BillableMetric>;
  /** In burn-down order, with the amounts that `drawn` takes. */
  readonly buckets: readonly BookedBucket[];
  /** The charges of drafts that balances pay in part or whole, in drawdown order. */
  readonly drawn: readonly DrawnClaim[];
  readonly limits: readonly LimitLeft[];
  /** Ingestion up to which usage is counted: epoch microseconds. Null: not known, beside other writers. */
  readonly countedUpTo: number | null;
}

/** The parts that many families share. */
interface Shared {
  readonly billing: BillingContext;
  readonly context: InvoiceContext;
  readonly usage: UsageAnswers;
  readonly draws: ScheduledDraws;
  /** The amounts that drafts take other than by what is `drawn`, by segment. */
  readonly taken: Map<string, Decimal>;
  /** The number of families computed. */
  readonly familyCount: number;
}

/** A family during its computation. */
interface Family {
  readonly customerIds: readonly string[];
  readonly drafts: Map<string, PricedDraft[]>;
  readonly limits: LimitLeft[];
  readonly drawn: DrawnClaim[];
  hasFailed: boolean;
}

/**
 * In the order of the families. Null: the family has to be computed alone, because it has failed or because the usage of
 * all families did not fit in memory. A family that is computed alone throws instead.
 */
export async function computeFamilies(
  billing: BillingContext,
  plan: PlannedInvoices,
  families: readonly (readonly string[])[],
): Promise<(ComputedFamily | null)[]> {
  const { context } = plan;
  const planned = inDrawdownOrder(plan).map(({ target }) => target);
  const countedUpTo = await draftMoment(billing.eventFacts, plan);
  // With other writers this is the ingestion of the last event, which this process cannot compare with its own.
  const isOnlyWriter = billing.eventFacts.completeUpTo() !== null;
  const usage = await readUsageAnswers(billing.usageSource, planned, context, countedUpTo);
  const draws = createScheduledDraws(plan.scheduled, createBooks(context.balances));
  const shared: Shared = { billing, context, usage, draws, taken: new Map(), familyCount: families.length };
  const all = families.map(
    (customerIds): Family => ({ customerIds, drafts: new Map(), limits: [], drawn: [], hasFailed: false }),
  );
  const familyOf = new Map(all.flatMap((family) => family.customerIds.map((id) => [id, family] as const)));
  for (const [order, target] of planned.entries()) {
    const family = familyOf.get(target.contract.customerId);
    assert(family !== undefined, 'drafts are planned of customers who share balances');
    await byItself(shared, family, () => computeDraft(shared, family, target, order));
  }
  for (const family of all) await byItself(shared, family, async () => drawTheRest(shared, family));
  for (const { deductions } of draws.drafts.values()) take(shared.taken, deductions);
  const counted = isOnlyWriter && countedUpTo !== null ? Number(countedUpTo) : null;
  return all.map((family) => (family.hasFailed ? null : computedFamily(shared, family, counted)));
}

/** A fault of one family does not affect the others. */
async function byItself(
  { familyCount }: Shared,
  family: Family,
  compute: () => Promise<void>,
): Promise<void> {
  if (family.hasFailed) return;
  try {
    await compute();
  } catch (error) {
    if (familyCount === 1) throw error;
    family.hasFailed = true;
  }
}

async function computeDraft(
  shared: Shared,
  family: Family,
  target: InvoiceTarget,
  order: number,
): Promise<void> {
  const { billing, context, usage, draws, familyCount } = shared;
  const { customerId } = target.contract;
  draws.drawUntil(customerId, finalizationAt(target.period, billing.gracePeriodHours));
  const rating = planRating(billing, {
    target,
    context,
    usage,
    windows: { size: null, within: null, wanted: 'deductions' },
    book: draws.bookOf(customerId),
  });
  if (rating.isSliced && familyCount > 1) {
    family.hasFailed = true;
    return;
  }
  const collected = await collectUsage(rating);
  const made = await makeLines(rating, drawDown(rating, collected), collected.notes);
  family.drawn.push(...drawnClaims(target, order, made.covered));
  const limit = spendLeft(target.contract, target.period, made.lines, rating.input.fiatCreditTypeId);
  if (limit !== null) family.limits.push(limit);
  const draft = await heldDraft(rating, { target, order }, context, collected.notes.failedMetrics());
  const own = family.drafts.get(customerId) ?? [];
  family.drafts.set(customerId, [...own, { draft, pricer: createEventPricer(draft) }]);
}

function drawnClaims(
  { contract, period }: InvoiceTarget,
  order: number,
  covered: readonly CoveredClaim[],
): DrawnClaim[] {
  return covered.flatMap(({ claim, coverings }) => {
    const prepaid = claim.claimants.map(({ bucket }) => bucket).filter(isPrepaid);
    const unit = (prepaid[0] ?? claim.claimants[0]?.bucket)?.creditTypeId;
    if (unit === undefined) return [];
    const segmentIds = prepaid.map(({ segmentId }) => segmentId);
    const charge = draftCharge({ contractId: contract.id, period }, unit, segmentIds);
    const amount = coveredAmount(coverings.filter(({ payer }) => isPrepaid(payer)));
    return [{ place: claimPlace(order, claim), claim, charge, amount }];
  });
}

/** Drafts of SCHEDULED invoices, which are issued after all others. */
function drawTheRest({ draws }: Shared, { customerIds }: Family): void {
  for (const id of customerIds) draws.drawUntil(id, Number.POSITIVE_INFINITY);
}

function take(taken: Map<string, Decimal>, deductions: readonly Deduction[]): void {
  for (const { bucket, amount } of deductions) {
    taken.set(bucket.segmentId, (taken.get(bucket.segmentId) ?? ZERO).plus(amount));
  }
}

function computedFamily(
  { context, taken }: Shared,
  { customerIds, drafts, limits, drawn }: Family,
  countedUpTo: number | null,
): ComputedFamily {
  const buckets = new Set(customerIds.flatMap((id) => context.balances.get(id)?.buckets ?? []));
  return {
    ...{ drafts, limits, drawn, countedUpTo },
    metrics: context.metrics,
    buckets: [...buckets].map((bucket) => ({
      ...bucket,
      left: bucket.left.minus(taken.get(bucket.segmentId) ?? ZERO),
    })),
  };
}

async function heldDraft(
  rating: RatingPlan,
  { target, order }: { readonly target: InvoiceTarget; readonly order: number },
  context: InvoiceContext,
  failedMetrics: ReadonlySet<string>,
): Promise<HeldDraft> {
  const { contract, period } = target;
  const card = cardOf(context, contract);
  const { overrides } = termsOf(context, contract);
  const used: MeteredUsage[] = [];
  if (!rating.isSliced)
    for await (const { answers } of rating.readUsage()) used.push(...meteredUsage(answers));
  return {
    contractId: contract.id,
    order,
    period,
    input: ratingInput(target, context, [period.start, period.end]),
    needs: needsOf(context, target),
    productsFor: (values) =>
      ratedProducts(
        card,
        overrides,
        values.map((groupValues) => ({ groupValues, steps: [] })),
      ),
    findProduct: (id) => {
      const isComposite = card.composites.some(({ product }) => product.id === id);
      return isComposite ? 'composite' : (card.products.find(({ product }) => product.id === id) ?? null);
    },
    usage: rating.isSliced ? null : indexUsage(used, period),
    failedMetrics,
    buckets: rating.buckets,
    conversions: new Map(
      [...card.conversions].map(([unit, { fiatPerCustomCredit }]) => [unit, fiatPerCustomCredit]),
    ),
  };
}
