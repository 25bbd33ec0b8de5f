/**
 * The commits and credits that a recurring term creates, its children: one for each of its periods
 * (docs/explanation/contracts.md, "Recurring commits and credits"). Pure: the same term and contract always give the
 * same children with the same ids.
 */
import { type Decimal, decimal, ONE, quotientDown, ZERO } from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { FormerUnitPrice, RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { AccessSegment, InvoiceItem } from '../../core/terms/schedules.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import {
  earlier,
  endOfPeriods,
  type GrantPeriod,
  grantPeriods,
  type WantedPeriods,
} from '../periods/grant-periods.ts';
import { prorated, type Share, shareFrom, shareOf } from './grant-proration.ts';
import { quantitiesIn, quantitiesOf, type TermQuantities } from './grant-quantities.ts';
import { isSeatAdjustment, seatAdjustmentId } from './seat-adjustments.ts';
import type { SeatGrant } from './seat-shares.ts';

/**
 * The children of the wanted periods, ascending. `subscriptions` are those of the contract. Empty if the quantities of
 * the term are unknown (`quantitiesOf`).
 */
export function recurringGrants(
  term: RecurringCommit,
  contract: Contract,
  subscriptions: readonly Subscription[],
  wanted: WantedPeriods,
): Commit[] {
  const quantities = quantitiesOf(term, subscriptions);
  if (quantities === null) return [];
  return grantPeriods(term, contract, wanted).map((period) =>
    grantOf({ term, contract, period, quantities }),
  );
}

/** The child for the period that starts at `start`; null if there is no longer such a period. */
export function recurringGrantAt(
  term: RecurringCommit,
  contract: Contract,
  subscriptions: readonly Subscription[],
  start: Instant,
): Commit | null {
  const [child] = recurringGrants(term, contract, subscriptions, periodAt(term, start));
  return child === undefined || grantStart(child) !== start ? null : child;
}

/** Selects only the period that starts at `start`, if there is one. */
function periodAt(term: RecurringCommit, start: Instant): WantedPeriods {
  const before = start - 1;
  return { at: before, after: start === term.startingAt ? null : before };
}

/** The child with the access that it would have if its contract continued. */
export function uncutGrant(child: Commit, term: RecurringCommit, contract: Contract): Commit {
  const start = grantStart(child);
  const open = { ...contract, endingBefore: null };
  const [period] = grantPeriods(term, open, periodAt(term, start));
  const naturalEnd =
    period?.inForce.start === start
      ? endOfPeriods(term, open, period.whole, term.commitDurationPeriods)
      : Number.NEGATIVE_INFINITY;
  const segments = child.accessSchedule.segments.map((one) =>
    one.endingBefore === contract.endingBefore
      ? { ...one, endingBefore: Math.max(one.endingBefore, naturalEnd) }
      : one,
  );
  return { ...child, accessSchedule: { ...child.accessSchedule, segments } };
}

/** The start of the period that a child is for. */
export function grantStart({ createdAt }: Commit): Instant {
  return createdAt;
}

/** The id of the segment that a child begins with. */
export function grantSegmentId(childId: string): string {
  return derivedId('recurring grant segment', childId);
}

/** The terms that a child is created from. */
interface GrantSource {
  readonly term: RecurringCommit;
  readonly contract: Contract;
  readonly period: GrantPeriod;
  readonly quantities: TermQuantities;
}

function grantOf(source: GrantSource): Commit {
  const { term, contract, period } = source;
  const { start } = period.inForce;
  const id = derivedId('recurring grant', term.id, String(start));
  const share = shareOf(term, contract, period);
  return {
    id,
    customerId: contract.customerId,
    contractId: contract.id,
    type: term.kind === 'CREDIT' ? 'CREDIT' : 'PREPAID',
    name: term.name,
    description: term.description,
    productId: term.productId,
    rateType: term.rateType,
    rolloverFraction: term.rolloverFraction,
    priority: term.priority,
    accessSchedule: { creditTypeId: term.accessAmount.creditTypeId, segments: segmentsOf(id, source) },
    invoiceSchedule: invoiceScheduleOf(term, id, start, share),
    invoiceContractId: null,
    applicability: term.applicability,
    applicableContractIds: [],
    hierarchyAccess: term.hierarchyAccess,
    countsAsDiscounted: null,
    paymentGate: null,
    recurringCommitId: term.id,
    rolledOverFrom: null,
    uniquenessKey: null,
    // A period never starts before its term.
    createdAt: start,
    createdBy: null,
    archivedAt: null,
  };
}

/**
 * The amount of the period, and one more segment for each increase of the quantity during it. Usage before an increase
 * cannot draw on the added amount.
 */
function segmentsOf(id: string, { term, contract, period, quantities }: GrantSource): AccessSegment[] {
  const naturalEnd = endOfPeriods(term, contract, period.whole, term.commitDurationPeriods);
  // Only the contract's end cuts it: the end of the term stops the creation of children.
  const endingBefore = earlier(naturalEnd, contract.endingBefore) ?? naturalEnd;
  return quantityGrants(id, { term, contract, period, quantities }).map(
    ({ segmentId, startingAt, quantity, share }): AccessSegment => ({
      id: segmentId,
      amount: grantedAmount(term, quantity, share),
      startingAt,
      endingBefore,
    }),
  );
}

