/** Metrics, products, units and rate cards of the frozen story: every kind, and of each kind every setting. */
import { CUSTOM_FIELD_ENTITIES } from '../../src/core/custom-fields.ts';
import type { ApiClient } from '../../test/support/api-client.ts';
import {
  ADD_RATE,
  ADD_RATES,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
} from '../../test/support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../../test/support/contract-terms.ts';

export interface Catalogue {
  /** The objects that the terms of test/support refer to. */
  readonly terms: TermsCatalogue;
  readonly metrics: Readonly<
    Record<'tokens' | 'requests' | 'peak' | 'users' | 'level' | 'sql' | 'retired', string>
  >;
  readonly products: Readonly<
    Record<
      'tokens' | 'requests' | 'peak' | 'sql' | 'coins' | 'support' | 'plan' | 'fee' | 'service' | 'retired',
      string
    >
  >;
  readonly cards: Readonly<Record<'list' | 'euro' | 'retired', string>>;
  readonly coins: string;
}

const BEGINNING = '2026-01-01T00:00:00Z';
const EXACT = '0.123456789012345678901';

/** Custom fields that are sent with an object. */
export const fields = (value: string) => ({ custom_fields: { source: value } });

export async function createCatalogue(api: ApiClient): Promise<Catalogue> {
  await declareCustomFields(api);
  const terms = await createTermsCatalogue(api);
  for (const [entity, entity_id] of [
    ['contract_product', terms.tokens],
    ['rate_card', terms.card],
  ] as const) {
    await api.post('/v1/customFields/setValues', { entity, entity_id, ...fields('set later') });
  }
  const metrics = await createMetrics(api);
  const products = await createProducts(api, metrics);
  const coins = await createdId(api, '/v1/credit-types/create', { name: 'Credits' });
  const cards = await createCards(api, products, coins);
  await updateProducts(api, products, metrics);
  await connectProviders(api);
  return { terms, metrics, products, cards, coins };
}

async function declareCustomFields(api: ApiClient): Promise<void> {
  for (const entity of CUSTOM_FIELD_ENTITIES) {
    await api.post('/v1/customFields/addKey', { entity, key: 'source', enforce_uniqueness: false });
  }
  await api.post('/v1/customFields/addKey', { entity: 'customer', key: 'account', enforce_uniqueness: true });
  await api.post('/v1/customFields/addKey', {
    entity: 'contract',
    key: 'withdrawn',
    enforce_uniqueness: false,
  });
}

async function createMetrics(api: ApiClient): Promise<Catalogue['metrics']> {
  const metric = (name: string, definition: object) =>
    createdId(api, METRICS, { name, ...definition, ...fields(name) });
  const calls = { event_type_filter: { in_values: ['call'] } };
  const grouped = {
    property_filters: ['model', 'region', 'amount', 'user', 'level'].map((name) => ({ name, exists: true })),
    group_keys: [['model'], ['model', 'region']],
  };
  const retired = await metric('Retired', {
    ...grouped,
    aggregation_type: 'COUNT',
    event_type_filter: { not_in_values: ['call'] },
  });
  const level = await metric('Level', {
    ...calls,
    ...grouped,
    aggregation_type: 'LATEST',
    aggregation_key: 'level',
  });
  await api.put(`/v1/billable-metrics/${level}`, { name: 'Level of the tank' });
  return {
    tokens: await metric('Tokens', {
      ...calls,
      aggregation_type: 'SUM',
      aggregation_key: 'amount',
      property_filters: [
        { name: 'amount', exists: true },
        { name: 'model', exists: true },
        { name: 'region', in_values: ['eu', 'us'] },
        { name: 'test', exists: false },
        { name: 'tier', not_in_values: ['free'] },
      ],
      group_keys: [['model'], ['model', 'region']],
    }),
    requests: await metric('Requests', { ...calls, ...grouped, aggregation_type: 'COUNT' }),
    peak: await metric('Peak', { ...calls, ...grouped, aggregation_type: 'MAX', aggregation_key: 'amount' }),
    users: await metric('Users', {
      ...calls,
      ...grouped,
      aggregation_type: 'UNIQUE',
      aggregation_key: 'user',
    }),
    level,
    sql: await metric('Squares', {
      sql: "SELECT SUM(properties.amount * 2) AS value, properties.model AS model FROM events WHERE event_type = 'call' GROUP BY model",
    }),
    retired,
  };
}

