/** Products on the wire. */
import { z } from 'zod';
import type { ProductType } from '../../../core/catalogue.ts';
import { formatInstant } from '../../../core/time.ts';
import type {
  ProductChanges,
  ProductTerms,
  ProductUpdate,
  StoredProductVersion,
} from '../../../store/products/product-versions.ts';
import {
  customFields,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedTimestamp,
  timestamp,
  uuid,
  wholeNumber,
} from '../../wire/fields.ts';

const TYPES = ['USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED', 'PROFESSIONAL_SERVICE', 'PRO_SERVICE'] as const;
const RESPONSE_TYPES = ['USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED', 'PRO_SERVICE'] as const;
const OPERATIONS = ['MULTIPLY', 'DIVIDE'] as const;
const ROUNDING_METHODS = ['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP'] as const;
const SCOPES = ['CONTRACT'] as const;
const GRANULARITIES = ['HOUR', 'SERVICE_PERIOD'] as const;

/** A quantity has at most this many decimal places (core/decimal.ts), so finer rounding would do nothing. */
const DECIMAL_PLACES_MAX = 30;

const names = z.array(z.string().min(1));

const conversionInput = z
  .object({
    name: z.string().nullish(),
    conversion_factor: exactNumber(),
    operation: enumIn(OPERATIONS),
  })
  .nullish()
  .meta({ description: 'USAGE only. Applied to the metered quantity before rounding and price.' });

const roundingInput = z
  .object({
    rounding_method: enumIn(ROUNDING_METHODS),
    decimal_places: wholeNumber(0, DECIMAL_PLACES_MAX),
  })
  .nullish()
  .meta({ description: 'USAGE only. Applied after the conversion.' });

const termsInput = {
  billable_metric_id: uuid.nullish().meta({ description: 'Required for USAGE products, and for them only.' }),
  sql_breakdown_granularity: enumIn(GRANULARITIES).nullish(),
  quantity_conversion: conversionInput,
  quantity_rounding: roundingInput,
  pricing_group_key: names
    .nullish()
    .meta({ description: 'USAGE only. Event properties that select the rate.' }),
  presentation_group_key: names
    .nullish()
    .meta({ description: 'USAGE only. Event properties that split invoice lines.' }),
  composite_product_ids: z.array(uuid).nullish(),
  composite_tags: names.nullish(),
  exclude_free_usage: z.boolean().nullish(),
  include_composite_spend: z.boolean().nullish(),
  tags: names.nullish(),
};

export const createProductBody = z
  .object({
    name: z.string().min(1).meta({ description: 'Shown on invoices.' }),
    type: enumIn(TYPES),
    ...termsInput,
    composite_scope: enumIn(SCOPES).nullish().meta({
      description: 'For COMPOSITE products: the spend of the contract. No other scope is supported.',
    }),
    custom_fields: customFields.optional(),
  })
  .meta({ id: 'CreateProduct' });

export const updateProductBody = z
  .object({
    product_id: uuid,
    starting_at: hourAlignedTimestamp.meta({ description: 'On a full hour in UTC; may be past or future.' }),
    name: z.string().min(1).nullish(),
    ...termsInput,
  })
  .meta({ id: 'UpdateProduct', description: 'Omitted terms continue unchanged.' });

const productTerms = {
  name: z.string().optional(),
  starting_at: timestamp.optional(),
  tags: z.array(z.string()).optional(),
  billable_metric_id: uuid.optional(),
  sql_breakdown_granularity: z.enum(GRANULARITIES).optional(),
  quantity_conversion: z
    .object({
      name: z.string().optional(),
      conversion_factor: exactValue,
      operation: z.enum(OPERATIONS),
    })
    .nullable()
    .optional(),
  quantity_rounding: z
    .object({ rounding_method: z.enum(ROUNDING_METHODS), decimal_places: z.int() })
    .nullable()
    .optional(),
  pricing_group_key: z.array(z.string()).optional(),
  presentation_group_key: z.array(z.string()).optional(),
  composite_product_ids: z.array(uuid).optional(),
  composite_tags: z.array(z.string()).optional(),
  exclude_free_usage: z.boolean().optional(),
  include_composite_spend: z.boolean().optional(),
  created_at: timestamp,
  created_by: z.string(),
};

const productVersion = z
  .object({
    ...productTerms,
    name: z.string(),
    composite_scope: z.enum(SCOPES).optional(),
  })
  .meta({ id: 'ProductVersion' });

const productUpdate = z
  .object({ ...productTerms, starting_at: timestamp })
  .meta({ id: 'ProductUpdate', description: 'The changed fields only.' });

export const productSchema = z
  .object({
    id: uuid,
    type: z.enum(RESPONSE_TYPES),
    archived_at: timestamp.nullable(),
    initial: productVersion,
    current: productVersion.meta({ description: 'The version in force now.' }),
    updates: z.array(productUpdate).meta({ description: 'All changes by start, including future ones.' }),
    custom_fields: customFields,
  })
  .meta({ id: 'Product' });

export function termsFromWire(body: z.output<typeof createProductBody>): ProductTerms {
  return { ...NO_TERMS, name: body.name, ...changesFromWire(body) };
}