/** The quantity that one segment grants. */
interface QuantityGrant {
  readonly segmentId: string;
  readonly startingAt: Instant;
  readonly quantity: Decimal;
  /** Null: a full amount, which is never rounded. */
  readonly share: Share | null;
}

function quantityGrants(id: string, source: GrantSource): QuantityGrant[] {
  const { term, contract, period, quantities } = source;
  const { atStart, increases } = quantitiesIn(quantities, period.inForce);
  return [
    {
      segmentId: grantSegmentId(id),
      startingAt: period.inForce.start,
      quantity: atStart,
      share: shareOf(term, contract, period),
    },
    ...increases.map(({ at: startingAt, quantity }) => ({
      segmentId: seatAdjustmentId(id, startingAt),
      startingAt,
      quantity,
      share: increaseShare(startingAt, source),
    })),
  ];
}

/** Null: the full amount. */
function increaseShare(startingAt: Instant, { term, contract, period }: GrantSource): Share | null {
  return term.subscription?.prorateSeatIncreases === true
    ? shareFrom(startingAt, term, contract, period)
    : null;
}

/** Individual seats are granted the same amount each: shares are rounded, not their sum. */
function grantedAmount(term: RecurringCommit, quantity: Decimal, share: Share | null): Decimal {
  const { accessAmount, accessRounding, subscription } = term;
  const granted = (amount: Decimal) => (share === null ? amount : prorated(amount, share, accessRounding));
  return subscription?.allocation === 'INDIVIDUAL'
    ? granted(accessAmount.unitPrice).times(quantity)
    : granted(accessAmount.unitPrice.times(quantity));
}

/**
 * The amount that each seat is granted by the segments of a child, by segment. A segment of an increase that a later
 * correction removed stays, with the share that it was granted for. `former`: the earlier unit prices of the
 * term, in the order of the changes; earlier grants are divided at their original price.
 */
export function seatGrantsOf(
  child: Commit,
  term: RecurringCommit,
  contract: Contract,
  subscription: Subscription,
  former: readonly FormerUnitPrice[] = [],
): Map<string, SeatGrant> {
  const quantities = quantitiesOf(term, [subscription]);
  const start = grantStart(child);
  const [period] = grantPeriods(term, contract, periodAt(term, start));
  if (quantities === null || period?.inForce.start !== start) return new Map();
  const source = { term, contract, period, quantities };
  const wanted = new Map(quantityGrants(child.id, source).map((one) => [one.segmentId, one.quantity]));
  const [first, isIncrease] = [
    grantSegmentId(child.id),
    (one: AccessSegment) => isSeatAdjustment(child, one),
  ];
  return new Map(
    child.accessSchedule.segments
      .filter((one) => one.id === first || isIncrease(one))
      .map((segment) => {
        const { id, startingAt } = segment;
        const seats = Math.floor(Number((wanted.get(id) ?? ZERO).toString()));
        const share = id === first ? shareOf(term, contract, period) : increaseShare(startingAt, source);
        const eachAt = (unitPrice: Decimal) =>
          grantedAmount({ ...term, accessAmount: { ...term.accessAmount, unitPrice } }, ONE, share);
        const prices = unitPricesAt(startingAt, term, former).map(eachAt);
        return [id, { seats, each: grantedEach(segment, seats, prices) }];
      }),
  );
}

/** The unit price of the term at an instant, then those of other times, the latest first. */
function unitPricesAt(
  at: Instant,
  { accessAmount }: RecurringCommit,
  former: readonly FormerUnitPrice[],
): Decimal[] {
  const own = former.find(({ until }) => until > at)?.unitPrice ?? accessAmount.unitPrice;
  return [own, accessAmount.unitPrice, ...former.map(({ unitPrice }) => unitPrice).toReversed()];
}

/**
 * The first unit price that divides the segment among exactly `seats` seats, or else among a whole number of them, or
 * else the first.
 */
function grantedEach({ amount }: AccessSegment, seats: number, all: readonly Decimal[]): Decimal {
  const positive = all.filter((each) => each.gt(ZERO));
  return (
    positive.find((each) => each.times(decimal(String(seats))).eq(amount)) ??
    positive.find((each) => quotientDown(amount, each).mod('1').eq(ZERO)) ??
    all[0] ??
    ZERO
  );
}

/** One item at the start of the period. A prorated amount is one unit at that price. */
function invoiceScheduleOf(
  { invoiceAmount, invoiceRounding }: RecurringCommit,
  id: string,
  timestamp: Instant,
  share: Share,
): Commit['invoiceSchedule'] {
  if (invoiceAmount === null) return null;
  const { unitPrice, quantity, creditTypeId } = invoiceAmount;
  const full = unitPrice.times(quantity);
  const amount = prorated(full, share, invoiceRounding);
  const isFull = share.granted.eq(share.whole);
  const item: InvoiceItem = {
    id: derivedId('recurring grant invoice item', id),
    timestamp,
    unitPrice: isFull ? unitPrice : amount,
    quantity: isFull ? quantity : ONE,
    amount,
  };
  return { creditTypeId, doNotInvoice: false, items: [item] };
}
