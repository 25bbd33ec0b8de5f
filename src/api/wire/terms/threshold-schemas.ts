/** How threshold settings and spend trackers look on the wire. */
import { z } from 'zod';
import {
  type PrepaidBalanceThreshold,
  SPEND_DISCOUNTED,
  SPEND_SOURCES,
  type SpendThreshold,
  type SpendTracker,
  type ThresholdDiscount,
} from '../../../core/terms/thresholds.ts';
import { enumIn, exactNumber, exactValue, uuid } from '../fields.ts';
import {
  paymentGateFromWire,
  paymentGateInput,
  paymentGateOutput,
  paymentGateToWire,
} from './payment-gate-schemas.ts';
import {
  applicabilityFromWire,
  applicabilityInput,
  applicabilityOutput,
  applicabilityToWire,
  given,
  priority,
} from './term-fields.ts';

const CUSTOM_FIELD_ENTITIES = ['Commit', 'ContractCredit', 'ContractCreditOrCommit'] as const;

export const thresholdCommitInput = {
  product_id: uuid.meta({ description: 'A FIXED product.' }),
  name: z.string().min(1).nullish(),
  description: z.string().nullish(),
  priority: priority.nullish(),
};

export const discountInput = z
  .object({
    payment_fraction: exactNumber({ max: '1' }).meta({
      description: 'The share that the customer pays: 0.85 is 15 % off.',
    }),
    cap: z
      .object({ spend_tracker_alias: z.string().min(1), amount: exactNumber() })
      .nullish()
      .meta({ description: 'Full price once the tracker has counted the amount in the billing period.' }),
  })
  .meta({ id: 'DiscountConfigurationInput' });

const thresholdInput = {
  is_enabled: z.boolean(),
  threshold_amount: exactNumber(),
  payment_gate_config: paymentGateInput,
  discount_configuration: discountInput.nullish(),
};

const noFilter = z
  .array(z.unknown())
  .max(0, 'is not possible here: the commit covers all that has been spent')
  .nullish();

/** The commit of a spend threshold covers whatever was spent; an empty list asks for nothing and may stand. */
export const noProductFilters = {
  applicable_product_ids: noFilter,
  applicable_product_tags: noFilter,
  specifiers: noFilter,
};

export const spendThresholdInput = z
  .object({ ...thresholdInput, commit: z.object({ ...thresholdCommitInput, ...noProductFilters }) })
  .meta({ id: 'SpendThresholdConfigurationInput' });

const customFieldFilter = z.object({
  entity: z.enum(CUSTOM_FIELD_ENTITIES),
  key: z.string().min(1),
  value: z.string(),
});

export const balanceSpecifiersInput = z
  .array(
    z.object({
      exclude: z
        .array(z.object({ custom_field_filters: z.array(customFieldFilter).min(1).max(100) }))
        .max(100),
    }),
  )
  .max(100)
  .meta({ description: 'Balances that meet all filters of one exclude entry are not counted.' });

export const prepaidBalanceThresholdInput = z
  .object({
    ...thresholdInput,
    recharge_to_amount: exactNumber(),
    custom_credit_type_id: uuid.nullish().meta({
      description: 'The unit of the amounts and of the commit. Default: the currency of the rate card.',
    }),
    commit: z.object({ ...thresholdCommitInput, ...applicabilityInput }),
    threshold_balance_specifiers: balanceSpecifiersInput.nullish(),
  })
  .meta({ id: 'PrepaidBalanceThresholdConfigurationInput' });

const thresholdCommitOutput = {
  product_id: uuid,
  name: z.string().optional(),
  description: z.string().optional(),
  priority: exactValue.optional(),
};

const thresholdOutput = {
  is_enabled: z.boolean(),
  threshold_amount: exactValue,
  payment_gate_config: paymentGateOutput,
  discount_configuration: z
    .object({
      payment_fraction: exactValue,
      cap: z.object({ spend_tracker_alias: z.string(), amount: exactValue }).optional(),
    })
    .optional(),
};

export const spendThresholdOutput = z
  .object({ ...thresholdOutput, commit: z.object(thresholdCommitOutput) })
  .meta({ id: 'SpendThresholdConfiguration' });

export const prepaidBalanceThresholdOutput = z
  .object({
    ...thresholdOutput,
    recharge_to_amount: exactValue,
    custom_credit_type_id: uuid.optional(),
    commit: z.object({ ...thresholdCommitOutput, ...applicabilityOutput }),
    threshold_balance_specifiers: z
      .array(z.object({ exclude: z.array(z.object({ custom_field_filters: z.array(customFieldFilter) })) }))
      .optional(),
  })
  .meta({ id: 'PrepaidBalanceThresholdConfiguration' });

export const spendTrackerInput = z
  .object({
    alias: z.string().min(1).max(128),
    credit_type_id: uuid,
    reset_frequency: enumIn(['BILLING_PERIOD']),
    applicable_spend_specifiers: z
      .array(
        z.object({
          spend_type: enumIn(['COMMIT_PURCHASE']),
          sources: z.array(enumIn(SPEND_SOURCES)).min(1).max(SPEND_SOURCES.length),
          discounted: enumIn(SPEND_DISCOUNTED).nullish().meta({ description: 'Default: ANY.' }),
        }),
      )
      .min(1)
      .max(100),
  })
  .meta({ id: 'SpendTrackerInput' });

