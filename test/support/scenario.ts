/** A small AI company in the catalogue of a test service, and the events of its customer. */
import type { ApiClient } from './api-client.ts';
import { createdId, TOKENS_METRIC } from './catalogue-api.ts';

export interface Scenario extends ScenarioCatalogue {
  readonly customerId: string;
  readonly contractId: string;
}

export interface ScenarioCatalogue {
  readonly rateCardId: string;
  readonly tokensMetricId: string;
  readonly tokensProductId: string;
  readonly requestsProductId: string;
}

export interface ScenarioOptions {
  readonly alias: string;
  readonly startingAt?: string;
  readonly endingBefore?: string;
  readonly gracePeriodHours?: number;
}

/** A customer with a contract on the catalogue of `createScenarioCatalogue`, from `startingAt` on. */
export async function createScenario(api: ApiClient, options: ScenarioOptions): Promise<Scenario> {
  const { alias, startingAt = '2026-11-01T00:00:00Z', endingBefore } = options;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const catalogue = await createScenarioCatalogue(api);
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: catalogue.rateCardId,
    starting_at: startingAt,
    ...(endingBefore === undefined ? {} : { ending_before: endingBefore }),
  });
  return { customerId, contractId, ...catalogue };
}

/** Tokens by model and region with tiers, and requests at a flat price. */
export async function createScenarioCatalogue(api: ApiClient): Promise<ScenarioCatalogue> {
  const tokensMetricId = await createdId(api, '/v1/billable-metrics/create', TOKENS_METRIC);
  const requestsMetricId = await createdId(api, '/v1/billable-metrics/create', {
    name: 'Requests',
    aggregation_type: 'count',
    event_type_filter: { in_values: ['completion'] },
  });
  const products = '/v1/contract-pricing/products/create';
  const tokensProductId = await createdId(api, products, {
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: tokensMetricId,
    pricing_group_key: ['model'],
    presentation_group_key: ['region'],
  });
  const requestsProductId = await createdId(api, products, {
    name: 'Requests',
    type: 'USAGE',
    billable_metric_id: requestsMetricId,
  });
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'List prices' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true };
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: requestsProductId, rate_type: 'FLAT', price: 2 },
      {
        ...rate,
        product_id: tokensProductId,
        pricing_group_values: { model: 'large' },
        rate_type: 'TIERED',
        tiers: [{ size: 1000, price: 0.03 }, { price: 0.02 }],
      },
      {
        ...rate,
        product_id: tokensProductId,
        pricing_group_values: { model: 'small' },
        rate_type: 'FLAT',
        price: 0.005,
      },
    ],
  });
  return { rateCardId, tokensMetricId, tokensProductId, requestsProductId };
}

export interface Completion {
  readonly id: string;
  readonly at: string;
  readonly tokens: number | string;
  readonly model?: string;
  readonly region?: string;
}

/** The event of one completion of the customer with `alias`. */
export function completion(alias: string, { id, at, tokens, model = 'large', region = 'eu' }: Completion) {
  return {
    transaction_id: id,
    customer_id: alias,
    event_type: 'completion',
    timestamp: at,
    properties: { tokens, model, region },
  };
}
