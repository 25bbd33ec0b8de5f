/** How rates look on the wire, in requests and in answers. */
import { z } from 'zod';
import { type PriceTerms, RATE_TYPES, type RateTerms } from '../../billing/rate-cards/rate-terms.ts';
import type { Rate, Tier } from '../../core/catalogue.ts';
import type { CreditType } from '../../core/credit-types.ts';
import { invalid } from '../../core/errors.ts';
import { creditType, enumIn, exactNumber, exactValue, hourAlignedTimestamp, uuid } from '../fields.ts';

export const BILLING_FREQUENCIES = ['MONTHLY', 'QUARTERLY', 'ANNUAL', 'WEEKLY'] as const;

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

const notYet = z.unknown().optional();

const priceInput = {
  rate_type: enumIn(RATE_TYPES).meta({ description: 'FLAT or TIERED; other types are not supported yet.' }),
  price: exactNumber({ min: '0' }).nullish(),
  tiers: z.array(tierInput).nullish(),
  minimum_config: notYet,
};

export const groupValues = z.record(z.string(), z.string());

export const rateInput = z
  .object({
    product_id: uuid,
    pricing_group_values: groupValues
      .nullish()
      .meta({ description: 'A value for each property of the product’s pricing key; none: for all others.' }),
    billing_frequency: enumIn(BILLING_FREQUENCIES).nullish(),
    starting_at: hourAlignedTimestamp,
    ending_before: hourAlignedTimestamp.nullish(),
    entitled: z.boolean(),
    ...priceInput,
    credit_type_id: uuid.nullish().meta({ description: 'Pricing unit. Default: US cents.' }),
    commit_rate: z.object(priceInput).nullish(),
    quantity: notYet,
    is_prorated: notYet,
    custom_rate: notYet,
  })
  .meta({ id: 'RateInput' });

const tier = z.object({ size: exactValue.optional(), price: exactValue }).meta({ id: 'Tier' });

const price = {
  rate_type: z.enum(RATE_TYPES),
  price: exactValue.optional(),
  tiers: z.array(tier).optional(),
};

export const commitRate = z.object(price).meta({ id: 'CommitRate' });

export const rateSchema = z
  .object({ ...price, pricing_group_values: groupValues.optional(), credit_type: creditType })
  .meta({ id: 'Rate' });

export const rateWithCommitRate = rateSchema
  .extend({ commit_rate: commitRate.optional() })
  .meta({ id: 'RateWithCommitRate' });

/** `field` is the path of the rate in the request with its dot, or ''. */
export function rateFromWire(wire: z.output<typeof rateInput>, field: string): RateTerms {
  refuseUnsupported(wire, field);
  return {
    ...priceFromWire(wire),
    productId: wire.product_id,
    pricingGroupValues: wire.pricing_group_values ?? {},
    billingFrequency: wire.billing_frequency ?? null,
    startingAt: wire.starting_at,
    endingBefore: wire.ending_before ?? null,
    entitled: wire.entitled,
    creditTypeId: wire.credit_type_id ?? null,
    commitRate: wire.commit_rate == null ? null : priceFromWire(wire.commit_rate),
  };
}

/** These belong to rate types that are not rated yet; dropping them would change the price unnoticed. */
function refuseUnsupported(wire: z.output<typeof rateInput>, field: string): void {
  const { minimum_config, quantity, is_prorated, custom_rate } = wire;
  const given = {
    minimum_config,
    quantity,
    is_prorated,
    custom_rate,
    'commit_rate.minimum_config': wire.commit_rate?.minimum_config,
  };
  const name = Object.entries(given).find(([, value]) => value != null)?.[0];
  if (name !== undefined) throw invalid(`${field}${name}`, 'does not apply to FLAT and TIERED rates');
}

function priceFromWire(wire: {
  readonly rate_type: PriceTerms['rateType'];
  readonly price?: PriceTerms['price'] | undefined;
  readonly tiers?: readonly z.output<typeof tierInput>[] | null | undefined;
}): PriceTerms {
  return {
    rateType: wire.rate_type,
    price: wire.price ?? null,
    tiers: wire.tiers?.map((one): Tier => ({ size: one.size ?? null, price: one.price })) ?? null,
  };
}

export function priceToWire(rate: Rate) {
  if (rate.rateType === 'FLAT') return { rate_type: rate.rateType, price: rate.price };
  return {
    rate_type: rate.rateType,
    tiers: rate.tiers.map(({ size, price }) => (size === null ? { price } : { size, price })),
  };
}

export function rateToWire(
  rate: Rate,
  pricingGroupValues: Readonly<Record<string, string>>,
  unit: CreditType,
): z.input<typeof rateSchema> {
  return {
    ...priceToWire(rate),
    ...(Object.keys(pricingGroupValues).length === 0
      ? {}
      : { pricing_group_values: { ...pricingGroupValues } }),
    credit_type: unit,
  };
}
