/** The rates of a contract at an instant: those of the rate card after overrides. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { type ContractRate, readContractRates } from '../../../billing/contract-views/rate-schedule.ts';
import { customFieldsOfObjects } from '../../../billing/custom-fields/with-fields.ts';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { isEmpty } from '../../wire/description.ts';
import { customFields, endTimestamp, given, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { commitRate, groupValues, priceToWire, rateSchema, rateToWire } from '../rate-cards/rate-schemas.ts';
import { rateSelectors, selectorsFromWire } from '../rate-cards/rate-selector-schemas.ts';

const contractRate = z
  .object({
    rate_card_id: uuid,
    product_id: uuid,
    product_name: z.string(),
    product_tags: z.array(z.string()),
    product_custom_fields: customFields,
    starting_at: timestamp,
    ending_before: endTimestamp.optional(),
    entitled: z.boolean(),
    pricing_group_values: groupValues.optional(),
    billing_frequency: z.enum(BILLING_FREQUENCIES).optional(),
    list_rate: rateSchema.meta({
      description: 'The rate of the rate card. Equals override_rate if only an OVERWRITE sets a price.',
    }),
    override_rate: rateSchema.optional().meta({ description: 'Absent if no override applies.' }),
    override_ids: z
      .array(uuid)
      .optional()
      .meta({
        description:
          'The overrides that set override_rate at the instant: one, or several where each has the smallest multiplier ' +
          'in some range of quantities.',
      }),
    commit_rate: commitRate.optional(),
  })
  .meta({
    id: 'ContractRateSchedule',
    description: 'A rate, with the time in which its price and its entitlement stay as they are.',
  });

export function contractRateScheduleRoutes(context: RowContext): RouteDefinition[] {
  return [rateScheduleRoute(context)];
}

function rateScheduleRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/contracts/getContractRateSchedule',
    operationId: 'getContractRateSchedule',
    summary: 'Get the rates of a contract at one instant',
    description:
      'The rates of its rate card together with what its overrides make of them, and prices that only ' +
      'overrides set. Entitled rates only. ' +
      'Prices that overrides make for usage covered by a commit are not among them.',
    tags: ['Contracts'],
    scope: 'read',
    query: pageQuery(z.object({ identity: z.int().min(0), start: z.int(), values: z.string() })),
    body: z.object({
      customer_id: uuid,
      contract_id: uuid,
      at: timestamp.nullish().meta({ description: 'Default: now.' }),
      selectors: rateSelectors,
    }),
    response: pageOf(contractRate),
    errors: [400, 404],
    async handler({ query, body }) {
      const { creditTypes, ...page } = await readContractRates(context, {
        customerId: body.customer_id,
        contractId: body.contract_id,
        at: body.at ?? null,
        selectors: selectorsFromWire(body.selectors),
        ...pageRequest(query),
      });
      const productIds = page.rows.map(({ shown }) => shown.entry.productId);
      const fields = await customFieldsOfObjects(context, productIds);
      return pageToWire(page, (row) => rateToWireOf(row, creditTypes, fields));
    },
  });
}

function rateToWireOf(
  { shown, terms, isOverridden, overrides, interval }: ContractRate,
  creditTypes: ReadonlyMap<string, CreditType>,
  fields: CustomFieldsById,
): z.input<typeof contractRate> {
  const { entry, productName, productTags } = shown;
  const { pricingGroupValues, billingFrequency, commitRate: commit } = entry;
  return {
    rate_card_id: entry.rateCardId,
    product_id: entry.productId,
    product_name: productName,
    product_tags: [...productTags],
    product_custom_fields: customFieldsOf(fields, entry.productId),
    starting_at: formatInstant(interval.start),
    ending_before: given(interval.end, formatInstant),
    entitled: terms.entitled,
    pricing_group_values: isEmpty(pricingGroupValues) ? undefined : { ...pricingGroupValues },
    billing_frequency: billingFrequency ?? undefined,
    list_rate: rateToWire(entry.rate, pricingGroupValues, creditTypes.get(entry.creditTypeId)),
    ...(isOverridden
      ? {
          override_rate: rateToWire(terms.rate, pricingGroupValues, creditTypes.get(terms.creditTypeId)),
          override_ids: overrides.map(({ id }) => id),
        }
      : {}),
    commit_rate: given(commit, priceToWire),
  };
}
