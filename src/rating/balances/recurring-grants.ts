/**
 * The commits and credits that a recurring term creates, its children: one for each of its periods (docs/contracts.md,
 * "Recurring commits and credits"). Pure: the same term and contract always give the same children with the same ids.
 */
import {
  type Decimal,
  decimal,
  divideTo20Places,
  ONE,
  type RoundingMethod,
  roundDecimal,
} from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { InvoiceItem } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';
import {
  earlier,
  endOfPeriods,
  type GrantPeriod,
  grantPeriods,
  type WantedPeriods,
} from '../periods/grant-periods.ts';

/** The children of the wanted periods, ascending. None for a term whose quantity is not known. */
export function recurringGrants(term: RecurringCommit, contract: Contract, wanted: WantedPeriods): Commit[] {
  if (!hasGrants(term)) return [];
  return grantPeriods(term, contract, wanted).map((period) => grantOf(term, contract, period));
}

/** The child for the period that starts at `start`; null if there is no such period any more. */
export function recurringGrantAt(term: RecurringCommit, contract: Contract, start: Instant): Commit | null {
  const before = start - 1;
  const after = start === term.startingAt ? null : before;
  const [child] = recurringGrants(term, contract, { at: before, after });
  return child === undefined || grantStart(child) !== start ? null : child;
}

/** The child with the access that it would have if its contract went on. */
export function uncutGrant(child: Commit, term: RecurringCommit, contract: Contract): Commit {
  const whole = recurringGrantAt(term, { ...contract, endingBefore: null }, grantStart(child));
  const naturalEnd = whole?.accessSchedule.segments[0]?.endingBefore ?? Number.NEGATIVE_INFINITY;
  const segments = child.accessSchedule.segments.map((one) =>
    one.endingBefore === contract.endingBefore
      ? { ...one, endingBefore: Math.max(one.endingBefore, naturalEnd) }
      : one,
  );
  return { ...child, accessSchedule: { ...child.accessSchedule, segments } };
}

/** Whether the term creates children. */
function hasGrants(term: RecurringCommit): boolean {
  return quantityOf(term) !== null;
}

/**
 * The quantity of a child. Null for a term linked to a subscription: its quantity is that of the subscription when the
 * period starts, which is not billed yet (rating/unrated-terms.ts).
 */
function quantityOf({ accessAmount }: RecurringCommit): Decimal | null {
  return accessAmount.quantity;
}

/** The start of the period that a child is for. */
export function grantStart({ createdAt }: Commit): Instant {
  return createdAt;
}

function grantOf(term: RecurringCommit, contract: Contract, period: GrantPeriod): Commit {
  const { start } = period.inForce;
  const id = derivedId('recurring grant', term.id, String(start));
  const share = shareOf(term, contract, period);
  const full = term.accessAmount.unitPrice.times(quantityOf(term) ?? ONE);
  const naturalEnd = endOfPeriods(term, contract, period.whole, term.commitDurationPeriods);
  const segment = {
    id: derivedId('recurring grant segment', id),
    amount: prorated(full, share, term.accessRounding),
    startingAt: start,
    // Only the contract's end cuts it: the end of the term stops the creation of children.
    endingBefore: earlier(naturalEnd, contract.endingBefore) ?? naturalEnd,
  };
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
    accessSchedule: { creditTypeId: term.accessAmount.creditTypeId, segments: [segment] },
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

/** Time granted over time of the full period; both in the same unit. */
interface Share {
  readonly granted: Decimal;
  readonly whole: Decimal;
}

/**
 * The share of a full period that the child is given. FIRST counts from the term's start, LAST to the end of the term or
 * the contract. A first child whose access the contract's end makes shorter than a period is prorated under FIRST too.
 */
function shareOf({ proration, startingAt }: RecurringCommit, contract: Contract, period: GrantPeriod): Share {
  const { inForce, whole } = period;
  const isFirst = inForce.start === startingAt;
  const countsFirst = proration === 'FIRST' || proration === 'FIRST_AND_LAST';
  const countsLast = proration === 'LAST' || proration === 'FIRST_AND_LAST';
  const start = countsFirst ? inForce.start : whole.start;
  const accessCut = isFirst && countsFirst ? earlier(whole.end, contract.endingBefore) : null;
  const end = countsLast ? inForce.end : (accessCut ?? whole.end);
  return { granted: decimal(String(end - start)), whole: decimal(String(whole.end - whole.start)) };
}

const ROUNDING: Readonly<
  Record<NonNullable<RecurringCommit['accessRounding']>['roundingMethod'], RoundingMethod>
> = { HALF_UP: 'ROUND_HALF_UP', FLOOR: 'ROUND_DOWN', CEILING: 'ROUND_UP' };

/** Amounts are not negative. A full amount is never rounded. Without `rounding`, 20 decimal places. */
function prorated(amount: Decimal, share: Share, rounding: RecurringCommit['accessRounding']): Decimal {
  if (share.granted.eq(share.whole)) return amount;
  const part = divideTo20Places(amount.times(share.granted), share.whole);
  if (rounding === null) return part;
  return roundDecimal(part, ROUNDING[rounding.roundingMethod], rounding.decimalPlaces);
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
