/** Managed prices of rate cards on the wire (docs/explanation/token-billing.md). */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import type { ManagedPricing, ManagedPricingUpdate } from '../../../billing/token-billing/managed-cards.ts';
import { pendingRepricing } from '../../../billing/token-billing/pending-repricing.ts';
import { formatInstant } from '../../../core/time.ts';
import { REPRICE_MODES, TOKEN_KINDS } from '../../../core/token-billing.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactNumber, exactValue, hourAlignedTimestamp, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

/** A discount on the provider's price is possible, a negative price is not. */
const markup = exactNumber({ min: '-1', max: '1000' }).meta({ description: 'A fraction: 0.2 is 20 %.' });

const MODELS_MAX = 20_000;

const selected = z
  .array(
    z.object({
      model: z.string().min(1).meta({ description: 'Id in the catalogue, or an alias of it.' }),
      markup: markup.nullish(),
    }),
  )
  .max(MODELS_MAX);

export const managedPricing = z
  .object({
    providers: z
      .array(z.string())
      .nullish()
      .meta({ description: 'Models of these providers. Default: all.' }),
    models: selected.nullish().meta({ description: 'These models only. Default: all.' }),
    markups: selected.nullish().meta({ description: 'Markups of single models, if `models` is not given.' }),
    default_markup: markup.nullish().meta({
      description: 'A fraction, for models without a separate markup and for later models.',
    }),
    custom_credit_type_id: uuid.nullish().meta({
      description: 'Rates are in this unit, which `credit_type_conversions` must convert.',
    }),
    reprice: z.enum(REPRICE_MODES).nullish().meta({
      description: 'What happens when a provider changes the price of a model on the card. Default: off.',
    }),
  })
  .meta({ id: 'ManagedPricing' });

export const managedPricingUpdate = z
  .object({
    starting_at: hourAlignedTimestamp.nullish().meta({
      description: 'When the changes take effect, on a full hour in UTC. Default: this hour.',
    }),
    markups: selected.nullish().meta({ description: 'Markups of models on the card.' }),
    default_markup: markup.nullish().meta({ description: 'The markup of models added later.' }),
    add_models: selected.nullish(),
    remove_models: z.array(z.string()).max(MODELS_MAX).nullish(),
    reprice: z.enum(REPRICE_MODES).nullish(),
    adopt_prices: z
      .boolean()
      .nullish()
      .meta({ description: 'Adopts the price changes that `pendingRepricing` lists.' }),
  })
  .meta({ id: 'UpdateManagedPricing' });

function selectedFromWire(wire: z.output<typeof selected>) {
  return wire.map(({ model, markup: own }) => ({ model, markup: own ?? null }));
}

export function pricingFromWire(wire: z.output<typeof managedPricing>): ManagedPricing {
  return {
    providers: wire.providers ?? null,
    models: wire.models == null ? null : selectedFromWire(wire.models),
    markups: selectedFromWire(wire.markups ?? []),
    defaultMarkup: wire.default_markup ?? null,
    customCreditTypeId: wire.custom_credit_type_id ?? null,
    reprice: wire.reprice ?? 'off',
  };
}

export function pricingUpdateFromWire(wire: z.output<typeof managedPricingUpdate>): ManagedPricingUpdate {
  return {
    startingAt: wire.starting_at ?? null,
    markups: selectedFromWire(wire.markups ?? []),
    defaultMarkup: wire.default_markup ?? null,
    addModels: selectedFromWire(wire.add_models ?? []),
    removeModels: wire.remove_models ?? [],
    reprice: wire.reprice ?? null,
    adoptPrices: wire.adopt_prices ?? false,
  };
}

const pending = z
  .object({
    provider: z.string(),
    model: z.string(),
    token_kind: z.enum(TOKEN_KINDS),
    product_id: uuid,
    markup: exactValue,
    usd_per_token: exactValue.meta({ description: 'The current rate.' }),
    new_usd_per_token: exactValue,
    valid_from: timestamp.meta({ description: 'Start of the new price.' }),
  })
  .meta({ id: 'PendingRepricing' });

export function pendingRepricingRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/contract-pricing/rate-cards/{rate_card_id}/pendingRepricing',
    operationId: 'listPendingRepricing',
    summary: 'List price changes of AI providers that a managed rate card has not adopted',
    description: 'They are adopted by an update with `adopt_prices`, and by themselves with `reprice` auto.',
    tags: ['Token billing'],
    scope: 'read',
    params: z.object({ rate_card_id: uuid }),
    query: pageQuery(uuid),
    response: pageOf(pending),
    errors: [400, 404],
    handler: async ({ params, query }) =>
      pageToWire(
        await pendingRepricing(context, params.rate_card_id, pageRequest(query)),
        ({ present, next }) => ({
          provider: present.provider,
          model: present.model,
          token_kind: present.kind,
          product_id: present.productId,
          markup: present.markup,
          usd_per_token: present.usdPerToken,
          new_usd_per_token: next.usdPerToken,
          valid_from: formatInstant(next.validFrom),
        }),
      ),
  });
}