export const spendTrackerOutput = z
  .object({
    alias: z.string(),
    credit_type_id: uuid,
    reset_frequency: z.literal('BILLING_PERIOD'),
    applicable_spend_specifiers: z.array(
      z.object({
        spend_type: z.literal('COMMIT_PURCHASE'),
        sources: z.array(z.enum(SPEND_SOURCES)),
        discounted: z.enum(SPEND_DISCOUNTED),
      }),
    ),
  })
  .meta({ id: 'SpendTracker' });

export function spendThresholdFromWire(wire: z.output<typeof spendThresholdInput>): SpendThreshold {
  return { ...thresholdFromWire(wire), commit: thresholdCommitFromWire(wire.commit) };
}

export function prepaidBalanceThresholdFromWire(
  wire: z.output<typeof prepaidBalanceThresholdInput>,
): PrepaidBalanceThreshold {
  return {
    ...thresholdFromWire(wire),
    rechargeToAmount: wire.recharge_to_amount,
    customCreditTypeId: wire.custom_credit_type_id ?? null,
    commit: { ...thresholdCommitFromWire(wire.commit), applicability: applicabilityFromWire(wire.commit) },
    balanceSpecifiers: balanceSpecifiersFromWire(wire.threshold_balance_specifiers ?? []),
  };
}

function thresholdFromWire(wire: z.output<z.ZodObject<typeof thresholdInput>>) {
  return {
    isEnabled: wire.is_enabled,
    thresholdAmount: wire.threshold_amount,
    paymentGate: paymentGateFromWire(wire.payment_gate_config),
    discount: wire.discount_configuration == null ? null : discountFromWire(wire.discount_configuration),
  };
}

export function discountFromWire(wire: z.output<typeof discountInput>): ThresholdDiscount {
  return {
    paymentFraction: wire.payment_fraction,
    cap:
      wire.cap == null ? null : { spendTrackerAlias: wire.cap.spend_tracker_alias, amount: wire.cap.amount },
  };
}

function thresholdCommitFromWire(
  wire: z.output<z.ZodObject<typeof thresholdCommitInput>>,
): SpendThreshold['commit'] {
  return {
    productId: wire.product_id,
    name: wire.name ?? null,
    description: wire.description ?? null,
    priority: wire.priority ?? null,
  };
}

export function balanceSpecifiersFromWire(
  wire: z.output<typeof balanceSpecifiersInput>,
): PrepaidBalanceThreshold['balanceSpecifiers'] {
  return wire.map(({ exclude }) => ({
    exclude: exclude.map((one) => ({ customFieldFilters: one.custom_field_filters })),
  }));
}

export function spendThresholdToWire(from: SpendThreshold): z.input<typeof spendThresholdOutput> {
  return { ...thresholdToWire(from), commit: thresholdCommitToWire(from.commit) };
}

export function prepaidBalanceThresholdToWire(
  from: PrepaidBalanceThreshold,
): z.input<typeof prepaidBalanceThresholdOutput> {
  return {
    ...thresholdToWire(from),
    recharge_to_amount: from.rechargeToAmount,
    ...given('custom_credit_type_id', from.customCreditTypeId),
    commit: { ...thresholdCommitToWire(from.commit), ...applicabilityToWire(from.commit.applicability) },
    ...given(
      'threshold_balance_specifiers',
      from.balanceSpecifiers.map(({ exclude }) => ({
        exclude: exclude.map((one) => ({ custom_field_filters: [...one.customFieldFilters] })),
      })),
    ),
  };
}

function thresholdToWire(from: Omit<SpendThreshold, 'commit'>) {
  const { discount } = from;
  return {
    is_enabled: from.isEnabled,
    threshold_amount: from.thresholdAmount,
    payment_gate_config: paymentGateToWire(from.paymentGate),
    ...given(
      'discount_configuration',
      discount === null
        ? null
        : {
            payment_fraction: discount.paymentFraction,
            ...given(
              'cap',
              discount.cap === null
                ? null
                : { spend_tracker_alias: discount.cap.spendTrackerAlias, amount: discount.cap.amount },
            ),
          },
    ),
  };
}

function thresholdCommitToWire(from: SpendThreshold['commit']) {
  return {
    product_id: from.productId,
    ...given('name', from.name),
    ...given('description', from.description),
    ...given('priority', from.priority),
  };
}

export function spendTrackerFromWire(wire: z.output<typeof spendTrackerInput>): SpendTracker {
  return {
    alias: wire.alias,
    creditTypeId: wire.credit_type_id,
    resetFrequency: wire.reset_frequency,
    specifiers: wire.applicable_spend_specifiers.map((one) => ({
      spendType: one.spend_type,
      sources: one.sources,
      discounted: one.discounted ?? 'ANY',
    })),
  };
}

export function spendTrackerToWire(from: SpendTracker): z.input<typeof spendTrackerOutput> {
  return {
    alias: from.alias,
    credit_type_id: from.creditTypeId,
    reset_frequency: from.resetFrequency,
    applicable_spend_specifiers: from.specifiers.map((one) => ({
      spend_type: one.spendType,
      sources: [...one.sources],
      discounted: one.discounted,
    })),
  };
}
