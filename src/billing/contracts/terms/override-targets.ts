/** What an override may target (docs/contracts.md, "Overrides"). Pure. */
import type { Product } from '../../../core/catalogue.ts';
import { invalid } from '../../../core/errors.ts';
import type { Override, OverrideInput, OverrideSpecifier } from '../../../core/terms/overrides.ts';
import { requireProduct, subscriptionRateKey, type TermsContext } from './terms-context.ts';

/** Refuses (`invalid`) targets that contradict each other, and products that the override cannot reach. */
export function checkTargets(
  input: OverrideInput,
  type: Override['type'],
  path: string,
  context: TermsContext,
): void {
  const { productId, applicableProductTags, specifiers } = input;
  const isSimple = productId !== null || applicableProductTags.length > 0;
  if (isSimple && specifiers.length > 0) {
    const field = productId === null ? 'applicable_product_tags' : 'product_id';
    throw invalid(`${path}.override_specifiers`, `cannot be combined with ${field}`);
  }
  if (productId !== null && applicableProductTags.length > 0) {
    throw invalid(`${path}.applicable_product_tags`, 'cannot be combined with product_id');
  }
  if (productId !== null) checkSimpleProduct(productId, type, `${path}.product_id`, context);
  if (type === 'OVERWRITE' && productId === null && specifiers.length === 0) {
    throw invalid(
      applicableProductTags.length > 0 ? `${path}.applicable_product_tags` : `${path}.product_id`,
      'OVERWRITE must name its products by id',
    );
  }
  for (const [index, specifier] of specifiers.entries()) {
    const field = `${path}.override_specifiers[${index}]`;
    checkSpecifierProduct(specifier, field, context);
    if (type === 'OVERWRITE') checkOverwriteSpecifier(specifier, field, context);
  }
}

/** The product of an override. Refuses (`invalid`) one without a rate on the contract's card. */
function requirePricedProduct(id: string, field: string, context: TermsContext): Product {
  const product = requireProduct(context, id, field);
  if (!context.card?.productIds.has(id)) throw invalid(field, 'No such product in rate card');
  return product;
}

function checkSimpleProduct(id: string, type: Override['type'], field: string, context: TermsContext): void {
  const product = requirePricedProduct(id, field, context);
  if (product.type === 'SUBSCRIPTION') {
    throw invalid(
      field,
      'a SUBSCRIPTION product needs override_specifiers with product_id and billing_frequency',
    );
  }
  if (type === 'OVERWRITE' && pricingKeyOf(product).length > 0) {
    throw invalid(
      field,
      'OVERWRITE of a product with a pricing_group_key needs override_specifiers with pricing_group_values',
    );
  }
}

function checkSpecifierProduct(specifier: OverrideSpecifier, field: string, context: TermsContext): void {
  const { productId, billingFrequency } = specifier;
  if (productId === null) {
    if (billingFrequency === null) return;
    throw invalid(`${field}.product_id`, 'is required with billing_frequency');
  }
  const product = requirePricedProduct(productId, `${field}.product_id`, context);
  if (product.type !== 'SUBSCRIPTION') {
    if (billingFrequency === null) return;
    throw invalid(`${field}.billing_frequency`, `is for SUBSCRIPTION products, not for ${product.type}`);
  }
  if (billingFrequency === null) {
    throw invalid(`${field}.billing_frequency`, 'is required for SUBSCRIPTION products');
  }
  if (!context.card?.subscriptionRates.has(subscriptionRateKey(productId, billingFrequency))) {
    throw invalid(
      `${field}.billing_frequency`,
      `the rate card has no ${billingFrequency} rate of this product`,
    );
  }
}

function checkOverwriteSpecifier(specifier: OverrideSpecifier, field: string, context: TermsContext): void {
  const { productId, productTags, pricingGroupValues, presentationGroupValues } = specifier;
  if (productTags.length > 0) throw invalid(`${field}.product_tags`, 'cannot be the target of an OVERWRITE');
  if (productId === null) throw invalid(`${field}.product_id`, 'is required for OVERWRITE overrides');
  if (Object.keys(presentationGroupValues).length > 0) {
    throw invalid(`${field}.presentation_group_values`, 'cannot be the target of an OVERWRITE');
  }
  const key = pricingKeyOf(requireProduct(context, productId, `${field}.product_id`));
  const missing = key.filter((name) => !Object.hasOwn(pricingGroupValues, name));
  if (missing.length > 0) {
    throw invalid(
      `${field}.pricing_group_values`,
      `must give a value for each of ${key.join(', ')} in OVERWRITE overrides`,
    );
  }
}

function pricingKeyOf(product: Product): readonly string[] {
  return product.versions.at(-1)?.pricingGroupKey ?? [];
}

/** The specifier with ids in place of temporary ids. Refuses (`invalid`) ids of nothing, and ids out of place. */
export function resolveSpecifier(
  specifier: OverrideSpecifier,
  { isCommitSpecific }: OverrideInput,
  field: string,
  context: TermsContext,
): OverrideSpecifier {
  const { commitIds, recurringCommitIds, anyCommitOrCreditIds } = specifier;
  const lists = {
    commit_ids: commitIds,
    recurring_commit_ids: recurringCommitIds,
    any_commit_or_credit_ids: anyCommitOrCreditIds,
  };
  const [named] = Object.entries(lists).filter(([, ids]) => ids.length > 0);
  if (named === undefined) return specifier;
  const list = `${field}.${named[0]}`;
  if (!isCommitSpecific) throw invalid(list, 'is for commit-specific overrides only');
  if (anyCommitOrCreditIds.length > 0 && commitIds.length + recurringCommitIds.length > 0) {
    throw invalid(
      `${field}.any_commit_or_credit_ids`,
      'takes the place of commit_ids and recurring_commit_ids',
    );
  }
  if (!hasSelector(specifier)) {
    throw invalid(list, 'needs a product, tags or group values beside it');
  }
  const resolved = (name: keyof typeof lists, known: ReadonlyMap<string, string>, what: string) =>
    lists[name].map((id, index) => {
      const found = known.get(id);
      if (found !== undefined) return found;
      const text = `${JSON.stringify(id)} is neither the id nor a temporary_id of ${what}`;
      throw invalid(`${field}.${name}[${index}]`, text);
    });
  return {
    ...specifier,
    commitIds: resolved('commit_ids', context.commitIds, 'a commit'),
    recurringCommitIds: resolved('recurring_commit_ids', context.recurringCommitIds, 'a recurring commit'),
    anyCommitOrCreditIds: resolved('any_commit_or_credit_ids', context.balanceIds, 'a commit or credit'),
  };
}

function hasSelector({ productId, productTags, ...values }: OverrideSpecifier): boolean {
  const { pricingGroupValues, presentationGroupValues } = values;
  const groups = { ...pricingGroupValues, ...presentationGroupValues };
  return productId !== null || productTags.length > 0 || Object.keys(groups).length > 0;
}
