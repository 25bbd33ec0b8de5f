/** Fields that several kinds of contract term share on the wire. */
import { z } from 'zod';
import type { TermNames } from '../../../billing/contracts/reads/contract-views.ts';
import type { Applicability, HierarchyAccess, UsageSpecifier } from '../../../core/terms/applicability.ts';
import { PRORATION_ROUNDING_METHODS, type ProrationRounding } from '../../../core/terms/recurring-commits.ts';
import { enumIn, exactNumber, uuid, wholeNumber } from '../fields.ts';

export type { TermNames } from '../../../billing/contracts/reads/contract-views.ts';

export const namedProduct = z.object({ id: uuid, name: z.string() });

export function productToWire(id: string, names: TermNames): z.input<typeof namedProduct> {
  return { id, name: names.products.get(id) ?? '' };
}

export function creditTypeToWire(id: string, names: TermNames): { id: string; name: string } {
  return { id, name: names.creditTypes.get(id)?.name ?? '' };
}

/** Members whose value is null or an empty list say nothing and are left out of answers. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | null | undefined,
): { [key in Name]?: Value } {
  const isGiven = value != null && !(Array.isArray(value) && value.length === 0);
  return (isGiven ? { [name]: value } : {}) as { [key in Name]?: Value };
}

export const rateTarget = enumIn(['LIST_RATE', 'COMMIT_RATE']);

const groupValues = z.record(z.string().min(1), z.string());
const tags = z.array(z.string().min(1)).max(100);

/** Behind a feature switch that this service does not have: refused, never dropped. */
export const unsupported = z
  .unknown()
  .refine((value) => value == null, 'is not supported')
  .optional();

export const usageSpecifierInput = z
  .object({
    product_id: uuid.nullish(),
    product_tags: tags.nullish().meta({ description: 'The product must carry all of them.' }),
    pricing_group_values: groupValues.nullish(),
    presentation_group_values: groupValues.nullish(),
    exclude: unsupported,
  })
  .meta({ id: 'CommitSpecifierInput' });

export const usageSpecifierOutput = z
  .object({
    product_id: uuid.optional(),
    product_tags: z.array(z.string()).optional(),
    pricing_group_values: z.record(z.string(), z.string()).optional(),
    presentation_group_values: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'CommitSpecifier' });

export const applicabilityInput = {
  applicable_product_ids: z
    .array(uuid)
    .max(1_000)
    .nullish()
    .meta({ description: 'Products it covers. Without ids, tags and specifiers it covers all.' }),
  applicable_product_tags: tags
    .nullish()
    .meta({ description: 'Products that carry one of these tags are covered.' }),
  specifiers: z
    .array(usageSpecifierInput)
    .max(100)
    .nullish()
    .meta({ description: 'Usage that meets any of them is covered. Not with ids or tags.' }),
};

export const applicabilityOutput = {
  applicable_product_ids: z.array(uuid).optional(),
  applicable_product_tags: z.array(z.string()).optional(),
  specifiers: z.array(usageSpecifierOutput).optional(),
};

interface ApplicabilityWire {
  readonly applicable_product_ids?: readonly string[] | null | undefined;
  readonly applicable_product_tags?: readonly string[] | null | undefined;
  readonly specifiers?: readonly z.output<typeof usageSpecifierInput>[] | null | undefined;
}

export function applicabilityFromWire(wire: ApplicabilityWire): Applicability {
  return {
    productIds: wire.applicable_product_ids ?? [],
    productTags: wire.applicable_product_tags ?? [],
    specifiers: (wire.specifiers ?? []).map(
      (one): UsageSpecifier => ({
        productId: one.product_id ?? null,
        productTags: one.product_tags ?? [],
        pricingGroupValues: one.pricing_group_values ?? {},
        presentationGroupValues: one.presentation_group_values ?? {},
      }),
    ),
  };
}

export function applicabilityToWire(from: Applicability) {
  return {
    ...given('applicable_product_ids', [...from.productIds]),
    ...given('applicable_product_tags', [...from.productTags]),
    ...given('specifiers', from.specifiers.map(usageSpecifierToWire)),
  };
}

function usageSpecifierToWire(from: UsageSpecifier): z.input<typeof usageSpecifierOutput> {
  return {
    ...given('product_id', from.productId),
    ...given('product_tags', [...from.productTags]),
    ...givenMap('pricing_group_values', from.pricingGroupValues),
    ...givenMap('presentation_group_values', from.presentationGroupValues),
  };
}

/** An empty map says nothing and is left out. */
export function givenMap<Name extends string>(name: Name, map: Readonly<Record<string, string>>) {
  return given(name, Object.keys(map).length === 0 ? null : { ...map });
}

const childAccess = z.object({
  type: enumIn(['ALL', 'NONE', 'CONTRACT_IDS']),
  contract_ids: z.array(uuid).max(100).nullish().meta({ description: 'With type CONTRACT_IDS.' }),
});

export const hierarchyAccessInput = z
  .object({ child_access: childAccess })
  .meta({ id: 'CommitHierarchyConfigurationInput' });

export const hierarchyAccessOutput = z
  .object({
    child_access: z.object({
      type: z.enum(['ALL', 'NONE', 'CONTRACT_IDS']),
      contract_ids: z.array(uuid).optional(),
    }),
  })
  .meta({ id: 'CommitHierarchyConfiguration' });

export function hierarchyAccessFromWire(
  wire: z.output<typeof hierarchyAccessInput> | null | undefined,
): HierarchyAccess | null {
  if (wire == null) return null;
  return { type: wire.child_access.type, contractIds: wire.child_access.contract_ids ?? [] };
}

export function hierarchyAccessToWire(from: HierarchyAccess): z.input<typeof hierarchyAccessOutput> {
  return { child_access: { type: from.type, ...given('contract_ids', [...from.contractIds]) } };
}

export const roundingInput = z
  .object({
    rounding_method: enumIn(PRORATION_ROUNDING_METHODS),
    decimal_places: wholeNumber(-5, 5).meta({
      description: 'Of the stored amount; -2 rounds cents to whole dollars.',
    }),
  })
  .meta({ id: 'ProrationRoundingConfigInput' });

export const roundingOutput = z
  .object({ rounding_method: z.enum(PRORATION_ROUNDING_METHODS), decimal_places: z.int() })
  .meta({ id: 'ProrationRoundingConfig' });

export function roundingFromWire(
  wire: z.output<typeof roundingInput> | null | undefined,
): ProrationRounding | null {
  return wire == null ? null : { roundingMethod: wire.rounding_method, decimalPlaces: wire.decimal_places };
}

export function roundingToWire(from: ProrationRounding): z.input<typeof roundingOutput> {
  return { rounding_method: from.roundingMethod, decimal_places: from.decimalPlaces };
}

/** The order of use: lower first. */
export const priority = exactNumber({ min: '0' }).meta({
  description: 'Lower is used first. Default: 100.',
});

export const fraction = exactNumber({ min: '0', max: '1' });
