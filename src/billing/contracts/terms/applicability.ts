/** Validates the scope of a balance (docs/explanation/contracts.md, "Commits and credits"). Pure. */
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { Applicability, HierarchyAccess } from '../../../core/terms/applicability.ts';
import { type BalanceContext, requireProduct } from './terms-context.ts';

/** Refuses (`invalid`) ids or tags together with specifiers, unknown products, and empty specifiers. */
export function validateApplicability(from: Applicability, path: FieldPath, context: BalanceContext): void {
  const { productIds, productTags, specifiers } = from;
  if (specifiers.length > 0 && (productIds.length > 0 || productTags.length > 0)) {
    const field = productIds.length > 0 ? 'productIds' : 'productTags';
    throw invalid([...path, 'specifiers'], words`cannot be combined with ${[field]}`);
  }
  for (const [index, id] of productIds.entries()) {
    requireProduct(context, id, [...path, 'productIds', index]);
  }
  for (const [index, specifier] of specifiers.entries()) {
    const field = [...path, 'specifiers', index];
    const { productId, productTags: tags, pricingGroupValues, presentationGroupValues, exclude } = specifier;
    if (productId !== null) requireProduct(context, productId, [...field, 'productId']);
    const values = { ...pricingGroupValues, ...presentationGroupValues };
    const named = tags.length + Object.keys(values).length + exclude.length;
    if (productId === null && named === 0) {
      throw invalid(field, 'must name a product, tags, group values or exclude something');
    }
  }
}

/** Refuses (`invalid`) ids of contracts without CONTRACT_IDS, and CONTRACT_IDS without ids. */
export function validateHierarchyAccess(from: HierarchyAccess | null, path: FieldPath): void {
  if (from === null) return;
  const field = [...path, 'hierarchyAccess', 'contractIds'];
  if (from.type === 'CONTRACT_IDS' && from.contractIds.length === 0) {
    throw invalid(field, 'is required with type CONTRACT_IDS');
  }
  if (from.type !== 'CONTRACT_IDS' && from.contractIds.length > 0) {
    throw invalid(field, 'is for type CONTRACT_IDS only');
  }
}
