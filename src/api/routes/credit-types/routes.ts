/** Pricing units: currencies and custom units. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { createPricingUnit, listPricingUnits } from '../../../billing/credit-types/credit-types.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { noted } from '../../wire/description.ts';
import { createdId } from '../../wire/fields.ts';
import { anyText, id, truth } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';

const position = z.union([
  z.object({ currencies: z.int().min(0) }),
  z.object({ otherCurrencies: z.int().min(0) }),
  keysetPosition,
]);

const pricingUnit = record(
  { id, name: anyText, isCurrency: noted('True for a fiat currency.', truth) },
  { id: { answered: 'PricingUnit' } },
);

export const createPricingUnitBody = z
  .object({ name: z.string().min(1).max(200) })
  .meta({ id: 'CreatePricingUnit' });

const tags = ['Pricing units'];

export function creditTypeRoutes(context: RowContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/credit-types/list',
      operationId: 'listPricingUnits',
      summary: 'List pricing units',
      description:
        'US cents, the euro and other frequent currencies in whole units, custom units, then all other currencies of ' +
        'ISO 4217 by code.',
      tags,
      scope: 'read',
      query: pageQuery(position),
      response: pageOf(pricingUnit.output),
      errors: [400],
      async handler({ query }) {
        return pageToWire(await listPricingUnits(context, pageRequest(query)), pricingUnit.write);
      },
    }),
    route({
      method: 'post',
      path: '/v1/credit-types/create',
      operationId: 'createPricingUnit',
      summary: 'Create a custom pricing unit',
      description:
        'Names are unique, including names of currencies. Rate cards convert the unit into their currency.',
      tags,
      scope: 'write',
      body: createPricingUnitBody,
      response: createdId,
      errors: [400, 409],
      async handler({ body }) {
        const { id } = await createPricingUnit(context, body.name);
        return { data: { id } };
      },
    }),
  ];
}
