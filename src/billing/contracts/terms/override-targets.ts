/** Validates the targets of overrides (docs/explanation/contracts.md, "Overrides"). Pure. */
import type { Product } from '../../../core/catalogue.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import { withoutUuidCase } from '../../../core/ids.ts';
import type { Override, OverrideInput, OverrideSpecifier } from '../../../core/terms/overrides.ts';
import { requireProduct, subscriptionRateKey, type TermsContext } from './terms-context.ts';

/** Refuses (`invalid`) contradictory targets, and products that the override cannot apply to. */
export function checkTargets(
  input: OverrideInput,
  type: Override['type'],
  path: FieldPath,
  context: TermsContext,
): void {
  const { productId, applicableProductTags, specifiers } = input;
  const isSimple = productId !== null || applicableProductTags.length > 0;
  if (isSimple && specifiers.length > 0) {
    const field = productId === null ? 'applicableProductTags' : 'productId';
    throw invalid([...path, 'specifiers'], words`cannot be combined with ${[field]}`);
  }
  if (productId !== null && applicableProductTags.length > 0) {
    throw invalid([...path, 'applicableProductTags'], words`cannot be combined with ${['productId']}`);
  }
  if (productId !== null) checkSimpleProduct(productId, type, [...path, 'productId'], context);
  if (type === 'OVERWRITE' && productId === null && specifiers.length === 0) {
    throw invalid(
      applicableProductTags.length > 0 ? [...path, 'applicableProductTags'] : [...path, 'productId'],
      'OVERWRITE must name its products by id',
    );
  }
  for (const [index, specifier] of specifiers.entries()) {
    const field = [...path, 'specifiers', index];
    checkSpecifierProduct(specifier, field, context);
    if (type === 'OVERWRITE') checkOverwriteSpecifier(specifier, field, context);
  }
}

/** The product of an override. Refuses (`invalid`) one without a rate on the contract's card. */
function requirePricedProduct(id: string, field: FieldPath, context: TermsContext): Product {
  const product = requireProduct(context, id, field);
  if (!context.card?.productIds.has(id)) throw invalid(field, 'No such product in rate card');
  return product;
}

function checkSimpleProduct(
  id: string,
  type: Override['type'],
  field: FieldPath,
  context: TermsContext,
): void {
  const product = requirePricedProduct(id, field, context);
  if (product.type === 'SUBSCRIPTION') {
    throw invalid(
      field,
      words`a SUBSCRIPTION product needs ${['specifiers']} with ${['productId']} and ${['billingFrequency']}`,
    );
  }
  if (type === 'OVERWRITE' && pricingKeyOf(product).length > 0) {
    throw invalid(
      field,
      words`OVERWRITE of a product with a ${['pricingGroupKey']} needs ${['specifiers']} with ${['pricingGroupValues']}`,
    );
  }
}

function checkSpecifierProduct(specifier: OverrideSpecifier, field: FieldPath, context: TermsContext): void {
  const { productId, billingFrequency } = specifier;
  if (productId === null) {
    if (billingFrequency === null) return;
    throw invalid([...field, 'productId'], words`is required with ${['billingFrequency']}`);
  }
  const product = requirePricedProduct(productId, [...field, 'productId'], context);
  if (product.type !== 'SUBSCRIPTION') {
    if (billingFrequency === null) return;
    throw invalid([...field, 'billingFrequency'], `is for SUBSCRIPTION products, not for ${product.type}`);
  }
  if (billingFrequency === null) {
    throw invalid([...field, 'billingFrequency'], 'is required for SUBSCRIPTION products');
  }
  if (!context.card?.subscriptionRates.has(subscriptionRateKey(productId, billingFrequency))) {
    throw invalid(
      [...field, 'billingFrequency'],
      `the rate card has no ${billingFrequency} rate of this product`,
    );
  }
}

function checkOverwriteSpecifier(
  specifier: OverrideSpecifier,
  field: FieldPath,
  context: TermsContext,
): void {
  const { productId, productTags, pricingGroupValues, presentationGroupValues } = specifier;
  if (productTags.length > 0)
    throw invalid([...field, 'productTags'], 'cannot be the target of an OVERWRITE');
  if (productId === null) throw invalid([...field, 'productId'], 'is required for OVERWRITE overrides');
  if (Object.keys(presentationGroupValues).length > 0) {
    throw invalid([...field, 'presentationGroupValues'], 'cannot be the target of an OVERWRITE');
  }
  const key = pricingKeyOf(requireProduct(context, productId, [...field, 'productId']));
  const missing = key.filter((name) => !Object.hasOwn(pricingGroupValues, name));
  if (missing.length > 0) {
    throw invalid(
      [...field, 'pricingGroupValues'],
      `must give a value for each of ${key.join(', ')} in OVERWRITE overrides`,
    );
  }
}

function pricingKeyOf(product: Product): readonly string[] {
  return product.versions.at(-1)?.pricingGroupKey ?? [];
}

/** The specifier with ids in place of temporary ids. Refuses (`invalid`) unknown and misplaced ids. */
export function resolveSpecifier(
  specifier: OverrideSpecifier,
  { isCommitSpecific }: OverrideInput,
  field: FieldPath,
  context: TermsContext,
): OverrideSpecifier {
  const { commitIds, recurringCommitIds, anyCommitOrCreditIds } = specifier;
  const lists = { commitIds, recurringCommitIds, anyCommitOrCreditIds };
  const [named] = Object.entries(lists).filter(([, ids]) => ids.length > 0);
  if (named === undefined) return specifier;
  const list = [...field, named[0]];
  if (!isCommitSpecific) throw invalid(list, 'is for commit-specific overrides only');
  if (anyCommitOrCreditIds.length > 0 && commitIds.length + recurringCommitIds.length > 0) {
    throw invalid(
      [...field, 'anyCommitOrCreditIds'],
      words`takes the place of ${['commitIds']} and ${['recurringCommitIds']}`,
    );
  }
  if (!hasSelector(specifier)) {
    throw invalid(list, 'needs a product, tags or group values beside it');
  }
  const resolved = (name: keyof typeof lists, known: ReadonlyMap<string, string>, what: string) =>
    lists[name].map((id, index) => {
      const found = known.get(id) ?? known.get(withoutUuidCase(id));
      if (found !== undefined) return found;
      const text = words`${JSON.stringify(id)} is neither the id nor a ${['temporaryId']} of ${what}`;
      throw invalid([...field, name, index], text);
    });
  return {
    ...specifier,
    commitIds: resolved('commitIds', context.commitIds, 'a commit'),
    recurringCommitIds: resolved('recurringCommitIds', context.recurringCommitIds, 'a recurring commit'),
    anyCommitOrCreditIds: resolved('anyCommitOrCreditIds', context.balanceIds, 'a commit or credit'),
  };
}

function hasSelector({ productId, productTags, exclude, ...values }: OverrideSpecifier): boolean {
  const { pricingGroupValues, presentationGroupValues } = values;
  const groups = { ...pricingGroupValues, ...presentationGroupValues };
  return productId !== null || productTags.length + exclude.length + Object.keys(groups).length > 0;
}
