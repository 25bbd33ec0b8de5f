/** How products look on the wire. */
import { z } from 'zod';
import type { ProductTerms } from '../../billing/products/product-definition.ts';
import { formatInstant } from '../../core/time.ts';
import type { StoredProductVersion } from '../../store/products.ts';
import { customFields, enumIn, exactNumber, exactValue, timestamp, uuid, wholeNumber } from '../fields.ts';

const TYPES = ['USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED', 'PROFESSIONAL_SERVICE', 'PRO_SERVICE'] as const;
const RESPONSE_TYPES = ['USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED', 'PRO_SERVICE'] as const;
const OPERATIONS = ['MULTIPLY', 'DIVIDE'] as const;
const ROUNDING_METHODS = ['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP'] as const;
const GRANULARITIES = ['HOUR', 'SERVICE_PERIOD'] as const;

/** A quantity has at most this many decimal places (core/decimal.ts), so finer rounding would do nothing. */
const DECIMAL_PLACES_MAX = 30;

const names = z.array(z.string().min(1));

export const createProductBody = z
  .object({
    name: z.string().min(1).meta({ description: 'Shown on invoices.' }),
    type: enumIn(TYPES),
    billable_metric_id: uuid
      .nullish()
      .meta({ description: 'Required for USAGE products, and for them only.' }),
    sql_breakdown_granularity: enumIn(GRANULARITIES).nullish(),
    quantity_conversion: z
      .object({
        name: z.string().nullish(),
        conversion_factor: exactNumber(),
        operation: enumIn(OPERATIONS),
      })
      .nullish()
      .meta({ description: 'USAGE only. Applied to the metered quantity before rounding and price.' }),
    quantity_rounding: z
      .object({
        rounding_method: enumIn(ROUNDING_METHODS),
        decimal_places: wholeNumber(0, DECIMAL_PLACES_MAX),
      })
      .nullish()
      .meta({ description: 'USAGE only. Applied after the conversion.' }),
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
    custom_fields: customFields.optional(),
  })
  .meta({ id: 'CreateProduct' });

const productVersion = z
  .object({
    name: z.string(),
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
  })
  .meta({ id: 'ProductVersion' });

export const productSchema = z
  .object({
    id: uuid,
    type: z.enum(RESPONSE_TYPES),
    archived_at: timestamp.nullable(),
    initial: productVersion,
    current: productVersion.meta({ description: 'The version in force now.' }),
    updates: z.array(productVersion).meta({ description: 'All later versions, also those still to come.' }),
    custom_fields: customFields,
  })
  .meta({ id: 'Product' });

export function termsFromWire(body: z.output<typeof createProductBody>): ProductTerms {
  const { quantity_conversion: conversion, quantity_rounding: rounding } = body;
  return {
    name: body.name,
    tags: body.tags ?? [],
    billableMetricId: body.billable_metric_id ?? null,
    sqlBreakdownGranularity: body.sql_breakdown_granularity ?? null,
    quantityConversion:
      conversion == null
        ? null
        : {
            name: conversion.name ?? null,
            operation: conversion.operation,
            conversionFactor: conversion.conversion_factor,
          },
    quantityRounding:
      rounding == null ? null : { method: rounding.rounding_method, decimalPlaces: rounding.decimal_places },
    pricingGroupKey: body.pricing_group_key ?? [],
    presentationGroupKey: body.presentation_group_key ?? [],
    compositeProductIds: body.composite_product_ids ?? [],
    compositeTags: body.composite_tags ?? [],
    excludeFreeUsage: body.exclude_free_usage ?? false,
    includeCompositeSpend: body.include_composite_spend ?? false,
  };
}

export function versionToWire(from: StoredProductVersion): z.input<typeof productVersion> {
  return {
    name: from.name,
    ...(from.startingAt === null ? {} : { starting_at: formatInstant(from.startingAt) }),
    tags: [...from.tags],
    ...(from.billableMetricId === null ? {} : usageTermsToWire(from, from.billableMetricId)),
    ...(from.compositeProductIds.length + from.compositeTags.length === 0
      ? {}
      : {
          composite_product_ids: [...from.compositeProductIds],
          composite_tags: [...from.compositeTags],
          exclude_free_usage: from.excludeFreeUsage,
          include_composite_spend: from.includeCompositeSpend,
        }),
    created_at: formatInstant(from.createdAt),
    created_by: from.createdBy,
  };
}

function usageTermsToWire(from: StoredProductVersion, billableMetricId: string) {
  const { quantityConversion: conversion, quantityRounding: rounding } = from;
  return {
    billable_metric_id: billableMetricId,
    ...(from.sqlBreakdownGranularity === null
      ? {}
      : { sql_breakdown_granularity: from.sqlBreakdownGranularity }),
    quantity_conversion:
      conversion === null
        ? null
        : {
            ...(conversion.name === null ? {} : { name: conversion.name }),
            conversion_factor: conversion.conversionFactor,
            operation: conversion.operation,
          },
    quantity_rounding:
      rounding === null ? null : { rounding_method: rounding.method, decimal_places: rounding.decimalPlaces },
    pricing_group_key: [...from.pricingGroupKey],
    presentation_group_key: [...from.presentationGroupKey],
  };
}
