/** Rate cards: price lists that contracts refer to. Their rates are in rate-routes.ts. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { moveRateCardProducts, setRateCardProductsOrder } from '../../../billing/rate-cards/product-order.ts';
import {
  archiveRateCard,
  createRateCard,
  getRateCard,
  listRateCards,
  type RateCardView,
  updateRateCard,
} from '../../../billing/rate-cards/rate-cards.ts';
import {
  createManagedRateCard,
  updateManagedRateCard,
} from '../../../billing/token-billing/managed-cards.ts';
import { assert } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, list, optional } from '../../wire/description.ts';
import {
  createdId,
  creditType,
  customFields as customFieldsSchema,
  uuid,
  wholeNumber,
} from '../../wire/fields.ts';
import { anyText, customFields, end, exact, hour, id, instant, text } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import {
  managedPricing,
  managedPricingUpdate,
  pendingRepricingRoute,
  pricingFromWire,
  pricingUpdateFromWire,
} from './managed-pricing.ts';

const conversion = record({ customCreditTypeId: id, fiatPerCustomCredit: exact() });
const conversions = z.array(conversion.input.tolerant).nullish();

const alias = record({ name: text, startingAt: optional(hour), endingBefore: optional(end) });
const aliases = z
  .array(alias.input.tolerant)
  .nullish()
  .meta({ description: 'An alias belongs to one card at a time; the latest assignment wins.' });

export const createRateCardBody = z
  .object({
    name: z.string().min(1).meta({ description: 'Internal; never shown to end customers.' }),
    description: z.string().nullish(),
    fiat_credit_type_id: uuid.nullish().meta({ description: 'The currency of the card. Default: US cents.' }),
    credit_type_conversions: conversions,
    aliases,
    custom_fields: customFieldsSchema.optional(),
    managed_pricing: managedPricing.nullish().meta({
      description: 'Makes the service create and keep the metrics, products and rates of AI models.',
    }),
  })
  .meta({ id: 'CreateRateCard' });

const updateBody = z
  .object({
    rate_card_id: uuid,
    name: z.string().min(1).nullish(),
    description: z.string().nullish().meta({ description: 'Null clears it.' }),
    aliases: aliases.meta({ description: 'All that the card is assigned from now on.' }),
    add_credit_type_conversions: conversions.meta({
      description:
        'Conversions of units that the card does not convert yet. An existing conversion never changes.',
    }),
    managed_pricing: managedPricingUpdate.nullish().meta({ description: 'For managed rate cards.' }),
  })
  .meta({ id: 'UpdateRateCard', description: 'Omitted fields stay as they are.' });

const rateCard = record(
  {
    id,
    name: anyText,
    description: optional(anyText),
    fiatCreditType: byHand(creditType),
    conversions: list(record({ customCreditType: byHand(creditType), fiatPerCustomCredit: anyText })),
    aliases: list(alias),
    createdAt: instant,
    createdBy: anyText,
    customFields,
  },
  { id: { answered: 'RateCard' } },
);

const common = { method: 'post', tags: ['Rate cards'] } as const;

export function rateCardRoutes(context: RowContext): RouteDefinition[] {
  return [
    ...headerRoutes(context),
    ...changeRoutes(context),
    ...productOrderRoutes(context),
    pendingRepricingRoute(context),
  ];
}

function headerRoutes(context: RowContext): RouteDefinition[] {
  return [
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/create',
      operationId: 'createRateCard',
      summary: 'Create a rate card',
      scope: 'write',
      body: createRateCardBody,
      response: createdId,
      errors: [400, 409],
      async handler({ body, actor }) {
        const input = fromWire(body, actor.name);
        const { managed_pricing: managed } = body;
        const { id } =
          managed == null
            ? await createRateCard(context, input)
            : await createManagedRateCard(context, input, pricingFromWire(managed));
        return { data: { id } };
      },
    }),
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/get',
      operationId: 'getRateCard',
      summary: 'Get a rate card without its rates',
      scope: 'read',
      body: z.object({ id: uuid }),
      response: z.object({ data: rateCard.output }),
      errors: [400, 404],
      async handler({ body }) {
        return { data: toWire(await getRateCard(context, body.id)) };
      },
    }),
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/list',
      operationId: 'listRateCards',
      summary: 'List rate cards',
      scope: 'read',
      query: pageQuery(keysetPosition),
      body: z.object({}),
      response: pageOf(rateCard.output),
      errors: [400],
      handler: async ({ query }) => pageToWire(await listRateCards(context, pageRequest(query)), toWire),
    }),
  ];
}

function changeRoutes(context: RowContext): RouteDefinition[] {
  return [
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/update',
      operationId: 'updateRateCard',
      summary: 'Change name, description and aliases of a rate card, add conversions',
      description: 'Contracts keep the card that they have.',
      scope: 'write',
      body: updateBody,
      response: createdId,
      errors: [400, 404, 409],
      async handler({ body, actor }) {
        const changes = {
          rateCardId: body.rate_card_id,
          ...(body.name == null ? {} : { name: body.name }),
          ...(body.description === undefined ? {} : { description: body.description }),
          ...(body.aliases == null ? {} : { aliases: body.aliases }),
          addConversions: body.add_credit_type_conversions ?? [],
        };
        const { managed_pricing: managed } = body;
        if (managed == null) await updateRateCard(context, changes);
        else await updateManagedRateCard(context, changes, pricingUpdateFromWire(managed), actor.name);
        return { data: { id: body.rate_card_id } };
      },
    }),
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/archive',
      operationId: 'archiveRateCard',
      summary: 'Archive a rate card',
      description: 'No new contracts can use the card; existing contracts continue. Archiving is idempotent.',
      scope: 'write',
      body: z.object({ id: uuid }),
      response: createdId,
      errors: [400, 404],
      async handler({ body }) {
        await archiveRateCard(context, body.id);
        return { data: { id: body.id } };
      },
    }),
  ];
}

/** More than any card has; limits the work of one call. */
const PRODUCTS_MAX = 10_000;