async function createProducts(api: ApiClient, metrics: Catalogue['metrics']): Promise<Catalogue['products']> {
  const product = (name: string, type: string, terms: object = {}) =>
    createdId(api, PRODUCTS, { name, type, ...terms, ...fields(name) });
  const tokens = await product('Tokens', 'USAGE', {
    billable_metric_id: metrics.tokens,
    pricing_group_key: ['model'],
    presentation_group_key: ['region'],
    quantity_conversion: { name: 'thousands', conversion_factor: 1000, operation: 'DIVIDE' },
    quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 2 },
    tags: ['ai', 'usage'],
  });
  const requests = await product('Requests', 'USAGE', { billable_metric_id: metrics.requests, tags: ['ai'] });
  return {
    tokens,
    requests,
    peak: await product('Peak', 'USAGE', {
      billable_metric_id: metrics.peak,
      quantity_conversion: { conversion_factor: 1.5, operation: 'MULTIPLY' },
    }),
    sql: await product('Squares', 'USAGE', {
      billable_metric_id: metrics.sql,
      sql_breakdown_granularity: 'SERVICE_PERIOD',
    }),
    coins: await product('Priced in credits', 'USAGE', {
      billable_metric_id: metrics.users,
      presentation_group_key: ['model'],
    }),
    support: await product('Support', 'COMPOSITE', {
      composite_product_ids: [tokens],
      composite_tags: ['ai'],
      composite_scope: 'CONTRACT',
      exclude_free_usage: true,
      include_composite_spend: false,
    }),
    plan: await product('Plan', 'SUBSCRIPTION', { tags: ['plan'] }),
    fee: await product('Fee', 'FIXED'),
    service: await product('Onboarding', 'PROFESSIONAL_SERVICE'),
    retired: await product('Retired', 'USAGE', { billable_metric_id: metrics.retired }),
  };
}

async function updateProducts(
  api: ApiClient,
  products: Catalogue['products'],
  metrics: Catalogue['metrics'],
): Promise<void> {
  const update = (product_id: string, starting_at: string, changes: object) =>
    api.post('/v1/contract-pricing/products/update', { product_id, starting_at, ...changes });
  await update(products.tokens, '2026-10-10T00:00:00Z', { name: 'AI tokens', tags: ['ai'] });
  await update(products.tokens, '2026-12-08T05:00:00Z', {
    quantity_rounding: { rounding_method: 'ROUND_HALF_UP', decimal_places: 1 },
  });
  await update(products.requests, '2026-11-10T00:00:00Z', { presentation_group_key: ['model'] });
  await update(products.peak, '2027-01-01T00:00:00Z', {
    billable_metric_id: metrics.tokens,
    quantity_conversion: null,
    quantity_rounding: null,
  });
}

async function createCards(
  api: ApiClient,
  products: Catalogue['products'],
  coins: string,
): Promise<Catalogue['cards']> {
  const list = await createdId(api, RATE_CARDS, {
    name: 'List prices',
    description: 'Of everything',
    credit_type_conversions: [{ custom_credit_type_id: coins, fiat_per_custom_credit: 2.5 }],
    aliases: [{ name: 'standard', ending_before: '2026-06-01T00:00:00Z' }, { name: 'list' }],
    ...fields('list'),
  });
  await addListRates(api, list, products, coins);
  const euro = await createdId(api, RATE_CARDS, { name: 'Euro', ...fields('euro') });
  const more = await createdId(api, '/v1/credit-types/create', { name: 'Added later' });
  await api.post('/v1/contract-pricing/rate-cards/update', {
    rate_card_id: euro,
    name: 'Euros',
    description: 'Changed',
    aliases: [{ name: 'standard', starting_at: '2026-05-01T00:00:00Z' }],
    add_credit_type_conversions: [{ custom_credit_type_id: more, fiat_per_custom_credit: 4 }],
  });
  const retired = await createdId(api, RATE_CARDS, { name: 'Retired' });
  await api.post('/v1/contract-pricing/rate-cards/setRateCardProductsOrder', {
    rate_card_id: list,
    product_order: [products.requests, products.tokens],
  });
  await api.post('/v1/contract-pricing/rate-cards/moveRateCardProducts', {
    rate_card_id: list,
    product_moves: [{ product_id: products.sql, position: 1 }],
  });
  return { list, euro, retired };
}

