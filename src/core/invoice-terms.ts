/**
 * Everything that a usage invoice is computed from besides the events: rates, products and contract terms. It is
 * stored with an issued invoice, because the originals may change afterwards.
 *
 * It has two parts. The part of the rate card is shared by all contracts on it.
 */
import { z } from 'zod';
import { BILLING_FREQUENCIES, PRODUCT_TYPES } from './catalogue.ts';
import { usageFilter } from './terms/contract.ts';
import { MULTIPLIER_PRIORITIZATIONS, override, overwriteRate, usageRate } from './terms/overrides.ts';
import { exactText, instantValue, listOf, objectOf, textMap } from './terms/values.ts';

const versionShape = {
  startingAt: instantValue.nullable(),
  name: z.string(),
  tags: listOf(z.string()),
  billableMetricId: z.string().nullable(),
  quantityConversion: objectOf({
    name: z.string().nullable(),
    operation: z.enum(['MULTIPLY', 'DIVIDE']),
    conversionFactor: exactText,
  }).nullable(),
  quantityRounding: objectOf({
    method: z.enum(['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP']),
    decimalPlaces: z.int(),
  }).nullable(),
  sqlBreakdownGranularity: z.enum(['HOUR', 'SERVICE_PERIOD']).nullable(),
  pricingGroupKey: listOf(z.string()),
  presentationGroupKey: listOf(z.string()),
  createdAt: instantValue,
  createdBy: z.string(),
};
const productVersion = objectOf(versionShape);
const compositeVersion = objectOf({
  ...versionShape,
  compositeProductIds: listOf(z.string()),
  compositeTags: listOf(z.string()),
  excludeFreeUsage: z.boolean(),
  includeCompositeSpend: z.boolean(),
});

const rateEntry = objectOf({
  id: z.string(),
  rateCardId: z.string(),
  productId: z.string(),
  pricingGroupValues: textMap,
  billingFrequency: z.enum(BILLING_FREQUENCIES).nullable(),
  startingAt: instantValue,
  endingBefore: instantValue.nullable(),
  entitled: z.boolean(),
  rate: overwriteRate,
  /** Invoices from before drawdown have none. */
  commitRate: usageRate.nullable().default(null),
  creditTypeId: z.string(),
  sequence: z.int(),
});

/** A product with every rate that was ever added for it. */
function pricedProduct<Version extends z.ZodType>(version: Version) {
  return objectOf({
    product: objectOf({
      id: z.string(),
      type: z.enum(PRODUCT_TYPES),
      archivedAt: instantValue.nullable(),
      versions: listOf(version),
    }),
    rateEntries: listOf(rateEntry),
  });
}

export const cardTerms = objectOf({
  fiatCreditTypeId: z.string(),
  /** Names of the custom pricing units, and the value of one unit in the currency. */
  conversions: listOf(
    objectOf({ customCreditTypeId: z.string(), name: z.string(), fiatPerCustomCredit: exactText }),
  ),
  /** Usage products. */
  products: listOf(pricedProduct(productVersion)),
  /** Composite products. Invoices from before they were billed have none. */
  composites: listOf(pricedProduct(compositeVersion)).default([]),
  /** Subscription products. Invoices from before they were billed have none. */
  subscriptions: listOf(pricedProduct(productVersion)).default([]),
  productOrder: listOf(z.string()),
});
export type CardTerms = z.output<typeof cardTerms>;

export const contractUsageTerms = objectOf({
  /** The customer's references in events. */
  customerRefs: listOf(z.string()),
  overrides: listOf(override),
  multiplierPrioritization: z.enum(MULTIPLIER_PRIORITIZATIONS),
  usageFilters: listOf(usageFilter),
  /** Composites on invoices of earlier versions counted usage only. */
  compositesCountSubscriptions: z.boolean().default(false),
});
export type ContractUsageTerms = z.output<typeof contractUsageTerms>;

export interface InvoiceTerms {
  readonly card: CardTerms;
  readonly contract: ContractUsageTerms;
}

/** The terms of a card without fields that invoices do not need. */
export function keptCardTerms({ products, composites, subscriptions, ...rest }: CardTerms): CardTerms {
  return {
    ...rest,
    products: products.map((one) => keptProduct(one, keptVersion)),
    composites: composites.map((one) => keptProduct(one, keptCompositeVersion)),
    subscriptions: subscriptions.map((one) => keptProduct(one, keptVersion)),
  };
}

interface PricedProduct<Version> {
  readonly product: Omit<CardTerms['products'][number]['product'], 'versions'> & {
    readonly versions: readonly Version[];
  };
  readonly rateEntries: CardTerms['products'][number]['rateEntries'];
}

function keptProduct<Version>(
  { product, rateEntries }: PricedProduct<Version>,
  keptVersionOf: (version: Version) => Version,
): PricedProduct<Version> {
  return {
    product: {
      id: product.id,
      type: product.type,
      // Archiving a product does not change the rate cards that have it.
      archivedAt: null,
      versions: product.versions.map(keptVersionOf),
    },
    rateEntries: rateEntries.map((entry) => ({
      id: entry.id,
      rateCardId: entry.rateCardId,
      productId: entry.productId,
      pricingGroupValues: entry.pricingGroupValues,
      billingFrequency: entry.billingFrequency,
      startingAt: entry.startingAt,
      endingBefore: entry.endingBefore,
      entitled: entry.entitled,
      rate: entry.rate,
      commitRate: entry.commitRate,
      creditTypeId: entry.creditTypeId,
      sequence: entry.sequence,
    })),
  };
}

function keptVersion(version: z.output<typeof productVersion>): z.output<typeof productVersion> {
  return {
    startingAt: version.startingAt,
    name: version.name,
    tags: version.tags,
    billableMetricId: version.billableMetricId,
    quantityConversion: version.quantityConversion,
    quantityRounding: version.quantityRounding,
    sqlBreakdownGranularity: version.sqlBreakdownGranularity,
    pricingGroupKey: version.pricingGroupKey,
    presentationGroupKey: version.presentationGroupKey,
    createdAt: version.createdAt,
    createdBy: version.createdBy,
  };
}

function keptCompositeVersion(version: z.output<typeof compositeVersion>): z.output<typeof compositeVersion> {
  return {
    ...keptVersion(version),
    compositeProductIds: version.compositeProductIds,
    compositeTags: version.compositeTags,
    excludeFreeUsage: version.excludeFreeUsage,
    includeCompositeSpend: version.includeCompositeSpend,
  };
}
