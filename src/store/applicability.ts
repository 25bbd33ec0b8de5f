/** The columns that commits, recurring terms and thresholds have in common. */
import { z } from 'zod';
import { type Applicability, type HierarchyAccess, usageSpecifier } from '../core/terms/applicability.ts';
import type { ProrationRounding } from '../core/terms/recurring-commits.ts';

const specifiersColumn = z.array(usageSpecifier);

interface ApplicabilityRow {
  readonly applicableProductIds: string[];
  readonly applicableProductTags: string[];
  readonly specifiers: unknown;
}

export function applicabilityToColumns(from: Applicability) {
  return {
    applicableProductIds: [...from.productIds],
    applicableProductTags: [...from.productTags],
    specifiers: from.specifiers,
  };
}

export function applicabilityFromColumns(row: ApplicabilityRow): Applicability {
  return {
    productIds: row.applicableProductIds,
    productTags: row.applicableProductTags,
    specifiers: specifiersColumn.parse(row.specifiers),
  };
}

interface HierarchyRow {
  readonly childAccess: HierarchyAccess['type'] | null;
  readonly childContractIds: string[];
}

export function hierarchyToColumns(from: HierarchyAccess | null): HierarchyRow {
  return { childAccess: from?.type ?? null, childContractIds: [...(from?.contractIds ?? [])] };
}

export function hierarchyFromColumns(row: HierarchyRow): HierarchyAccess | null {
  return row.childAccess === null ? null : { type: row.childAccess, contractIds: row.childContractIds };
}

/** Both columns are set or neither is. */
export function roundingFromColumns(
  method: ProrationRounding['roundingMethod'] | null,
  places: number | null,
): ProrationRounding | null {
  return method === null || places === null ? null : { roundingMethod: method, decimalPlaces: places };
}