const NO_TERMS: Omit<ProductTerms, 'name'> = {
  tags: [],
  billableMetricId: null,
  sqlBreakdownGranularity: null,
  quantityConversion: null,
  quantityRounding: null,
  pricingGroupKey: [],
  presentationGroupKey: [],
  compositeProductIds: [],
  compositeTags: [],
  excludeFreeUsage: false,
  includeCompositeSpend: false,
};

/** The terms that the request sets. Null removes a conversion or a rounding; elsewhere it changes nothing. */
export function changesFromWire(
  body: Omit<z.output<typeof updateProductBody>, 'product_id' | 'starting_at'>,
): ProductChanges {
  const { quantity_conversion: conversion, quantity_rounding: rounding } = body;
  return {
    ...(body.name == null ? {} : { name: body.name }),
    ...(body.tags == null ? {} : { tags: body.tags }),
    ...(body.billable_metric_id == null ? {} : { billableMetricId: body.billable_metric_id }),
    ...(body.sql_breakdown_granularity == null
      ? {}
      : { sqlBreakdownGranularity: body.sql_breakdown_granularity }),
    ...(conversion === undefined ? {} : { quantityConversion: conversionFromWire(conversion) }),
    ...(rounding === undefined ? {} : { quantityRounding: roundingFromWire(rounding) }),
    ...(body.pricing_group_key == null ? {} : { pricingGroupKey: body.pricing_group_key }),
    ...(body.presentation_group_key == null ? {} : { presentationGroupKey: body.presentation_group_key }),
    ...(body.composite_product_ids == null ? {} : { compositeProductIds: body.composite_product_ids }),
    ...(body.composite_tags == null ? {} : { compositeTags: body.composite_tags }),
    ...(body.exclude_free_usage == null ? {} : { excludeFreeUsage: body.exclude_free_usage }),
    ...(body.include_composite_spend == null ? {} : { includeCompositeSpend: body.include_composite_spend }),
  };
}

function conversionFromWire(
  wire: NonNullable<z.output<typeof conversionInput>> | null,
): ProductTerms['quantityConversion'] {
  if (wire === null) return null;
  const { name, operation, conversion_factor } = wire;
  return { name: name ?? null, operation, conversionFactor: conversion_factor };
}

function roundingFromWire(
  wire: NonNullable<z.output<typeof roundingInput>> | null,
): ProductTerms['quantityRounding'] {
  return wire === null ? null : { method: wire.rounding_method, decimalPlaces: wire.decimal_places };
}

/** A complete version: all terms of products of its type. */
export function versionToWire(
  { startingAt, createdAt, createdBy, ...terms }: StoredProductVersion,
  type: ProductType,
): z.input<typeof productVersion> {
  return {
    ...changesToWire(termsOfType(terms, type)),
    composite_scope: type === 'COMPOSITE' ? ('CONTRACT' as const) : undefined,
    name: terms.name,
    ...(startingAt === null ? {} : { starting_at: formatInstant(startingAt) }),
    created_at: formatInstant(createdAt),
    created_by: createdBy,
  };
}

function termsOfType(terms: ProductTerms, type: ProductType): ProductChanges {
  const { compositeProductIds, compositeTags, excludeFreeUsage, includeCompositeSpend, ...usage } = terms;
  const { name, tags } = terms;
  if (type === 'USAGE') return withoutEmptyKeys(usage);
  return type === 'COMPOSITE'
    ? { name, tags, compositeProductIds, compositeTags, excludeFreeUsage, includeCompositeSpend }
    : { name, tags };
}

/** A state leaves out keys that are empty, so that clients read an absent key as undefined. */
function withoutEmptyKeys({
  pricingGroupKey,
  presentationGroupKey,
  ...terms
}: ProductChanges): ProductChanges {
  return {
    ...terms,
    ...(pricingGroupKey?.length ? { pricingGroupKey } : {}),
    ...(presentationGroupKey?.length ? { presentationGroupKey } : {}),
  };
}

/** An update: only the terms that it set. */
export function updateToWire(from: ProductUpdate): z.input<typeof productUpdate> {
  return {
    ...changesToWire(from.changes),
    starting_at: formatInstant(from.startingAt),
    created_at: formatInstant(from.createdAt),
    created_by: from.createdBy,
  };
}

function changesToWire(from: ProductChanges) {
  const { quantityConversion: conversion, quantityRounding: rounding } = from;
  return {
    name: from.name,
    tags: from.tags && [...from.tags],
    billable_metric_id: from.billableMetricId ?? undefined,
    sql_breakdown_granularity: from.sqlBreakdownGranularity ?? undefined,
    quantity_conversion: conversion && {
      name: conversion.name ?? undefined,
      conversion_factor: conversion.conversionFactor,
      operation: conversion.operation,
    },
    quantity_rounding: rounding && {
      rounding_method: rounding.method,
      decimal_places: rounding.decimalPlaces,
    },
    pricing_group_key: from.pricingGroupKey && [...from.pricingGroupKey],
    presentation_group_key: from.presentationGroupKey && [...from.presentationGroupKey],
    composite_product_ids: from.compositeProductIds && [...from.compositeProductIds],
    composite_tags: from.compositeTags && [...from.compositeTags],
    exclude_free_usage: from.excludeFreeUsage,
    include_composite_spend: from.includeCompositeSpend,
  };
}
