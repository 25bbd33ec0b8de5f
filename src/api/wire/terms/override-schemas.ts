/** How overrides look on the wire. */
import { z } from 'zod';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import {
  OVERRIDE_TYPES,
  type Override,
  type OverrideInput,
  type OverrideSpecifier,
  type OverwriteRateInput,
} from '../../../core/terms/overrides.ts';
import { formatInstant } from '../../../core/time.ts';
import {
  creditType,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedTimestamp,
  timestamp,
  uuid,
} from '../fields.ts';
import {
  creditTypeToWire,
  given,
  givenMap,
  namedProduct,
  productToWire,
  rateTarget,
  type TermNames,
  unsupported,
} from './term-fields.ts';

const RATE_TYPES = ['FLAT', 'PERCENTAGE', 'SUBSCRIPTION', 'TIERED', 'TIERED_PERCENTAGE', 'CUSTOM'] as const;

const groupValues = z.record(z.string().min(1), z.string());
const tags = z.array(z.string().min(1)).max(100);
const ids = z.array(z.string().min(1)).max(1_000);

const overrideSpecifierInput = z
  .object({
    product_id: uuid.nullish(),
    product_tags: tags.nullish().meta({ description: 'The product must carry all of them.' }),
    pricing_group_values: groupValues.nullish(),
    presentation_group_values: groupValues.nullish(),
    billing_frequency: enumIn(BILLING_FREQUENCIES).nullish(),
    commit_ids: ids.nullish().meta({ description: 'Ids or temporary ids of commits.' }),
    recurring_commit_ids: ids.nullish(),
    any_commit_or_credit_ids: ids.nullish(),
    exclude: unsupported,
  })
  .meta({ id: 'OverrideSpecifierInput' });

const overwriteRateInput = z
  .object({
    rate_type: enumIn(RATE_TYPES),
    price: exactNumber().nullish(),
    tiers: z
      .array(z.object({ size: exactNumber().nullish(), price: exactNumber() }))
      .max(1_000)
      .nullish(),
    credit_type_id: uuid.nullish().meta({ description: 'Default: the unit of the rate on the card.' }),
    quantity: exactNumber({ min: '0' }).nullish(),
    is_prorated: z.boolean().nullish(),
    minimum_config: z.object({ minimum: exactNumber({ min: '0' }) }).nullish(),
    custom_rate: unsupported,
  })
  .meta({ id: 'OverwriteRateInput' });

/** Everything but the dates: packages have these fields too, with relative dates. */
export const overrideTermInput = {
  entitled: z.boolean().nullish(),
  type: enumIn(OVERRIDE_TYPES).nullish(),
  multiplier: exactNumber({ min: '0' }).nullish(),
  priority: exactNumber().nullish(),
  overwrite_rate: overwriteRateInput.nullish(),
  tiers: z
    .array(z.object({ size: exactNumber().nullish(), multiplier: exactNumber({ min: '0' }) }))
    .max(1_000)
    .nullish(),
  override_specifiers: z
    .array(overrideSpecifierInput)
    .max(1_000)
    .nullish()
    .meta({ description: 'What meets any of them is covered.' }),
  is_commit_specific: z.boolean().nullish(),
  target: rateTarget.nullish().meta({ description: 'With is_commit_specific only. Default: LIST_RATE.' }),
};

export const overrideInput = z
  .object({
    starting_at: hourAlignedTimestamp,
    ending_before: hourAlignedTimestamp.nullish(),
    product_id: uuid.nullish(),
    applicable_product_tags: tags.nullish(),
    ...overrideTermInput,
  })
  .meta({ id: 'OverrideInput' });

const overrideSpecifierOutput = z
  .object({
    product_id: uuid.optional(),
    product_tags: z.array(z.string()).optional(),
    pricing_group_values: z.record(z.string(), z.string()).optional(),
    presentation_group_values: z.record(z.string(), z.string()).optional(),
    billing_frequency: z.enum(BILLING_FREQUENCIES).optional(),
    commit_ids: z.array(uuid).optional(),
    recurring_commit_ids: z.array(uuid).optional(),
    any_commit_or_credit_ids: z.array(uuid).optional(),
  })
  .meta({ id: 'OverrideSpecifier' });

const rateOutput = {
  rate_type: z.enum(['FLAT', 'PERCENTAGE', 'SUBSCRIPTION', 'TIERED', 'TIERED_PERCENTAGE']),
  price: exactValue.optional(),
  quantity: exactValue.optional(),
  is_prorated: z.boolean().optional(),
  tiers: z.array(z.object({ size: exactValue.optional(), price: exactValue })).optional(),
  credit_type: creditType.optional(),
};

const overwriteRateOutput = z
  .object({ ...rateOutput, minimum_config: z.object({ minimum: exactValue }).optional() })
  .meta({ id: 'OverwriteRate' });

const overrideV2Shape = {
  id: uuid,
  created_at: timestamp,
  starting_at: timestamp,
  ending_before: timestamp.optional(),
  entitled: z.boolean().optional(),
  type: z.enum(OVERRIDE_TYPES).optional(),
  multiplier: exactValue.optional(),
  priority: exactValue.optional(),
  overwrite_rate: overwriteRateOutput.optional(),
  override_tiers: z.array(z.object({ size: exactValue.optional(), multiplier: exactValue })).optional(),
  product: namedProduct.optional(),
  applicable_product_tags: z.array(z.string()).optional(),
  override_specifiers: z.array(overrideSpecifierOutput).optional(),
  is_commit_specific: z.boolean(),
  target: z.enum(['LIST_RATE', 'COMMIT_RATE']).optional(),
};

