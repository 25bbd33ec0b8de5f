/** Which charges meet the specifiers of balances and overrides (docs/explanation/rating.md, "Overrides"). Pure. */
import { ownValue } from '../../core/own-value.ts';
import type { UsageSpecifier } from '../../core/terms/applicability.ts';
import type { GroupValues } from './group-values.ts';

/** The attributes of a charge that specifiers can name. */
export interface SpecifiedSubject {
  readonly productId: string;
  readonly productTags: readonly string[];
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
}

/** Values are conditions on usage: a product without a group key, and other charges, have none. */
export function meetsSpecifier(specifier: UsageSpecifier, subject: SpecifiedSubject): boolean {
  const { productId, productTags, pricingGroupValues, presentationGroupValues, exclude } = specifier;
  return (
    (productId === null || productId === subject.productId) &&
    carriesAll(subject.productTags, productTags) &&
    holds(subject.pricingGroupValues, pricingGroupValues) &&
    holds(subject.presentationGroupValues, presentationGroupValues) &&
    !isExcluded(exclude, subject.productTags)
  );
}

/** Whether a specifier excludes a product with these tags. */
export function isExcluded(exclude: UsageSpecifier['exclude'], tags: readonly string[]): boolean {
  return exclude.some(({ productTags }) => carriesAll(tags, productTags));
}

export function carriesAll(tags: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((tag) => tags.includes(tag));
}

function holds(values: GroupValues, wanted: GroupValues): boolean {
  return Object.keys(wanted).every((name) => ownValue(values, name) === wanted[name]);
}
