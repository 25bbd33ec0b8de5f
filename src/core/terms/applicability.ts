/** Which usage a balance may pay for, and through which rate. */
import { z } from 'zod';
import { listOf, objectOf, textMap } from './values.ts';

export const RATE_TARGETS = ['LIST_RATE', 'COMMIT_RATE'] as const;

/** Excludes a product that carries all of the tags. There is at least one tag. */
const exclusion = objectOf({ productTags: listOf(z.string()) });

/** Conditions that usage must all meet. Null or empty: no condition. */
export const usageConditions = {
  productId: z.string().nullable(),
  /** The product must carry all of them. */
  productTags: listOf(z.string()),
  pricingGroupValues: textMap,
  presentationGroupValues: textMap,
  /** A product that meets one of them does not meet the specifier. */
  exclude: listOf(exclusion).default([]),
};

export const usageSpecifier = objectOf(usageConditions);
export type UsageSpecifier = z.output<typeof usageSpecifier>;

/**
 * The usage a commit or credit covers. `productIds` and `productTags` are ORed, as is each tag; specifiers are ORed as
 * well and exclude both. Everything empty: all usage.
 */
export const applicability = objectOf({
  productIds: listOf(z.string()),
  productTags: listOf(z.string()),
  specifiers: listOf(usageSpecifier),
});
export type Applicability = z.output<typeof applicability>;

export const ANY_USAGE: Applicability = { productIds: [], productTags: [], specifiers: [] };

/** Which child contracts may draw on a balance of their parent. */
export const hierarchyAccess = objectOf({
  type: z.enum(['ALL', 'NONE', 'CONTRACT_IDS']),
  /** With CONTRACT_IDS, else empty. */
  contractIds: listOf(z.string()),
});
export type HierarchyAccess = z.output<typeof hierarchyAccess>;