export const overrideOutputV2 = z.object(overrideV2Shape).meta({ id: 'OverrideV2' });

/** Repeats the rate of an OVERWRITE, as older clients read it. */
export const overrideOutput = z
  .object({ ...overrideV2Shape, ...rateOutput, rate_type: rateOutput.rate_type.optional() })
  .meta({ id: 'Override' });

export function overrideFromWire(wire: z.output<typeof overrideInput>): OverrideInput {
  return {
    ...overrideTermFromWire(wire),
    startingAt: wire.starting_at,
    endingBefore: wire.ending_before ?? null,
    productId: wire.product_id ?? null,
    applicableProductTags: wire.applicable_product_tags ?? [],
  };
}

/** Everything but the dates and the simple targets. */
export function overrideTermFromWire(wire: z.output<z.ZodObject<typeof overrideTermInput>>) {
  return {
    entitled: wire.entitled ?? null,
    type: wire.type ?? null,
    multiplier: wire.multiplier ?? null,
    priority: wire.priority ?? null,
    overwriteRate: wire.overwrite_rate == null ? null : overwriteRateFromWire(wire.overwrite_rate),
    tiers: wire.tiers?.map(({ size, multiplier }) => ({ size: size ?? null, multiplier })) ?? null,
    specifiers: (wire.override_specifiers ?? []).map(specifierFromWire),
    isCommitSpecific: wire.is_commit_specific ?? false,
    target: wire.target ?? null,
  };
}

function overwriteRateFromWire(wire: z.output<typeof overwriteRateInput>): OverwriteRateInput {
  return {
    rateType: wire.rate_type,
    price: wire.price ?? null,
    tiers: wire.tiers?.map(({ size, price }) => ({ size: size ?? null, price })) ?? null,
    minimum: wire.minimum_config?.minimum ?? null,
    quantity: wire.quantity ?? null,
    isProrated: wire.is_prorated ?? null,
    creditTypeId: wire.credit_type_id ?? null,
  };
}

function specifierFromWire(wire: z.output<typeof overrideSpecifierInput>): OverrideSpecifier {
  return {
    productId: wire.product_id ?? null,
    productTags: wire.product_tags ?? [],
    pricingGroupValues: wire.pricing_group_values ?? {},
    presentationGroupValues: wire.presentation_group_values ?? {},
    billingFrequency: wire.billing_frequency ?? null,
    commitIds: wire.commit_ids ?? [],
    recurringCommitIds: wire.recurring_commit_ids ?? [],
    anyCommitOrCreditIds: wire.any_commit_or_credit_ids ?? [],
  };
}

export function overrideToWireV2(from: Override, names: TermNames): z.input<typeof overrideOutputV2> {
  return {
    id: from.id,
    created_at: formatInstant(from.createdAt),
    starting_at: formatInstant(from.startingAt),
    ...given('ending_before', from.endingBefore === null ? null : formatInstant(from.endingBefore)),
    ...given('entitled', from.entitled),
    ...given('type', from.type),
    ...given('multiplier', from.multiplier),
    ...given('priority', from.priority),
    ...given('overwrite_rate', overwriteRateToWire(from, names)),
    ...given(
      'override_tiers',
      from.tiers.map(({ size, multiplier }) => ({ ...given('size', size), multiplier })),
    ),
    ...given('product', from.productId === null ? null : productToWire(from.productId, names)),
    ...given('applicable_product_tags', [...from.applicableProductTags]),
    ...given('override_specifiers', from.specifiers.map(specifierToWire)),
    is_commit_specific: from.isCommitSpecific,
    ...given('target', from.isCommitSpecific ? from.target : null),
  };
}

export function overrideToWire(from: Override, names: TermNames): z.input<typeof overrideOutput> {
  const { minimum_config: _, ...rate } = overwriteRateToWire(from, names) ?? {};
  return { ...overrideToWireV2(from, names), ...rate };
}

function overwriteRateToWire(
  { overwriteRate }: Override,
  names: TermNames,
): z.input<typeof overwriteRateOutput> | null {
  if (overwriteRate === null) return null;
  const { rate, creditTypeId } = overwriteRate;
  return {
    rate_type: rate.rateType,
    ...('price' in rate ? { price: rate.price } : {}),
    ...('tiers' in rate
      ? { tiers: rate.tiers.map(({ size, price }) => ({ ...given('size', size), price })) }
      : {}),
    ...('quantity' in rate ? given('quantity', rate.quantity) : {}),
    ...('isProrated' in rate ? given('is_prorated', rate.isProrated) : {}),
    ...('minimum' in rate && rate.minimum !== null ? { minimum_config: { minimum: rate.minimum } } : {}),
    ...given('credit_type', creditTypeId === null ? null : creditTypeToWire(creditTypeId, names)),
  };
}

function specifierToWire(from: OverrideSpecifier): z.input<typeof overrideSpecifierOutput> {
  return {
    ...given('product_id', from.productId),
    ...given('product_tags', [...from.productTags]),
    ...givenMap('pricing_group_values', from.pricingGroupValues),
    ...givenMap('presentation_group_values', from.presentationGroupValues),
    ...given('billing_frequency', from.billingFrequency),
    ...given('commit_ids', [...from.commitIds]),
    ...given('recurring_commit_ids', [...from.recurringCommitIds]),
    ...given('any_commit_or_credit_ids', [...from.anyCommitOrCreditIds]),
  };
}
