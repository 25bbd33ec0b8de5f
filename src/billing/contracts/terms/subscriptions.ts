/** Validates and creates subscriptions (docs/explanation/contracts.md, "Subscriptions"). Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { SeatChange, Subscription, SubscriptionInput } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import {
  requireEndAfterStart,
  requireProduct,
  subscriptionRateKey,
  type TermsContext,
} from './terms-context.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the subscription's place in the request. */
export function validateSubscription(input: SubscriptionInput, path: FieldPath, context: TermsContext): void {
  checkRate(input, path, context);
  checkDates(input, path, context);
  checkQuantity(input, path);
  if (input.invoiceBehavior === 'BILL_IMMEDIATELY' && input.collectionSchedule !== 'ADVANCE') {
    throw invalid([...path, 'invoiceBehavior'], 'BILL_IMMEDIATELY is for ADVANCE collection only');
  }
}

function checkRate(input: SubscriptionInput, path: FieldPath, context: TermsContext): void {
  const product = requireProduct(context, input.productId, [...path, 'productId']);
  if (product.type !== 'SUBSCRIPTION') {
    throw invalid([...path, 'productId'], `must be a SUBSCRIPTION product, not ${product.type}`);
  }
  if (!context.card?.productIds.has(input.productId)) {
    throw invalid([...path, 'productId'], 'No such product in rate card');
  }
  const key = subscriptionRateKey(input.productId, input.billingFrequency);
  if (!context.card.subscriptionRates.has(key)) {
    throw invalid(
      [...path, 'billingFrequency'],
      `the rate card has no ${input.billingFrequency} rate of this product`,
    );
  }
}

function checkDates(input: SubscriptionInput, path: FieldPath, { contract }: TermsContext): void {
  const startingAt = input.startingAt ?? contract.startingAt;
  if (startingAt < contract.startingAt) {
    throw invalid([...path, 'startingAt'], 'must not be before the contract starts');
  }
  if (contract.endingBefore !== null && startingAt >= contract.endingBefore) {
    throw invalid([...path, 'startingAt'], 'must be before the contract ends');
  }
  requireEndAfterStart({ startingAt, endingBefore: input.endingBefore }, path);
  if (input.anchorDate === null) return;
  const field = [...path, 'anchorDate'];
  if (input.collectionSchedule !== 'ADVANCE') throw invalid(field, 'is for ADVANCE collection only');
  if (input.anchorDate > startingAt) throw invalid(field, 'must not be after the subscription starts');
}

function checkQuantity(input: SubscriptionInput, path: FieldPath): void {
  const { initialQuantity, seatConfig } = input;
  if ((input.quantityManagementMode ?? 'QUANTITY_ONLY') === 'QUANTITY_ONLY') {
    if (seatConfig !== null) throw invalid([...path, 'seatConfig'], 'is for SEAT_BASED subscriptions only');
    if (initialQuantity === null) {
      throw invalid([...path, 'initialQuantity'], 'is required for QUANTITY_ONLY subscriptions');
    }
    if (initialQuantity.lt(ZERO)) throw invalid([...path, 'initialQuantity'], 'must not be negative');
    return;
  }
  if (seatConfig === null) throw invalid([...path, 'seatConfig'], 'is required for SEAT_BASED subscriptions');
  if (initialQuantity !== null) {
    throw invalid([...path, 'initialQuantity'], 'is for QUANTITY_ONLY subscriptions only');
  }
  const { initialSeatIds } = seatConfig;
  const seen = new Set<string>();
  for (const [index, seatId] of initialSeatIds.entries()) {
    if (seen.has(seatId)) {
      throw invalid([...path, 'seatConfig', 'initialSeatIds', index], `repeats ${JSON.stringify(seatId)}`);
    }
    seen.add(seatId);
  }
}

/** Creates the subscription from an input that `validateSubscription` has accepted. */
export function buildSubscription(
  input: SubscriptionInput,
  context: TermsContext,
  origin: {
    readonly id: string;
    readonly contractId: string;
    readonly createdAt: Instant;
    readonly createdBy: string;
  },
): Subscription {
  const startingAt = input.startingAt ?? context.contract.startingAt;
  const inAdvance = input.collectionSchedule === 'ADVANCE';
  const { initialQuantity, seatConfig, customFields: _, temporaryId: __, ...described } = input;
  return {
    ...described,
    ...origin,
    isProrated: input.isProrated ?? false,
    invoiceBehavior:
      input.invoiceBehavior ?? (inAdvance ? 'BILL_IMMEDIATELY' : 'BILL_ON_NEXT_COLLECTION_DATE'),
    quantityManagementMode: input.quantityManagementMode ?? 'QUANTITY_ONLY',
    seatGroupKey: seatConfig?.seatGroupKey ?? null,
    startingAt,
    invoicePlacement: input.invoicePlacement ?? 'ON_USAGE_INVOICE',
    quantityChanges:
      initialQuantity === null ? [] : [{ startingAt, quantity: initialQuantity, quantityDelta: null }],
    seatChanges: initialSeats(input, startingAt),
  };
}

/** Named seats first: they would otherwise take unassigned ones. */
function initialSeats({ seatConfig }: SubscriptionInput, startingAt: Instant): SeatChange[] {
  if (seatConfig === null) return [];
  const named = seatConfig.initialSeatIds.map(
    (seatId): SeatChange => ({ startingAt, kind: 'ADD', seatId, count: null }),
  );
  const count = seatConfig.initialUnassignedSeats ?? 0;
  return [...named, { startingAt, kind: 'ADD_UNASSIGNED', seatId: null, count }];
}
