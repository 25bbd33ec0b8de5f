/** Adding and reading the rates of a rate card. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { customFieldsOfObjects } from '../../../billing/custom-fields/with-fields.ts';
import { addRates } from '../../../billing/rate-cards/add-rates.ts';
import { type RateSegment, readRates } from '../../../billing/rate-cards/read-rates.ts';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { assert } from '../../../core/errors.ts';
import { mapInChunks } from '../../../core/in-chunks.ts';
import { formatInstant, type OpenInterval } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { isEmpty } from '../../wire/description.ts';
import { createdId, customFields, endTimestamp, given, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import {
  commitRate,
  groupValues,
  priceToWire,
  RATES_PER_CALL_MAX,
  rateFromWire,
  rateInput,
  rateSchema,
  rateToWire,
  rateWithCommitRate,
} from './rate-schemas.ts';
import { rateSelectors, selectorsFromWire } from './rate-selector-schemas.ts';

const common = { method: 'post', tags: ['Rate cards'], errors: [400, 404] } as const;

export function rateRoutes(context: RowContext): RouteDefinition[] {
  return [addRateRoute(context), addRatesRoute(context), ratesRoute(context), scheduleRoute(context)];
}

function addRateRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    scope: 'write',
    path: '/v1/contract-pricing/rate-cards/addRate',
    operationId: 'addRate',
    summary: 'Add a rate to a rate card',
    description:
      'In force from starting_at until ending_before, or until the next rate of the same product, group ' +
      'values and billing frequency. A rate with an end reverts afterwards to what it interrupted.',
    body: rateInput.extend({ rate_card_id: uuid }).meta({ id: 'AddRate' }),
    response: z.object({ data: rateWithCommitRate }),
    async handler({ body, actor }) {
      const { entries, creditTypes } = await addRates(context, {
        rateCardId: body.rate_card_id,
        rates: [rateFromWire(body)],
        pathOf: () => [],
        createdBy: actor.name,
      });
      const [added] = entries;
      assert(added !== undefined, 'one rate was added');
      const { rate, pricingGroupValues, creditTypeId, commitRate: commit } = added;
      return {
        data: {
          ...rateToWire(rate, pricingGroupValues, creditTypes.get(creditTypeId)),
          ...(commit === null ? {} : { commit_rate: priceToWire(commit) }),
        },
      };
    },
  });
}

export const addRatesBody = z
  .object({ rate_card_id: uuid, rates: z.array(rateInput).min(1).max(RATES_PER_CALL_MAX) })
  .meta({ id: 'AddRates' });

function addRatesRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    scope: 'write',
    path: '/v1/contract-pricing/rate-cards/addRates',
    operationId: 'addRates',
    summary: 'Add many rates to a rate card, all or none',
    body: addRatesBody,
    response: createdId,
    async handler({ body, actor }) {
      const pathOf = (index: number) => ['rates', index];
      await addRates(context, {
        rateCardId: body.rate_card_id,
        rates: await mapInChunks(body.rates, rateFromWire),
        pathOf,
        createdBy: actor.name,
      });
      return { data: { id: body.rate_card_id } };
    },
  });
}

const rateSegment = z
  .object({
    product_id: uuid,
    product_name: z.string(),
    product_tags: z.array(z.string()),
    product_custom_fields: customFields,
    pricing_group_values: groupValues.optional(),
    billing_frequency: z.enum(BILLING_FREQUENCIES).optional(),
    starting_at: timestamp,
    ending_before: endTimestamp.optional(),
    entitled: z.boolean(),
    rate: rateSchema,
    commit_rate: commitRate.optional(),
  })
  .meta({ id: 'RateSegment', description: 'A rate while it is in force.' });

const rateQuery = pageQuery(z.object({ identity: z.int().min(0), start: z.int() }));

const reading = { ...common, scope: 'read', query: rateQuery, response: pageOf(rateSegment) } as const;

function ratesRoute(context: RowContext): RouteDefinition {
  return route({
    ...reading,
    path: '/v1/contract-pricing/rate-cards/getRates',
    operationId: 'getRates',
    summary: 'Get the rates of a rate card at one instant',
    description: 'Entitled or not: `entitled` tells.',
    body: z.object({ rate_card_id: uuid, at: timestamp, selectors: rateSelectors }),
    handler: ({ query, body }) => readPage(context, query, body, { start: body.at, end: body.at + 1 }),
  });
}

function scheduleRoute(context: RowContext): RouteDefinition {
  return route({
    ...reading,
    path: '/v1/contract-pricing/rate-cards/getRateSchedule',
    operationId: 'getRateSchedule',
    summary: 'Get the rates of a rate card over a range of time',
    description:
      'Every rate that is in force at some time of the range, with the time in which it really is. Entitled ' +
      'or not: `entitled` tells.',
    body: z.object({
      rate_card_id: uuid,
      starting_at: timestamp,
      ending_before: endTimestamp.nullish(),
      selectors: rateSelectors,
    }),
    handler: ({ query, body }) =>
      readPage(context, query, body, { start: body.starting_at, end: body.ending_before ?? null }),
  });
}

async function readPage(
  context: RowContext,
  query: z.output<typeof rateQuery>,
  body: { readonly rate_card_id: string; readonly selectors?: z.output<typeof rateSelectors> },
  range: OpenInterval,
) {
  const { creditTypes, ...page } = await readRates(context, {
    rateCardId: body.rate_card_id,
    range,
    selectors: selectorsFromWire(body.selectors),
    entitledOrOf: null,
    ...pageRequest(query),
  });
  const fields = await customFieldsOfObjects(
    context,
    page.rows.map(({ entry }) => entry.productId),
  );
  return pageToWire(page, (row) => segmentToWire(row, creditTypes, fields));
}

function segmentToWire(
  { interval, entry, productName, productTags }: RateSegment,
  creditTypes: ReadonlyMap<string, CreditType>,
  fields: CustomFieldsById,
): z.input<typeof rateSegment> {
  const { pricingGroupValues, billingFrequency, commitRate: commit } = entry;
  return {
    product_id: entry.productId,
    product_name: productName,
    product_tags: [...productTags],
    product_custom_fields: customFieldsOf(fields, entry.productId),
    pricing_group_values: isEmpty(pricingGroupValues) ? undefined : { ...pricingGroupValues },
    billing_frequency: billingFrequency ?? undefined,
    starting_at: formatInstant(interval.start),
    ending_before: given(interval.end, formatInstant),
    entitled: entry.entitled,
    rate: rateToWire(entry.rate, pricingGroupValues, creditTypes.get(entry.creditTypeId)),
    commit_rate: given(commit, priceToWire),
  };
}
