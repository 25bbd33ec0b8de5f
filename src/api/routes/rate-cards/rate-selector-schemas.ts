/** Selectors of rates in requests, shared by all operations that read rates. */
import { z } from 'zod';
import type { RateSelector } from '../../../billing/rate-cards/rate-selectors.ts';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import { enumIn, uuid } from '../../wire/fields.ts';
import { groupValues } from './rate-schemas.ts';

/** More selectors than any useful request has. */
const SELECTORS_MAX = 500;

export const rateSelectors = z
  .array(
    z
      .object({
        product_id: uuid.nullish(),
        product_tags: z.array(z.string()).nullish().meta({ description: 'Products with one of these tags.' }),
        billing_frequency: enumIn(BILLING_FREQUENCIES).nullish(),
        pricing_group_values: groupValues.nullish().meta({ description: 'Rates with exactly these pairs.' }),
        partial_pricing_group_values: groupValues
          .nullish()
          .meta({ description: 'Rates with at least these pairs.' }),
      })
      .meta({ id: 'RateSelector', description: 'A rate matches if it meets every condition that is given.' }),
  )
  .max(SELECTORS_MAX)
  .nullish()
  .meta({ description: 'Return rates that match any of these selectors. Empty: return all rates.' });

export function selectorsFromWire(wire: z.output<typeof rateSelectors>): RateSelector[] {
  return (wire ?? []).map((one) => ({
    ...(one.product_id == null ? {} : { productId: one.product_id }),
    ...(one.product_tags == null ? {} : { productTags: one.product_tags }),
    ...(one.billing_frequency == null ? {} : { billingFrequency: one.billing_frequency }),
    ...(one.pricing_group_values == null ? {} : { pricingGroupValues: one.pricing_group_values }),
    ...(one.partial_pricing_group_values == null
      ? {}
      : { partialPricingGroupValues: one.partial_pricing_group_values }),
  }));
}