function productOrderRoutes(context: RowContext): RouteDefinition[] {
  return [
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/setRateCardProductsOrder',
      wireWords: { productIds: 'product_order' },
      operationId: 'setRateCardProductsOrder',
      summary: 'Set the order of products on invoices',
      description: 'Products that are not named follow in the order they had.',
      scope: 'write',
      body: z.object({ rate_card_id: uuid, product_order: z.array(uuid).max(PRODUCTS_MAX) }),
      response: createdId,
      errors: [400, 404],
      async handler({ body }) {
        await setRateCardProductsOrder(context, body.rate_card_id, body.product_order);
        return { data: { id: body.rate_card_id } };
      },
    }),
    route({
      ...common,
      path: '/v1/contract-pricing/rate-cards/moveRateCardProducts',
      wireWords: { moves: 'product_moves' },
      operationId: 'moveRateCardProducts',
      summary: 'Move single products to given places',
      description: 'After all moves, each moved product stands at its position.',
      scope: 'write',
      body: z.object({
        rate_card_id: uuid,
        product_moves: z
          .array(z.object({ product_id: uuid, position: wholeNumber(0, PRODUCTS_MAX) }))
          .max(PRODUCTS_MAX),
      }),
      response: createdId,
      errors: [400, 404],
      async handler({ body }) {
        const moves = body.product_moves.map(({ product_id, position }) => ({
          productId: product_id,
          position,
        }));
        await moveRateCardProducts(context, body.rate_card_id, moves);
        return { data: { id: body.rate_card_id } };
      },
    }),
  ];
}

function fromWire(
  body: z.output<typeof createRateCardBody>,
  createdBy: string,
): Parameters<typeof createRateCard>[1] {
  return {
    name: body.name,
    description: body.description ?? null,
    fiatCreditTypeId: body.fiat_credit_type_id ?? null,
    conversions: body.credit_type_conversions ?? [],
    aliases: body.aliases ?? [],
    customFields: body.custom_fields ?? {},
    createdBy,
  };
}

function toWire(from: RateCardView) {
  const conversions = from.conversions.map(({ customCreditTypeId, fiatPerCustomCredit }) => {
    const customCreditType = from.customCreditTypes.get(customCreditTypeId);
    assert(customCreditType !== undefined, `pricing unit ${customCreditTypeId} exists`);
    return { customCreditType, fiatPerCustomCredit: fiatPerCustomCredit.toFixed() };
  });
  return rateCard.write({ ...from, conversions });
}
