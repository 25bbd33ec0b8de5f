/** Adding rates to a rate card. */
import { z } from 'zod';
import { addRates } from '../../billing/rate-cards/add-rates.ts';
import type { Clock } from '../../core/clock.ts';
import { assert } from '../../core/errors.ts';
import type { Database } from '../../store/database.ts';
import { createdId, uuid } from '../fields.ts';
import { type RouteDefinition, route } from '../route.ts';
import {
  priceToWire,
  RATES_PER_CALL_MAX,
  rateFromWire,
  rateInput,
  rateToWire,
  rateWithCommitRate,
} from './rate-schemas.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

const common = { method: 'post', tags: ['Rate cards'], scope: 'write', errors: [400, 404] } as const;

export function rateRoutes(deps: Deps): RouteDefinition[] {
  return [addRateRoute(deps), addRatesRoute(deps)];
}

function addRateRoute(deps: Deps): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/rate-cards/addRate',
    operationId: 'addRate',
    summary: 'Add a rate to a rate card',
    description:
      'In force from starting_at until ending_before, or until the next rate of the same product and group ' +
      'values. A rate with an end reverts afterwards to what it interrupted.',
    body: rateInput.extend({ rate_card_id: uuid }).meta({ id: 'AddRate' }),
    response: z.object({ data: rateWithCommitRate }),
    async handler({ body, actor }) {
      const { entries, creditTypes } = await addRates(deps, {
        rateCardId: body.rate_card_id,
        rates: [rateFromWire(body, '')],
        fieldOf: () => '',
        createdBy: actor.name,
      });
      const [added] = entries;
      const unit = creditTypes.get(added?.creditTypeId ?? '');
      assert(added !== undefined && unit !== undefined, 'one rate was added, in a known unit');
      return {
        data: {
          ...rateToWire(added.rate, added.pricingGroupValues, unit),
          ...(added.commitRate === null ? {} : { commit_rate: priceToWire(added.commitRate) }),
        },
      };
    },
  });
}

function addRatesRoute(deps: Deps): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/rate-cards/addRates',
    operationId: 'addRates',
    summary: 'Add many rates to a rate card, all or none',
    body: z
      .object({ rate_card_id: uuid, rates: z.array(rateInput).min(1).max(RATES_PER_CALL_MAX) })
      .meta({ id: 'AddRates' }),
    response: createdId,
    async handler({ body, actor }) {
      const fieldOf = (index: number) => `rates[${index}].`;
      await addRates(deps, {
        rateCardId: body.rate_card_id,
        rates: body.rates.map((rate, index) => rateFromWire(rate, fieldOf(index))),
        fieldOf,
        createdBy: actor.name,
      });
      return { data: { id: body.rate_card_id } };
    },
  });
}
