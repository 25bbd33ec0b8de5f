import { bigint, boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { PRODUCT_TYPES } from '../../core/catalogue.ts';
import { exact, instant } from '../base/columns.ts';
import { billableMetrics } from '../metrics/billable-metrics.tables.ts';

export const products = pgTable(
  'products',
  {
    id: uuid('id').primaryKey(),
    type: text('type', { enum: PRODUCT_TYPES }).notNull(),
    createdAt: instant('created_at').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [index('products_created').on(table.createdAt, table.id)],
);

/**
 * The initial state of a product, which has no `starting_at`, and every update as it was submitted. Only the columns
 * named in `changed` belong to an update; all others keep the values of earlier updates. store/products/product-versions.ts
 * derives the state in force.
 */
export const productVersions = pgTable(
  'product_versions',
  {
    /** Order of addition; among updates with one start the later one wins. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    startingAt: instant('starting_at'),
    /** Names of the terms that an update sets; null for the initial state. */
    changed: text('changed').array(),
    name: text('name').notNull(),
    tags: text('tags').array().notNull(),
    billableMetricId: uuid('billable_metric_id').references(() => billableMetrics.id),
    sqlBreakdownGranularity: text('sql_breakdown_granularity', { enum: ['HOUR', 'SERVICE_PERIOD'] }),
    conversionName: text('conversion_name'),
    conversionOperation: text('conversion_operation', { enum: ['MULTIPLY', 'DIVIDE'] }),
    conversionFactor: exact('conversion_factor'),
    roundingMethod: text('rounding_method', { enum: ['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP'] }),
    roundingDecimalPlaces: integer('rounding_decimal_places'),
    pricingGroupKey: text('pricing_group_key').array().notNull(),
    presentationGroupKey: text('presentation_group_key').array().notNull(),
    compositeProductIds: uuid('composite_product_ids').array().notNull(),
    compositeTags: text('composite_tags').array().notNull(),
    excludeFreeUsage: boolean('exclude_free_usage').notNull(),
    includeCompositeSpend: boolean('include_composite_spend').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    index('product_versions_product').on(table.productId, table.startingAt),
    index('product_versions_metric').on(table.billableMetricId),
  ],
);
