/** Settings that create a commit when spend or a balance crosses a threshold, and the spend trackers of discounts. */
import { z } from 'zod';
import { applicability } from './applicability.ts';
import { paymentGate } from './payment-gate.ts';
import { exactText, listOf, objectOf } from './values.ts';

/** A balance that is recharged, or spend that is billed at once. */
export const THRESHOLD_KINDS = ['PREPAID_BALANCE', 'SPEND'] as const;
export type ThresholdKind = (typeof THRESHOLD_KINDS)[number];

/** The commit that each charge purchases. Null: the product's name, priority 100. */
export const thresholdCommit = {
  productId: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  priority: exactText.nullable(),
};

/** `paymentFraction` is the share that the customer pays. */
export const thresholdDiscount = objectOf({
  paymentFraction: exactText,
  /** Full price once the tracker has counted `amount` in the billing period. */
  cap: objectOf({ spendTrackerAlias: z.string(), amount: exactText }).nullable(),
});
export type ThresholdDiscount = z.output<typeof thresholdDiscount>;

/** The plain fields of both kinds of threshold. */
export const plainThreshold = {
  isEnabled: z.boolean(),
  /** In the currency of the contract's rate card. */
  thresholdAmount: exactText,
  paymentGate,
};

export const spendThreshold = objectOf({
  ...plainThreshold,
  commit: objectOf(thresholdCommit),
  discount: thresholdDiscount.nullable(),
});
export type SpendThreshold = z.output<typeof spendThreshold>;

/** Custom fields that must all match, per kind of balance. */
const customFieldFilter = objectOf({
  entity: z.enum(['Commit', 'ContractCredit', 'ContractCreditOrCommit']),
  key: z.string(),
  value: z.string(),
});

/** The plain fields of prepaid balance thresholds alone. */
export const plainRecharge = {
  rechargeToAmount: exactText,
  /** Null: the amounts are in the currency of the contract's rate card. */
  customCreditTypeId: z.string().nullable(),
  /** Whether holds count as used in the comparison with the threshold. */
  countHolds: z.boolean().default(false),
};

export const prepaidBalanceThreshold = objectOf({
  ...plainThreshold,
  ...plainRecharge,
  commit: objectOf({ ...thresholdCommit, applicability }),
  discount: thresholdDiscount.nullable(),
  /** A balance that matches all filters of one entry of one `exclude` list is not counted. */
  balanceSpecifiers: listOf(
    objectOf({ exclude: listOf(objectOf({ customFieldFilters: listOf(customFieldFilter) })) }),
  ),
});
export type PrepaidBalanceThreshold = z.output<typeof prepaidBalanceThreshold>;

export const SPEND_SOURCES = ['THRESHOLD_RECHARGE', 'MANUAL'] as const;
export const SPEND_DISCOUNTED = ['ANY', 'DISCOUNTED_ONLY', 'UNDISCOUNTED_ONLY'] as const;

/** Sums the spend on commits in a billing period. */
export const spendTracker = objectOf({
  /** Unique among the trackers of a contract that are not archived. */
  alias: z.string(),
  creditTypeId: z.string(),
  resetFrequency: z.literal('BILLING_PERIOD'),
  specifiers: listOf(
    objectOf({
      spendType: z.literal('COMMIT_PURCHASE'),
      sources: listOf(z.enum(SPEND_SOURCES)),
      discounted: z.enum(SPEND_DISCOUNTED),
    }),
  ),
});
export type SpendTracker = z.output<typeof spendTracker>;
