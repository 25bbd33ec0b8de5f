/** Selectors of rates. Pure. */
import type { BillingFrequency, RateIdentity } from '../../core/catalogue.ts';

/** Conditions that a rate must all meet; absent members are no condition. */
export interface RateSelector {
  readonly productId?: string;
  /** The product has one of these tags. */
  readonly productTags?: readonly string[];
  readonly billingFrequency?: BillingFrequency;
  /** Exactly these pairs; `{}` are the rates without group values. */
  readonly pricingGroupValues?: Readonly<Record<string, string>>;
  /** At least these pairs. */
  readonly partialPricingGroupValues?: Readonly<Record<string, string>>;
}

/** The subject of the match; the tags are those at the time in question. */
export interface SelectableRate extends RateIdentity {
  readonly productTags: readonly string[];
}

/** Whether one of the selectors matches; without any selector everything does. */
export function isSelected(selectors: readonly RateSelector[], rate: SelectableRate): boolean {
  return selectors.length === 0 || selectors.some((selector) => matches(selector, rate));
}

function matches(selector: RateSelector, rate: SelectableRate): boolean {
  const { productId, productTags, billingFrequency, pricingGroupValues, partialPricingGroupValues } =
    selector;
  const { pricingGroupValues: values } = rate;
  return (
    (productId === undefined || productId === rate.productId) &&
    (productTags === undefined || productTags.some((tag) => rate.productTags.includes(tag))) &&
    (billingFrequency === undefined || billingFrequency === rate.billingFrequency) &&
    (pricingGroupValues === undefined ||
      (containsPairs(values, pricingGroupValues) && containsPairs(pricingGroupValues, values))) &&
    (partialPricingGroupValues === undefined || containsPairs(values, partialPricingGroupValues))
  );
}

function containsPairs(
  values: Readonly<Record<string, string>>,
  pairs: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(pairs).every(
    ([name, value]) => Object.hasOwn(values, name) && values[name] === value,
  );
}
