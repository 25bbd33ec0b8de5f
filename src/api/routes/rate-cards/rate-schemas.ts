/** Rates on the wire, in requests and in answers. */
import { z } from 'zod';
import { type PriceTerms, RATE_TYPES, type RateTerms } from '../../../billing/rate-cards/rate-terms.ts';
import { BILLING_FREQUENCIES, type Rate, TIERS_MODES, type Tier } from '../../../core/catalogue.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert } from '../../../core/errors.ts';
import {
  creditType,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedEnd,
  hourAlignedTimestamp,
  uuid,
} from '../../wire/fields.ts';

/** Far above any price list; keeps one call's transaction within seconds. */
export const RATES_PER_CALL_MAX = 10_000;

const tierInput = z
  .object({
    size: exactNumber()
      .nullish()
      .meta({ description: 'Units that the tier holds; left out in the last one.' }),
    price: exactNumber(),
  })
  .meta({ id: 'TierInput' });

const minimumInput = z.object({ minimum: exactNumber({ min: '0' }) });

const priceInput = {
  rate_type: enumIn(RATE_TYPES).meta({
    description:
      'FLAT and TIERED for USAGE products, FLAT and SUBSCRIPTION for SUBSCRIPTION products, PERCENTAGE and ' +
      'TIERED_PERCENTAGE for COMPOSITE products. CUSTOM is not supported.',
  }),
  price: exactNumber({ min: '0' })
    .nullish()
    .meta({ description: 'Per unit; of a PERCENTAGE rate a fraction, 0.05 for 5 %.' }),
  tiers: z.array(tierInput).nullish(),
  tiers_mode: z
    .enum(TIERS_MODES)
    .nullish()
    .meta({
      description:
        'graduated (default): each unit has the price of its tier. volume: all units of the billing period have ' +
        'the price of the tier that they reach together.',
    }),
  minimum_config: minimumInput
    .nullish()
    .meta({ description: 'Percentages only: the least charge of a billing period.' }),
};

export const groupValues = z.record(z.string(), z.string());

export const rateInput = z
  .object({
    product_id: uuid,
    pricing_group_values: groupValues
      .nullish()
      .meta({ description: 'A value for each property of the product’s pricing key; none: for all others.' }),
    billing_frequency: enumIn(BILLING_FREQUENCIES)
      .nullish()
      .meta({ description: 'Required for SUBSCRIPTION products, and for them only.' }),
    starting_at: hourAlignedTimestamp,
    ending_before: hourAlignedEnd.nullish(),
    entitled: z.boolean(),
    ...priceInput,
    credit_type_id: uuid
      .nullish()
      .meta({ description: 'Pricing unit. Default: US cents. Percentages have none.' }),
    commit_rate: z.object(priceInput).nullish(),
    quantity: exactNumber({ min: '0' }).nullish().meta({ description: 'SUBSCRIPTION rates only.' }),
    is_prorated: z.boolean().nullish().meta({ description: 'SUBSCRIPTION rates only; must be true.' }),
  })
  .meta({ id: 'RateInput' });

const tier = z.object({ size: exactValue.optional(), price: exactValue }).meta({ id: 'Tier' });

const price = {
  rate_type: z.enum(RATE_TYPES),
  price: exactValue.optional(),
  tiers: z.array(tier).optional(),
  tiers_mode: z.enum(TIERS_MODES).optional().meta({ description: 'Absent: graduated.' }),
  minimum_config: z.object({ minimum: exactValue }).optional(),
};

export const commitRate = z.object(price).meta({ id: 'CommitRate' });

export const rateSchema = z
  .object({
    ...price,
    quantity: exactValue.optional(),
    is_prorated: z.boolean().optional(),
    pricing_group_values: groupValues.optional(),
    credit_type: creditType.optional().meta({ description: 'Absent for percentages.' }),
  })
  .meta({ id: 'Rate' });

export const rateWithCommitRate = rateSchema
  .extend({ commit_rate: commitRate.optional() })
  .meta({ id: 'RateWithCommitRate' });

export function rateFromWire(wire: z.output<typeof rateInput>): RateTerms {
  return {
    price: {
      ...priceFromWire(wire),
      quantity: wire.quantity ?? null,
      isProrated: wire.is_prorated ?? null,
    },
    productId: wire.product_id,
    pricingGroupValues: wire.pricing_group_values ?? {},
    billingFrequency: wire.billing_frequency ?? null,
    startingAt: wire.starting_at,
    endingBefore: wire.ending_before ?? null,
    entitled: wire.entitled,
    creditTypeId: wire.credit_type_id ?? null,
    commitPrice: wire.commit_rate == null ? null : priceFromWire(wire.commit_rate),
  };
}

const priceObject = z.object(priceInput);

function priceFromWire(wire: z.output<typeof priceObject>): PriceTerms {
  return {
    rateType: wire.rate_type,
    price: wire.price ?? null,
    tiers: wire.tiers?.map((one): Tier => ({ size: one.size ?? null, price: one.price })) ?? null,
    tiersMode: wire.tiers_mode ?? null,
    minimum: wire.minimum_config?.minimum ?? null,
    quantity: null,
    isProrated: null,
  };
}

/** The price of a rate, as shown in every object with a rate. */
export function priceToWire(rate: Rate) {
  return {
    rate_type: rate.rateType,
    ...('price' in rate ? { price: rate.price } : {}),
    ...('tiers' in rate
      ? { tiers: rate.tiers.map(({ size, price }) => (size === null ? { price } : { size, price })) }
      : {}),
    ...('tiersMode' in rate && rate.tiersMode !== undefined ? { tiers_mode: rate.tiersMode } : {}),
    ...('minimum' in rate && rate.minimum !== null ? { minimum_config: { minimum: rate.minimum } } : {}),
  };
}

/** A rate with its group values and its pricing unit. */
export function rateToWire(
  rate: Rate,
  pricingGroupValues: Readonly<Record<string, string>>,
  unit: CreditType | undefined,
): z.input<typeof rateSchema> {
  const isPercentage = rate.rateType === 'PERCENTAGE' || rate.rateType === 'TIERED_PERCENTAGE';
  assert(unit !== undefined, 'the pricing unit of a rate exists');
  return {
    ...priceToWire(rate),
    ...('quantity' in rate && rate.quantity !== null ? { quantity: rate.quantity } : {}),
    ...('isProrated' in rate && rate.isProrated !== null ? { is_prorated: rate.isProrated } : {}),
    ...(Object.keys(pricingGroupValues).length === 0
      ? {}
      : { pricing_group_values: { ...pricingGroupValues } }),
    ...(isPercentage ? {} : { credit_type: unit }),
  };
}
