/** What makes a subscription sound, and how one is made of it (docs/contracts.md, "Subscriptions"). Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { invalid } from '../../../core/errors.ts';
import type { SeatChange, Subscription, SubscriptionInput } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import {
  requireEndAfterStart,
  requireProduct,
  subscriptionRateKey,
  type TermsContext,
} from './terms-context.ts';

/** Refuses (`invalid`) the first bad field; `path` is the subscription's place in the request. */
export function validateSubscription(input: SubscriptionInput, path: string, context: TermsContext): void {
  checkRate(input, path, context);
  checkDates(input, path, context);
  checkQuantity(input, path);
  if (input.invoiceBehavior === 'BILL_IMMEDIATELY' && input.collectionSchedule !== 'ADVANCE') {
    throw invalid(`${path}.proration.invoice_behavior`, 'BILL_IMMEDIATELY is for ADVANCE collection only');
  }
}

function checkRate(input: SubscriptionInput, path: string, context: TermsContext): void {
  const field = `${path}.subscription_rate`;
  const product = requireProduct(context, input.productId, `${field}.product_id`);
  if (product.type !== 'SUBSCRIPTION') {
    throw invalid(`${field}.product_id`, `must be a SUBSCRIPTION product, not ${product.type}`);
  }
  if (!context.card?.productIds.has(input.productId)) {
    throw invalid(`${field}.product_id`, 'No such product in rate card');
  }
  const key = subscriptionRateKey(input.productId, input.billingFrequency);
  if (!context.card.subscriptionRates.has(key)) {
    throw invalid(
      `${field}.billing_frequency`,
      `the rate card has no ${input.billingFrequency} rate of this product`,
    );
  }
}

function checkDates(input: SubscriptionInput, path: string, { contract }: TermsContext): void {
  const startingAt = input.startingAt ?? contract.startingAt;
  if (startingAt < contract.startingAt) {
    throw invalid(`${path}.starting_at`, 'must not be before the contract starts');
  }
  if (contract.endingBefore !== null && startingAt >= contract.endingBefore) {
    throw invalid(`${path}.starting_at`, 'must be before the contract ends');
  }
  requireEndAfterStart({ startingAt, endingBefore: input.endingBefore }, path);
  if (input.anchorDate === null) return;
  const field = `${path}.billing_cycle_config.anchor_date`;
  if (input.collectionSchedule !== 'ADVANCE') throw invalid(field, 'is for ADVANCE collection only');
  if (input.anchorDate > startingAt) throw invalid(field, 'must not be after the subscription starts');
}

function checkQuantity(input: SubscriptionInput, path: string): void {
  const { initialQuantity, seatConfig } = input;
  if ((input.quantityManagementMode ?? 'QUANTITY_ONLY') === 'QUANTITY_ONLY') {
    if (seatConfig !== null) throw invalid(`${path}.seat_config`, 'is for SEAT_BASED subscriptions only');
    if (initialQuantity === null) {
      throw invalid(`${path}.initial_quantity`, 'is required for QUANTITY_ONLY subscriptions');
    }
    if (initialQuantity.lt(ZERO)) throw invalid(`${path}.initial_quantity`, 'must not be negative');
    return;
  }
  if (seatConfig === null) throw invalid(`${path}.seat_config`, 'is required for SEAT_BASED subscriptions');
  if (initialQuantity !== null) {
    throw invalid(`${path}.initial_quantity`, 'is for QUANTITY_ONLY subscriptions only');
  }
  const { initialSeatIds } = seatConfig;
  const seen = new Set<string>();
  for (const [index, seatId] of initialSeatIds.entries()) {
    if (seen.has(seatId)) {
      throw invalid(`${path}.seat_config.initial_seat_ids[${index}]`, `repeats ${JSON.stringify(seatId)}`);
    }
    seen.add(seatId);
  }
}

/** Makes the subscription of an input that `validateSubscription` has passed. */
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
  return {
    ...origin,
    productId: input.productId,
    billingFrequency: input.billingFrequency,
    name: input.name,
    description: input.description,
    collectionSchedule: input.collectionSchedule,
    isProrated: input.isProrated ?? false,
    invoiceBehavior:
      input.invoiceBehavior ?? (inAdvance ? 'BILL_IMMEDIATELY' : 'BILL_ON_NEXT_COLLECTION_DATE'),
    prorationRounding: input.prorationRounding,
    quantityManagementMode: input.quantityManagementMode ?? 'QUANTITY_ONLY',
    seatGroupKey: input.seatConfig?.seatGroupKey ?? null,
    startingAt,
    endingBefore: input.endingBefore,
    anchorDate: input.anchorDate,
    invoicePlacement: input.invoicePlacement ?? 'ON_USAGE_INVOICE',
    quantityChanges:
      input.initialQuantity === null
        ? []
        : [{ startingAt, quantity: input.initialQuantity, quantityDelta: null }],
    seatChanges: initialSeats(input, startingAt),
  };
}

/** The named seats first: unassigned ones would otherwise be taken by them. */
function initialSeats({ seatConfig }: SubscriptionInput, startingAt: Instant): SeatChange[] {
  if (seatConfig === null) return [];
  const named = seatConfig.initialSeatIds.map(
    (seatId): SeatChange => ({ startingAt, kind: 'ADD', seatId, count: null }),
  );
  const count = seatConfig.initialUnassignedSeats ?? 0;
  return [...named, { startingAt, kind: 'ADD_UNASSIGNED', seatId: null, count }];
}