async function addListRates(
  api: ApiClient,
  card: string,
  products: Catalogue['products'],
  coins: string,
): Promise<void> {
  const rate = (product: keyof Catalogue['products'], terms: object) => ({
    product_id: products[product],
    starting_at: BEGINNING,
    entitled: true,
    ...terms,
  });
  const model = (name: string) => ({ pricing_group_values: { model: name } });
  const tiers = [{ size: 2, price: 30.25 }, { size: 3, price: 20.125 }, { price: 10.0625 }];
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [
      rate('tokens', {
        ...model('large'),
        rate_type: 'TIERED',
        tiers,
        commit_rate: { rate_type: 'TIERED', tiers },
      }),
      rate('tokens', { ...model('small'), rate_type: 'FLAT', price: 5 }),
      rate('tokens', {
        ...model('small'),
        rate_type: 'FLAT',
        price: 4,
        starting_at: '2026-11-10T00:00:00Z',
        ending_before: '2026-11-20T00:00:00Z',
      }),
      rate('requests', { rate_type: 'FLAT', price: 0 }),
      rate('requests', { rate_type: 'FLAT', price: 1.75, starting_at: '2026-11-05T12:00:00Z' }),
      rate('peak', { rate_type: 'FLAT', price: 3, entitled: false }),
      rate('sql', { rate_type: 'TIERED', tiers: [{ size: 100, price: 0.5 }, { price: 0.25 }] }),
      rate('coins', { rate_type: 'FLAT', price: 7, credit_type_id: coins }),
      rate('support', { rate_type: 'PERCENTAGE', price: 0.05, minimum_config: { minimum: 100 } }),
      rate('support', {
        rate_type: 'TIERED_PERCENTAGE',
        tiers: [{ size: 1000, price: 0.1 }, { price: 0.05 }],
        starting_at: '2027-01-01T00:00:00Z',
      }),
      rate('plan', { rate_type: 'FLAT', price: 2000, billing_frequency: 'MONTHLY' }),
      rate('plan', {
        rate_type: 'SUBSCRIPTION',
        price: 20000,
        quantity: 2,
        is_prorated: true,
        billing_frequency: 'ANNUAL',
      }),
      rate('plan', { rate_type: 'FLAT', price: 500, billing_frequency: 'WEEKLY' }),
      rate('plan', { rate_type: 'FLAT', price: 5500, billing_frequency: 'QUARTERLY' }),
    ],
  });
  const exact = {
    ...rate('retired', { rate_type: 'TIERED', tiers: [{ size: 'EXACT', price: 'EXACT' }, { price: 1 }] }),
    rate_card_id: card,
    commit_rate: { rate_type: 'FLAT', price: 'EXACT' },
  };
  const rawBody = JSON.stringify(exact).replaceAll('"EXACT"', EXACT);
  await api.post(ADD_RATE, undefined, { rawBody });
}

async function connectProviders(api: ApiClient): Promise<void> {
  await api.post('/v1/setUpBillingProvider', {
    billing_provider: 'azure_marketplace',
    delivery_method: 'direct_to_billing_provider',
    configuration: { azure_tenant_id: 'tenant-1', azure_client_secret: 'not a real one', is_sandbox: true },
  });
  await api.post('/v1/setUpBillingProvider', {
    billing_provider: 'aws_marketplace',
    delivery_method: 'aws_sqs',
    configuration: { queue_url: 'https://queues.example.com/1', aws_region: 'eu-central-1' },
  });
}
