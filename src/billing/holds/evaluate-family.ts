/**
 * The state that holds are granted from (docs/holds.md, "The state"): the drafts of a customer, and of all that share its
 * balances, computed as those of thresholds are, with what they leave of balances and limits.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { BillableMetric } from '../../core/metric.ts';
import { floorToHour, HOUR_MS, type Instant } from '../../core/time.ts';
import type { BookedBucket, Deduction } from '../../rating/balances/balance-book.ts';
import type { LimitLeft } from '../../rating/holds/hold-book.ts';
import { createEventPricer, type EventPricer, type HeldDraft } from '../../rating/holds/price-event.ts';
import { spendLeft } from '../../rating/holds/spend-left.ts';
import type { MeteredUsage } from '../../rating/quantities/usage-need.ts';
import { indexUsage } from '../../rating/usage/line-key.ts';
import { loadFamilies } from '../../store/balances/sharing-customers.ts';
import { inSnapshot, type Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { customerRefs, findCustomer } from '../../store/customers/customers.ts';
import {
  type AccountSeen,
  ensureAccounts,
  type Hold,
  loadActiveHolds,
  readAccounts,
} from '../../store/holds/holds.ts';
import { createBooks } from '../balances/books.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import { NO_ALARMS } from '../invoice-log/invoice-alarms.ts';
import { finalizationAt, type InvoiceTarget } from '../invoice-queue/usage-periods.ts';
import { draftMoment } from '../invoices/draft-moment.ts';
import { draftPlacesOf } from '../invoices/draft-places.ts';
import { cardOf, type InvoiceContext, needsOf, termsOf } from '../invoices/invoice-context.ts';
import { inDrawdownOrder, type PlannedInvoices, planInvoices } from '../invoices/plan-invoices.ts';
import { ratedProducts } from '../invoices/priced-card.ts';
import { collectUsage } from '../invoices/rate-target/collect-usage.ts';
import { drawDown } from '../invoices/rate-target/draw-down.ts';
import { makeLines } from '../invoices/rate-target/make-lines.ts';
import { planRating, type RatingPlan, ratingInput } from '../invoices/rate-target/plan-rating.ts';
import { createScheduledDraws } from '../invoices/scheduled/drawing.ts';
import { readUsageAnswers } from '../invoices/usage-answers.ts';
import { meteredUsage } from '../invoices/usage-slices.ts';

interface PricedDraft {
  readonly draft: HeldDraft;
  readonly pricer: EventPricer;
}

export interface EvaluatedFamily {
  /** Ascending. */
  readonly customerIds: readonly string[];
  /** Customers that can hold, by id or ingest alias. */
  readonly customerOf: ReadonlyMap<string, string>;
  readonly drafts: ReadonlyMap<string, readonly PricedDraft[]>;
  readonly metrics: ReadonlyMap<string, BillableMetric>;
  /** In burn-down order, without what drafts take. */
  readonly buckets: readonly BookedBucket[];
  readonly limits: readonly LimitLeft[];
  readonly seen: readonly AccountSeen[];
  /** Active ones, as of `seen`. */
  readonly holds: readonly Hold[];
  /** Ingestion up to which usage is counted: epoch microseconds. Null: not known, beside other writers. */
  readonly countedUpTo: number | null;
  /** Rates, periods and balances begin and end on full hours: it holds until the next one. */
  readonly validUntil: Instant;
}

interface Read {
  readonly plan: PlannedInvoices;
  readonly family: Pick<EvaluatedFamily, 'customerIds' | 'customerOf' | 'seen' | 'holds'>;
}

/** Who belongs to the family of a customer, without an evaluation: from then on its usage can be noticed. */
export async function unevaluatedFamily(
  { db }: Pick<BillingContext, 'db'>,
  customerId: string,
): Promise<EvaluatedFamily> {
  const { customerIds, customerOf } = await inSnapshot(db, async (tx) => {
    const ids = await familyIds(tx, customerId);
    return { customerIds: ids, customerOf: await namesOf(tx, ids) };
  });
  const nothing = { drafts: new Map(), metrics: new Map(), buckets: [], limits: [], seen: [], holds: [] };
  return { ...nothing, customerIds, customerOf, countedUpTo: null, validUntil: 0 };
}

async function familyIds(db: Transaction, customerId: string): Promise<string[]> {
  const families = await loadFamilies(db, [customerId]);
  return [...(families.get(customerId) ?? [customerId])].sort();
}

