/** The histories of one subscription (docs/explanation/subscriptions.md, "History"). */
import type { Decimal } from '../../core/decimal.ts';
import { notFound, Refusal } from '../../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { contains, type Instant, type OpenInterval } from '../../core/time.ts';
import { seatIdsFrom, seatSegments } from '../../rating/quantities/subscription-quantities.ts';
import { type QuantityHistoryEntry, quantityHistory } from '../../rating/subscriptions/history.ts';
import { loadSubscriptions } from '../../store/contracts/subscriptions.ts';
import type { RowContext } from '../billing-context.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { loadPrices } from '../invoice-queue/load-charges.ts';

export interface SubscriptionReference {
  readonly customerId: string;
  readonly contractId: string;
  readonly subscriptionId: string;
}

export interface QuantityHistory {
  readonly fiatCreditTypeId: string;
  readonly entries: readonly QuantityHistoryEntry[];
}

/** Refuses an unknown customer, contract or subscription (`not_found`). */
export async function readQuantityHistory(
  context: RowContext,
  reference: SubscriptionReference,
): Promise<QuantityHistory> {
  const { contract, subscription } = await findSubscription(context, reference);
  const prices = (await loadPrices(context.db, [contract], [subscription]))(contract);
  const entries = quantityHistory(contract, subscription, prices, context.clock.now());
  return { fiatCreditTypeId: prices.fiatCreditTypeId, entries };
}

export interface SeatHistoryFilter {
  /** The segment that contains this instant. Mutually exclusive with the others. */
  readonly coveringDate: Instant | null;
  /** Segments in force at or after this instant. */
  readonly startingAt: Instant | null;
  /** Segments in force at or before this instant. */
  readonly endingBefore: Instant | null;
}

/** An interval in which the same seats are assigned; `interval.end` is null if it continues. */
export interface SeatHistorySegment {
  readonly interval: OpenInterval;
  readonly quantity: Decimal;
  readonly seatIds: readonly string[];
}

/** The last segment of a page, by its start. */
export interface SeatHistoryPosition {
  readonly start: Instant;
}

/**
 * A page of the segments so far, by start. Refuses an unknown customer, contract or subscription (`not_found`), and as
 * `InvalidArgument` a covering date with a range, and a subscription without seats.
 */
export async function readSeatsHistory(
  context: RowContext,
  reference: SubscriptionReference,
  filter: SeatHistoryFilter,
  { after, limit }: PageRequest<SeatHistoryPosition>,
): Promise<Page<SeatHistorySegment, SeatHistoryPosition>> {
  const { coveringDate, startingAt, endingBefore } = filter;
  if (coveringDate !== null && (startingAt !== null || endingBefore !== null)) {
    throw invalidArgument(['coveringDate'], 'cannot be combined with a range');
  }
  const { subscription } = await findSubscription(context, reference);
  if (subscription.quantityManagementMode !== 'SEAT_BASED') {
    throw invalidArgument(['subscriptionId'], 'is of a QUANTITY_ONLY subscription, which has no seats');
  }
  const now = context.clock.now();
  const wanted = seatSegments(subscription).filter(
    ({ interval }) =>
      interval.start <= now &&
      (coveringDate === null || contains(interval, coveringDate)) &&
      (startingAt === null || interval.end === null || interval.end > startingAt) &&
      (endingBefore === null || interval.start <= endingBefore) &&
      (after === null || interval.start > after.start),
  );
  const { rows, next } = cutPage(wanted.slice(0, limit + 1), limit, ({ interval: { start } }) => ({ start }));
  const ids = seatIdsFrom(subscription, new Set(rows.map(({ interval }) => interval.start)));
  return { rows: rows.map((row) => ({ ...row, seatIds: ids.get(row.interval.start) ?? [] })), next };
}

function invalidArgument(path: string[], problem: string): Refusal {
  return new Refusal('invalid', problem, { path, code: 'InvalidArgument' });
}

async function findSubscription(
  { db }: RowContext,
  { customerId, contractId, subscriptionId }: SubscriptionReference,
): Promise<{ readonly contract: Contract; readonly subscription: Subscription }> {
  const contract = await findContractOf(db, customerId, contractId);
  const all = await loadSubscriptions(db, [contract.id]);
  const subscription = all.find(({ id }) => id === subscriptionId);
  if (subscription === undefined) throw notFound('subscription', subscriptionId, 'SubscriptionNotFound');
  return { contract, subscription };
}
