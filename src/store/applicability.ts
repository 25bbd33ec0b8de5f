/** The columns that commits, recurring terms and thresholds have in common. */
import { z } from 'zod';
import { type Applicability, type HierarchyAccess, usageSpecifier } from '../core/terms/applicability.ts';

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

/** A row with what these columns say in place of them. */
export function withScope<Row extends ApplicabilityRow & HierarchyRow>(row: Row) {
  const { applicableProductIds: _, applicableProductTags: __, specifiers: ___, ...rest } = row;
  const { childAccess, childContractIds, ...others } = rest;
  return {
    ...others,
    applicability: applicabilityFromColumns(row),
    hierarchyAccess: hierarchyFromColumns({ childAccess, childContractIds }),
  };
}

/** An object of columns that are all set or none is. */
export function allOrNone<Columns extends object>(
  columns: Columns,
): { readonly [Name in keyof Columns]: NonNullable<Columns[Name]> } | null {
  // What the check says of every member the compiler knows of single ones only.
  return Object.values(columns).includes(null)
    ? null
    : (columns as { readonly [Name in keyof Columns]: NonNullable<Columns[Name]> });
}