/** Counts all events that were acknowledged before. */
export async function evaluateFamily(deps: BillingContext, customerId: string): Promise<EvaluatedFamily> {
  const now = deps.clock.now();
  const first = await loadFamilies(deps.db, [customerId]);
  await ensureAccounts(deps.db, first.get(customerId) ?? [customerId]);
  const { plan, family } = await inSnapshot(deps.db, (db) => readFamily({ ...deps, db }, customerId, now));
  const computed = await computeFamily({ ...deps, alarms: NO_ALARMS }, plan);
  return { ...family, ...computed, validUntil: floorToHour(now) + HOUR_MS };
}

async function readFamily(deps: SnapshotContext, customerId: string, now: Instant): Promise<Read> {
  const { db } = deps;
  const customerIds = await familyIds(db, customerId);
  const contracts = await loadContracts(db, { customerIds });
  const places = await draftPlacesOf(deps, contracts, { type: 'USAGE' });
  const targets = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  const plan = await planInvoices(db, targets, now, { schedulesOf: contracts, usageIn: deps.clickhouse });
  return {
    plan,
    family: {
      customerIds,
      customerOf: await namesOf(db, customerIds),
      seen: await readAccounts(db, customerIds),
      holds: await loadActiveHolds(db, customerIds),
    },
  };
}

/** Without archived customers. */
async function namesOf(db: Transaction, customerIds: readonly string[]): Promise<Map<string, string>> {
  const refs = await customerRefs(db, customerIds);
  const names = new Map<string, string>();
  for (const id of customerIds) {
    const customer = await findCustomer(db, id);
    if (customer === null || customer.archivedAt !== null) continue;
    for (const ref of refs.get(id) ?? [id]) names.set(ref, id);
  }
  return names;
}

type Computed = Pick<EvaluatedFamily, 'drafts' | 'metrics' | 'buckets' | 'limits' | 'countedUpTo'>;

async function computeFamily(deps: BillingContext, plan: PlannedInvoices): Promise<Computed> {
  const { context } = plan;
  const planned = inDrawdownOrder(plan).map(({ target }) => target);
  const countedUpTo = await draftMoment(deps.clickhouse, plan);
  // Beside other writers it is the ingestion of the last event, which this process cannot compare with its own.
  const isOnlyWriter = (deps.clickhouse.completeUpTo?.() ?? null) !== null;
  const usage = await readUsageAnswers(deps.clickhouse, planned, context, countedUpTo);
  const draws = createScheduledDraws(plan.scheduled, createBooks(context.balances));
  const taken: Deduction[] = [];
  const drafts = new Map<string, PricedDraft[]>();
  const limits: LimitLeft[] = [];
  for (const target of planned) {
    const { customerId } = target.contract;
    draws.drawUntil(customerId, finalizationAt(target.period, deps.gracePeriodHours));
    const rating = planRating(deps, {
      target,
      context,
      usage,
      windows: { size: null, within: null, wanted: 'deductions' },
      book: draws.bookOf(customerId),
    });
    const collected = await collectUsage(rating);
    const made = await makeLines(rating, drawDown(rating, collected), collected.notes);
    taken.push(...made.deductions);
    const limit = spendLeft(target.contract, target.period, made.lines, rating.input.fiatCreditTypeId);
    if (limit !== null) limits.push(limit);
    const draft = await heldDraft(rating, target, context, collected.notes.failedMetrics());
    const own = drafts.get(customerId) ?? [];
    drafts.set(customerId, [...own, { draft, pricer: createEventPricer(draft) }]);
  }
  draws.drawAll();
  for (const { deductions } of draws.drafts.values()) taken.push(...deductions);
  const buckets = new Set([...context.balances.values()].flatMap((balances) => balances.buckets));
  return {
    ...{ drafts, metrics: context.metrics, limits },
    buckets: withoutTaken([...buckets], taken),
    countedUpTo: isOnlyWriter && countedUpTo !== null ? Number(countedUpTo) : null,
  };
}

function withoutTaken(buckets: readonly BookedBucket[], taken: readonly Deduction[]): BookedBucket[] {
  const amounts = new Map<string, Decimal>();
  for (const { bucket, amount } of taken) {
    amounts.set(bucket.segmentId, (amounts.get(bucket.segmentId) ?? ZERO).plus(amount));
  }
  return buckets.map((bucket) => ({
    ...bucket,
    left: bucket.left.minus(amounts.get(bucket.segmentId) ?? ZERO),
  }));
}

async function heldDraft(
  rating: RatingPlan,
  target: InvoiceTarget,
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
