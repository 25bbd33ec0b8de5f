/** Threshold settings (also as patches) and spend trackers on the wire. */
import { z } from 'zod';
import type { AccumulatedSpend } from '../../../billing/thresholds/spend-trackers.ts';
import { SPEND_DISCOUNTED, SPEND_SOURCES, type SpendTracker } from '../../../core/terms/thresholds.ts';
import {
  answered,
  defaulted,
  described,
  kind,
  list,
  noted,
  optional,
  optionalMany,
  patched,
  patchOf,
} from '../description.ts';
import { enumIn } from '../fields.ts';
import { anyText, exact, flag, id, instant, oneOf, text, truth } from '../kinds.ts';
import { beside, dropped, record } from '../record.ts';
import { paymentGate } from './payment-gate.ts';
import { applicability, priority } from './scope.ts';

/** The commit that each threshold charge purchases. */
const purchase = {
  productId: described('A FIXED product.', id),
  name: optional(text),
  description: optional(anyText),
  priority: optional(priority),
};

const noFilter = dropped(
  z.array(z.unknown()).max(0, 'is not possible here: the commit covers all that has been spent').nullish(),
);

/** The commit of a spend threshold covers all usage. An empty list is accepted. */
const noFilters = { applicableProductIds: noFilter, applicableProductTags: noFilter, specifiers: noFilter };

const cap = record({ spendTrackerAlias: text, amount: exact() });

const discountFields = {
  paymentFraction: described('The share that the customer pays: 0.85 is 15 % off.', exact({ max: '1' })),
  cap: described('Full price once the tracker has counted the amount in the billing period.', optional(cap)),
};

const plain = { isEnabled: truth, thresholdAmount: exact(), paymentGate };

/** The spend that is charged has happened. */
const noHolds = dropped(
  z.literal(false, 'is not possible here: only usage is charged, and a hold is none').nullish(),
);

const discount = optional(record(discountFields, { id: { sent: 'DiscountConfigurationInput' } }));

export const spendThreshold = record(
  { ...plain, countHolds: noHolds, discount, commit: record({ ...purchase, ...noFilters }) },
  { id: 'SpendThresholdConfiguration' },
);

const customFieldFilter = record({
  entity: kind(
    z.enum(['Commit', 'ContractCredit', 'ContractCreditOrCommit']),
    z.enum(['Commit', 'ContractCredit', 'ContractCreditOrCommit']),
  ),
  key: text,
  value: anyText,
});

const balanceSpecifiers = described(
  'Balances that meet all filters of one exclude entry are not counted.',
  list(
    record({
      exclude: list(record({ customFieldFilters: list(customFieldFilter, { min: 1, max: 100 }) }), {
        max: 100,
      }),
    }),
    { max: 100 },
  ),
);

const ofPrepaid = {
  rechargeToAmount: exact(),
  customCreditTypeId: described(
    'The unit of the amounts and of the commit. Default: the currency of the rate card.',
    optional(id),
  ),
  balanceSpecifiers: optionalMany(balanceSpecifiers, []),
  countHolds: described(
    'If true, amounts on hold count as used when the balance is compared with the threshold. An extension of the official API. Default: false.',
    flag,
  ),
};

export const prepaidBalanceThreshold = record(
  {
    ...plain,
    ...ofPrepaid,
    discount,
    commit: record({ ...purchase, applicability: beside(applicability) }),
  },
  { id: 'PrepaidBalanceThresholdConfiguration' },
);

const patchFields = {
  ...patched(plain),
  discount: described(
    'Null, or a payment_fraction of null: no discount.',
    patchOf(
      optional(
        record(patched({ paymentFraction: optional(discountFields.paymentFraction), cap: optional(cap) })),
      ),
    ),
  ),
};

export const spendThresholdPatch = record(
  { ...patchFields, countHolds: noHolds, commit: patchOf(record({ ...patched(purchase), ...noFilters })) },
  { id: { sent: 'UpdateSpendThresholdConfiguration', answered: 'SpendThresholdConfigurationUpdate' } },
);

export const prepaidBalanceThresholdPatch = record(
  {
    ...patchFields,
    ...patched(ofPrepaid),
    commit: patchOf(record(patched({ ...purchase, ...applicability }))),
  },
  {
    id: {
      sent: 'UpdatePrepaidBalanceThresholdConfiguration',
      answered: 'PrepaidBalanceThresholdConfigurationUpdate',
    },
  },
);

const trackerFields = {
  alias: kind(z.string().min(1).max(128), z.string()),
  creditTypeId: id,
  resetFrequency: kind(enumIn(['BILLING_PERIOD']), z.literal('BILLING_PERIOD')),
  specifiers: list(
    record({
      spendType: kind(enumIn(['COMMIT_PURCHASE']), z.literal('COMMIT_PURCHASE')),
      sources: list(oneOf(SPEND_SOURCES), { min: 1, max: SPEND_SOURCES.length }),
      discounted: described('Default: ANY.', defaulted(oneOf(SPEND_DISCOUNTED), 'ANY')),
    }),
    { min: 1, max: 100 },
  ),
};

const accumulatedSpend = record({ amount: exact(), periodStartingAt: instant, periodEndingBefore: instant });

export const spendTracker = record(
  {
    ...trackerFields,
    accumulatedSpend: answered(
      noted('In the present billing period; absent outside the contract.', optional(accumulatedSpend)),
    ),
  },
  { place: 'spendTrackers', id: 'SpendTracker' },
);

/** In packages, which nothing is spent on. */
export const spendTrackerTemplate = record(trackerFields, {
  place: 'spendTrackers',
  id: 'SpendTrackerTemplate',
});

/** A tracker with its count; null: it counts nothing now. */
export function spendTrackerView(tracker: SpendTracker, spend: AccumulatedSpend | undefined) {
  const accumulatedSpend =
    spend === undefined
      ? null
      : {
          amount: spend.amount,
          periodStartingAt: spend.period.start,
          periodEndingBefore: spend.period.end,
        };
  return { ...tracker, accumulatedSpend };
}
