/**
 * The schema of price files (docs/how-to/prices-as-code.md). The schemas are those of the API's own operations, in
 * which keys take the place of ids: a field that the API gets is a field of files.
 */
import { z } from 'zod';
import type { JsonSchema } from '../../../api/http/json-schema.ts';
import { createPricingUnitBody } from '../../../api/routes/credit-types/routes.ts';
import { addKeyBody } from '../../../api/routes/custom-fields/routes.ts';
import { createMetricBody } from '../../../api/routes/metrics/routes.ts';
import { createProductBody, updateProductBody } from '../../../api/routes/products/schemas.ts';
import { rateInput } from '../../../api/routes/rate-cards/rate-schemas.ts';
import { createRateCardBody } from '../../../api/routes/rate-cards/routes.ts';
import { exactNumber, hourAlignedEnd, hourAlignedTimestamp } from '../../../api/wire/fields.ts';
import { CUSTOM_FIELD_VALUE_LENGTH_MAX } from '../../../core/custom-fields.ts';

/** The value of a custom field holds it. */
const key = z.string().min(1).max(CUSTOM_FIELD_VALUE_LENGTH_MAX);

const keyed = {
  key: key.meta({
    description: 'The name of the object in files. It stays when the object gets another name.',
  }),
  was: key.optional().meta({ description: 'The key until now: the object gets the new one.' }),
};

const archived = z.boolean().optional().meta({
  description: 'true: nothing new uses it. Archived objects are in files where others refer to them.',
});

const unit = z.string().min(1).meta({ description: 'The name of a pricing unit.' });
const metricKey = key.meta({ description: 'The key of a metric. Required for USAGE products.' });
const productKeys = z.array(key).meta({ description: 'Keys of products.' });
const references = { billable_metric: metricKey.nullish(), composite_products: productKeys.nullish() };

const metric = createMetricBody.extend({ ...keyed, archived });

const product = createProductBody.omit({ billable_metric_id: true, composite_product_ids: true }).extend({
  ...keyed,
  archived,
  ...references,
  updates: z
    .array(
      updateProductBody
        .omit({ product_id: true, billable_metric_id: true, composite_product_ids: true })
        .extend(references),
    )
    .optional()
    .meta({ description: 'Terms that change at an instant.' }),
});

const rate = rateInput.omit({ product_id: true, credit_type_id: true }).extend({
  product: key.meta({ description: 'The key of a product.' }),
  entitled: z.boolean().optional().meta({ description: 'Default: true.' }),
  unit: unit.optional().meta({ description: 'Default: the currency of the card.' }),
});

const rateCard = createRateCardBody
  .omit({ fiat_credit_type_id: true, credit_type_conversions: true, aliases: true, managed_pricing: true })
  .extend({
    ...keyed,
    currency: unit.optional().meta({ description: 'Default: USD (cents).' }),
    conversions: z.array(z.object({ unit, fiat_per_custom_credit: exactNumber() })).optional(),
    aliases: z
      .array(
        z.object({
          name: z.string().min(1),
          starting_at: hourAlignedTimestamp.nullish(),
          ending_before: hourAlignedEnd.nullish(),
        }),
      )
      .optional()
      .meta({ description: 'An alias belongs to one card at a time.' }),
    rates: z.array(rate).optional().meta({ description: 'Prices, each from its start on.' }),
  });

/** A whole file. */
export const fileSchema = z.object({
  pricing_units: z.array(createPricingUnitBody).optional(),
  custom_field_keys: z.array(addKeyBody).optional(),
  metrics: z.array(metric).optional(),
  products: z.array(product).optional(),
  rate_cards: z.array(rateCard).optional(),
});

/** The JSON Schema of a file (draft 2020-12), which refuses members that no operation knows. */
export function fileJsonSchema(): JsonSchema {
  return z.toJSONSchema(fileSchema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties = false;
      if (jsonSchema.type !== 'number') return;
      // Text keeps digits that a double would lose.
      Object.assign(jsonSchema, { type: ['number', 'string'], pattern: DECIMAL.source });
    },
  });
}

/** A number as text. */
export const DECIMAL = /^-?\d+(\.\d+)?$/;
