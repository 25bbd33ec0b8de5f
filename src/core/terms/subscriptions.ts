/** A quantity of something that is charged in every period, such as seats. */
import { z } from 'zod';
import { BILLING_FREQUENCIES } from '../catalogue.ts';
import type { Decimal } from '../decimal.ts';
import type { Interval } from '../time.ts';
import { prorationRounding } from './recurring-commits.ts';
import { exactText, instantValue, listOf, type MayBeGiven, objectOf } from './values.ts';

export const COLLECTION_SCHEDULES = ['ADVANCE', 'ARREARS'] as const;
export const INVOICE_BEHAVIORS = ['BILL_IMMEDIATELY', 'BILL_ON_NEXT_COLLECTION_DATE'] as const;
export const INVOICE_PLACEMENTS = ['ON_SCHEDULED_INVOICE', 'ON_USAGE_INVOICE'] as const;
export const QUANTITY_MODES = ['SEAT_BASED', 'QUANTITY_ONLY'] as const;

/** Maximum seats of one subscription, unless configured (SUBSCRIPTION_SEATS_MAX). */
export const SEATS_MAX_DEFAULT = 1_000;

/** Exactly one of both is set. Changes at one instant apply in the order of submission. */
export const quantityChange = objectOf({
  startingAt: instantValue,
  quantity: exactText.nullable(),
  quantityDelta: exactText.nullable(),
});
export type QuantityChange = z.output<typeof quantityChange>;

export const SEAT_CHANGE_KINDS = ['ADD', 'REMOVE', 'ADD_UNASSIGNED', 'REMOVE_UNASSIGNED'] as const;

/** `seatId` is set for ADD and REMOVE, `count` for the others. */
const seatChange = objectOf({
  startingAt: instantValue,
  kind: z.enum(SEAT_CHANGE_KINDS),
  seatId: z.string().nullable(),
  count: z.int().nullable(),
});
export type SeatChange = z.output<typeof seatChange>;

export const subscription = objectOf({
  id: z.string(),
  contractId: z.string(),
  /** A SUBSCRIPTION product; with the frequency it names the rate on the card. */
  productId: z.string(),
  billingFrequency: z.enum(BILLING_FREQUENCIES),
  name: z.string().nullable(),
  description: z.string().nullable(),
  collectionSchedule: z.enum(COLLECTION_SCHEDULES),
  isProrated: z.boolean(),
  invoiceBehavior: z.enum(INVOICE_BEHAVIORS),
  prorationRounding: prorationRounding.nullable(),
  quantityManagementMode: z.enum(QUANTITY_MODES),
  /** With SEAT_BASED only. */
  seatGroupKey: z.string().nullable(),
  startingAt: instantValue,
  /** Null: until the contract ends. Equal to the start: never in force. */
  endingBefore: instantValue.nullable(),
  /** Null: the anchor of the contract's usage invoices. */
  anchorDate: instantValue.nullable(),
  invoicePlacement: z.enum(INVOICE_PLACEMENTS),
  /** Changes as submitted; the quantity at an instant is derived from them (rating/quantities/subscription-quantities.ts). */
  quantityChanges: listOf(quantityChange),
  seatChanges: listOf(seatChange),
  createdAt: instantValue,
  createdBy: z.string(),
});
export type Subscription = z.output<typeof subscription>;

/** A charge of a subscription that is on an issued invoice. */
export interface BilledCharge {
  readonly id: string;
  readonly subscriptionId: string;
  readonly interval: Interval;
  readonly quantity: Decimal;
}

/** A subscription as a client describes it. Null: omitted; an omitted start is the contract's. */
export type SubscriptionInput = Omit<
  Subscription,
  | 'id'
  | 'contractId'
  | 'seatGroupKey'
  | 'quantityChanges'
  | 'seatChanges'
  | 'createdAt'
  | 'createdBy'
  | DecidedOfSubscriptions
> &
  MayBeGiven<Subscription, DecidedOfSubscriptions> & {
    readonly initialQuantity: Decimal | null;
    readonly seatConfig: {
      readonly seatGroupKey: string;
      readonly initialSeatIds: readonly string[];
      readonly initialUnassignedSeats: number | null;
    } | null;
    readonly customFields: Readonly<Record<string, string>>;
    /** Temporary id, for recurring terms of the same request that reference it. */
    readonly temporaryId: string | null;
  };

type DecidedOfSubscriptions =
  | 'isProrated'
  | 'invoiceBehavior'
  | 'startingAt'
  | 'quantityManagementMode'
  | 'invoicePlacement';
