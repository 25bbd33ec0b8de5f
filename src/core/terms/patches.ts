/** Changes of existing terms by an edit. An absent member is unchanged; null, where allowed, removes the value. */
import { z } from 'zod';
import { hierarchyAccess, usageSpecifier } from './applicability.ts';
import { plainCommit } from './commits.ts';
import { prorationRounding, recurringCommit } from './recurring-commits.ts';
import { accessSegment } from './schedules.ts';
import { quantityChange } from './subscriptions.ts';
import {
  plainRecharge,
  plainThreshold,
  prepaidBalanceThreshold,
  thresholdCommit,
  thresholdDiscount,
} from './thresholds.ts';
import { exactText, instantValue, listOf, objectOf, patchOf } from './values.ts';

const { id: _, ...segment } = accessSegment.unwrap().shape;

/** Applied in this order: removals, changes, additions. */
const accessSchedulePatch = objectOf({
  add: listOf(objectOf(segment)),
  update: listOf(objectOf({ id: z.string(), ...patchOf(segment) })),
  remove: listOf(z.string()),
});
export type AccessSchedulePatch = z.output<typeof accessSchedulePatch>;

/** Amounts as they were sent: an amount, or a unit price with a quantity. */
const amounts = patchOf({ amount: exactText, unitPrice: exactText, quantity: exactText });

/** Applied in this order: removals, changes, additions. */
const invoiceSchedulePatch = objectOf({
  add: listOf(objectOf({ timestamp: instantValue, ...amounts })),
  update: listOf(objectOf({ id: z.string(), timestamp: instantValue.optional(), ...amounts })),
  remove: listOf(z.string()),
});
export type InvoiceSchedulePatch = z.output<typeof invoiceSchedulePatch>;

/** Null is the same as an empty list. */
const applicabilityPatch = {
  productIds: listOf(z.string()).nullable().optional(),
  productTags: listOf(z.string()).nullable().optional(),
  specifiers: listOf(usageSpecifier).nullable().optional(),
};
export type ApplicabilityPatch = Readonly<z.output<z.ZodObject<typeof applicabilityPatch>>>;

/** A patch of a commit or a credit. */
export const commitPatch = objectOf({
  id: z.string(),
  ...patchOf(plainCommit),
  /** Null: the default. */
  priority: exactText.nullable().optional(),
  accessSchedule: accessSchedulePatch.optional(),
  invoiceSchedule: invoiceSchedulePatch.optional(),
  ...applicabilityPatch,
  hierarchyAccess: hierarchyAccess.nullable().optional(),
});
export type CommitPatch = z.output<typeof commitPatch>;

const recurringAmountPatch = objectOf(patchOf({ unitPrice: exactText, quantity: exactText }));
const { endingBefore, rateType } = recurringCommit.unwrap().shape;

export const recurringCommitPatch = objectOf({
  id: z.string(),
  accessAmount: recurringAmountPatch.optional(),
  invoiceAmount: recurringAmountPatch.optional(),
  ...patchOf({ endingBefore, rateType }),
  prorationRounding: objectOf(
    patchOf({ access: prorationRounding.nullable(), invoice: prorationRounding.nullable() }),
  )
    .nullable()
    .optional(),
});
export type RecurringCommitPatch = z.output<typeof recurringCommitPatch>;

export const scheduledChargePatch = objectOf({
  id: z.string(),
  name: z.string().nullable().optional(),
  invoiceSchedule: invoiceSchedulePatch.optional(),
});
export type ScheduledChargePatch = z.output<typeof scheduledChargePatch>;

const seatsAt = objectOf({ seatIds: listOf(z.string()), startingAt: instantValue });
const seatCountAt = objectOf({ quantity: z.int(), startingAt: instantValue });

const seatUpdates = objectOf({
  add: listOf(seatsAt),
  remove: listOf(seatsAt),
  addUnassigned: listOf(seatCountAt),
  removeUnassigned: listOf(seatCountAt),
});
export type SeatUpdates = z.output<typeof seatUpdates>;

export const subscriptionPatch = objectOf({
  id: z.string(),
  endingBefore: instantValue.nullable().optional(),
  /** Turns a QUANTITY_ONLY subscription into a SEAT_BASED one. */
  seatGroupKey: z.string().optional(),
  quantityUpdates: listOf(quantityChange),
  seatUpdates: seatUpdates.optional(),
  prorationRounding: prorationRounding.nullable().optional(),
});
export type SubscriptionPatch = z.output<typeof subscriptionPatch>;

const thresholdPatch = {
  ...patchOf(plainThreshold),
  /** Without a payment fraction there is no discount. */
  discount: objectOf({
    paymentFraction: exactText.nullable().optional(),
    cap: thresholdDiscount.unwrap().shape.cap.optional(),
  })
    .nullable()
    .optional(),
};

export const spendThresholdPatch = objectOf({
  ...thresholdPatch,
  commit: objectOf(patchOf(thresholdCommit)).optional(),
});
export type SpendThresholdPatch = z.output<typeof spendThresholdPatch>;

export const prepaidBalanceThresholdPatch = objectOf({
  ...thresholdPatch,
  ...patchOf(plainRecharge),
  commit: objectOf({ ...patchOf(thresholdCommit), ...applicabilityPatch }).optional(),
  /** Null: no exceptions. */
  balanceSpecifiers: prepaidBalanceThreshold.unwrap().shape.balanceSpecifiers.nullable().optional(),
});
export type PrepaidBalanceThresholdPatch = z.output<typeof prepaidBalanceThresholdPatch>;
