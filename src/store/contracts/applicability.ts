/** The columns that commits, recurring terms and thresholds have in common. */
import { z } from 'zod';
import { type Applicability, type HierarchyAccess, usageSpecifier } from '../../core/terms/applicability.ts';

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

function hierarchyFromColumns(row: HierarchyRow): HierarchyAccess | null {
  return row.childAccess === null ? null : { type: row.childAccess, contractIds: row.childContractIds };
}

/** The row with these columns replaced by their value. */
export function withScope<Row extends ApplicabilityRow & HierarchyRow>(row: Row) {
  const { applicableProductIds: _, applicableProductTags: __, specifiers: ___, ...rest } = row;
  const { childAccess, childContractIds, ...others } = rest;
  return {
    ...others,
    applicability: applicabilityFromColumns(row),
    hierarchyAccess: hierarchyFromColumns({ childAccess, childContractIds }),
  };
}

/** An object of columns of which either all or none are set. */
export function allOrNone<Columns extends object>(
  columns: Columns,
): { readonly [Name in keyof Columns]: NonNullable<Columns[Name]> } | null {
  // The compiler does not infer from the check that every member is set.
  return Object.values(columns).includes(null)
    ? null
    : (columns as { readonly [Name in keyof Columns]: NonNullable<Columns[Name]> });
}
