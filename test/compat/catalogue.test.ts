/**
 * The official client, unchanged, against the service: products, pricing units, rate cards, rates and
 * billing providers.
 *
 * SDK methods covered here:
 * - v1.contracts.products: create, retrieve, update, list, archive
 * - v1.pricingUnits: list
 * - v1.contracts.rateCards: create, retrieve, update, list, archive, retrieveRateSchedule
 * - v1.contracts.rateCards.rates: add, addMany, list
 * - v1.contracts.rateCards.productOrders: set, update
 * - v1.settings.billingProviders: create, list
 * - v1.customers: create, setBillingConfigurations, retrieveBillingConfigurations, archiveBillingConfigurations
 *
 * `POST /v1/credit-types/create` is ours alone; the client's own `post` reaches it.
 */
import Metronome, { BadRequestError, ConflictError, NotFoundError } from '@metronome/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../support/collect.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const USD = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

const service = await serviceForFile({ sandboxNow: '2026-03-20T12:00:00Z' });
let client: Metronome;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
});

async function createUnit(name: string): Promise<string> {
  const created = await client.post<{ data: { id: string } }>('/v1/credit-types/create', { body: { name } });
  return created.data.id;
}

async function createUsageProduct(terms: { pricing_group_key?: string[]; tags?: string[] } = {}) {
  const metric = await client.v1.billableMetrics.create({
    name: 'Tokens',
    property_filters: ['tokens', 'model'].map((name) => ({ name, exists: true })),
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    group_keys: [['model']],
  });
  const product = await client.v1.contracts.products.create({
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: metric.data.id,
    ...terms,
  });
  return product.data.id;
}

const FROM = { starting_at: '2026-01-01T00:00:00Z', entitled: true } as const;

describe('products with the official client', () => {
  it('products with the official client are created, changed from an instant on, read with their history, listed and archived', async () => {
    const product_id = await createUsageProduct({ tags: ['ai'] });
    const updated = await client.v1.contracts.products.update({
      product_id,
      starting_at: '2026-02-01T00:00:00.000Z',
      name: 'Model tokens',
      quantity_conversion: { conversion_factor: 1000, operation: 'DIVIDE', name: 'thousands' },
    });
    expect(updated.data.id).toBe(product_id);
    const { data } = await client.v1.contracts.products.retrieve({ id: product_id });
    expect(data.type).toBe('USAGE');
    expect(data.initial).toMatchObject({ name: 'Tokens', tags: ['ai'] });
    expect(data.current).toMatchObject({
      name: 'Model tokens',
      tags: ['ai'],
      quantity_conversion: { conversion_factor: 1000, operation: 'DIVIDE', name: 'thousands' },
    });
    expect(data.updates).toMatchObject([{ starting_at: '2026-02-01T00:00:00.000Z', name: 'Model tokens' }]);
    expect(data.updates[0]).not.toHaveProperty('tags');

    const archived = await client.v1.contracts.products.archive({ product_id });
    expect(archived.data.id).toBe(product_id);
    const again = client.v1.contracts.products.archive({ product_id });
    await expect(again).rejects.toBeInstanceOf(BadRequestError);
    const unknown = client.v1.contracts.products.archive({ product_id: UNKNOWN_ID });
    await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
    const names = async (archive_filter?: 'ARCHIVED' | 'ALL') => {
      const params = { limit: 1, ...(archive_filter === undefined ? {} : { archive_filter }) };
      return (await collect(client.v1.contracts.products.list(params))).map(({ id }) => id);
    };
    expect(await names('ARCHIVED')).toContain(product_id);
    expect(await names('ALL')).toContain(product_id);
    expect(await names()).not.toContain(product_id);
    expect((await client.v1.contracts.products.list()).data).toBeInstanceOf(Array);
  });
});

describe('pricing units with the official client', () => {
  it('pricing units with the official client are listed page after page: frequent currencies, custom units, whose names are unique, then all others', async () => {
    const id = await createUnit('AI credits');
    const listed = await collect(client.v1.pricingUnits.list({ limit: 4 }));
    expect(listed[0]).toEqual({ ...USD, is_currency: true });
    const custom = listed.findIndex((unit) => unit.id === id);
    expect(listed[custom]).toEqual({ id, name: 'AI credits', is_currency: false });
    expect(listed.slice(0, custom).map(({ name }) => name)).toContain('EUR');
    expect(listed.at(-1)).toMatchObject({ name: 'ZWG', is_currency: true });
    expect(new Set(listed.map((unit) => unit.id)).size).toBe(listed.length);
    await expect(createUnit('AI credits')).rejects.toBeInstanceOf(ConflictError);
  });
});

describe('rate cards with the official client', () => {
  it('rate cards with the official client are created, changed, listed without a body and archived', async () => {
    const unit = await createUnit('Compute units');
    const card = await client.v1.contracts.rateCards.create({
      name: 'List',
      description: 'Public prices',
      aliases: [{ name: 'paygo' }],
    });
    const rate_card_id = card.data.id;
    const conversion = { custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 };
    await client.v1.contracts.rateCards.update({
      rate_card_id,
      description: 'List prices',
      add_credit_type_conversions: [conversion],
    });
    const change = client.v1.contracts.rateCards.update({
      rate_card_id,
      add_credit_type_conversions: [{ ...conversion, fiat_per_custom_credit: 3 }],
    });
    await expect(change).rejects.toBeInstanceOf(BadRequestError);
    const next = await client.v1.contracts.rateCards.create({ name: 'Next' });
    await client.v1.contracts.rateCards.update({
      rate_card_id: next.data.id,
      aliases: [{ name: 'paygo', starting_at: '2026-04-01T00:00:00Z' }],
    });
    const { data } = await client.v1.contracts.rateCards.retrieve({ id: rate_card_id });
    expect(data).toMatchObject({
      id: rate_card_id,
      name: 'List',
      description: 'List prices',
      fiat_credit_type: USD,
      credit_type_conversions: [
        { custom_credit_type: { id: unit, name: 'Compute units' }, fiat_per_custom_credit: '2.5' },
      ],
      aliases: [{ name: 'paygo', ending_before: '2026-04-01T00:00:00.000Z' }],
    });
    expect(await collect(client.v1.contracts.rateCards.list())).toContainEqual(data);
    expect((await client.v1.contracts.rateCards.archive({ id: rate_card_id })).data.id).toBe(rate_card_id);
    const left = await collect(client.v1.contracts.rateCards.list({ body: {}, limit: 1 }));
    expect(left.map(({ id }) => id)).not.toContain(rate_card_id);
  });

  it('put their products into an order', async () => {
    const [a, b, c] = [await createUsageProduct(), await createUsageProduct(), await createUsageProduct()];
    const card = await client.v1.contracts.rateCards.create({ name: 'Ordered' });
    const rate_card_id = card.data.id;
    await client.v1.contracts.rateCards.rates.addMany({
      rate_card_id,
      rates: [a, b, c].map((product_id) => ({ ...FROM, product_id, rate_type: 'FLAT' as const, price: 1 })),
    });
    const orders = client.v1.contracts.rateCards.productOrders;
    expect((await orders.set({ rate_card_id, product_order: [c, a, b] })).data.id).toBe(rate_card_id);
    const moves = [
      { product_id: a, position: 0 },
      { product_id: b, position: 1 },
    ];
    expect((await orders.update({ rate_card_id, product_moves: moves })).data.id).toBe(rate_card_id);
    const unknown = orders.set({ rate_card_id, product_order: [UNKNOWN_ID] });
    await expect(unknown).rejects.toBeInstanceOf(BadRequestError);
  });
});

describe('rates with the official client', () => {
  it('rates with the official client of every type are added and read back', async () => {
    const usage = await createUsageProduct({ pricing_group_key: ['model'] });
    const seat = await client.v1.contracts.products.create({ name: 'Seat', type: 'SUBSCRIPTION' });
    const support = await client.v1.contracts.products.create({
      name: 'Support',
      type: 'COMPOSITE',
      composite_product_ids: [usage],
    });
    const card = await client.v1.contracts.rateCards.create({ name: 'All types' });
    const rate_card_id = card.data.id;
    const added = await client.v1.contracts.rateCards.rates.add({
      ...FROM,
      rate_card_id,
      product_id: usage,
      pricing_group_values: { model: 'large' },
      rate_type: 'TIERED',
      tiers: [{ size: 1000, price: 0.5 }, { price: 0.25 }],
      commit_rate: { rate_type: 'FLAT', price: 0.1 },
    });
    expect(added.data).toEqual({
      rate_type: 'TIERED',
      tiers: [{ size: 1000, price: 0.5 }, { price: 0.25 }],
      pricing_group_values: { model: 'large' },
      credit_type: USD,
      commit_rate: { rate_type: 'FLAT', price: 0.1 },
    });
    const many = await client.v1.contracts.rateCards.rates.addMany({
      rate_card_id,
      rates: [
        { ...FROM, product_id: usage, rate_type: 'FLAT', price: 2 },
        { ...FROM, product_id: seat.data.id, rate_type: 'FLAT', price: 4000, billing_frequency: 'MONTHLY' },
        {
          ...FROM,
          product_id: seat.data.id,
          rate_type: 'SUBSCRIPTION',
          price: 40000,
          quantity: 1,
          is_prorated: true,
          billing_frequency: 'ANNUAL',
        },
        { ...FROM, product_id: support.data.id, rate_type: 'PERCENTAGE', price: 0.05 },
      ],
    });
    expect(many.data.id).toBe(rate_card_id);
    const custom = client.v1.contracts.rateCards.rates.add({
      ...FROM,
      rate_card_id,
      product_id: usage,
      rate_type: 'CUSTOM',
      custom_rate: {},
    });
    await expect(custom).rejects.toBeInstanceOf(BadRequestError);
    const at = '2026-02-01T00:00:00Z';
    const rates = await collect(client.v1.contracts.rateCards.rates.list({ rate_card_id, at, limit: 2 }));
    expect(
      rates.map(({ rate, billing_frequency }) => [rate.rate_type, rate.price, billing_frequency]),
    ).toEqual([
      ['TIERED', undefined, undefined],
      ['FLAT', 2, undefined],
      ['FLAT', 4000, 'MONTHLY'],
      ['SUBSCRIPTION', 40000, 'ANNUAL'],
      ['PERCENTAGE', 0.05, undefined],
    ]);
    const customer = await client.v1.customers.create({ name: 'Buys everything' });
    const customer_id = customer.data.id;
    await client.v1.contracts.create({ customer_id, rate_card_id, starting_at: '2026-03-01T00:00:00Z' });
    const invoices = await collect(client.v1.customers.invoices.list({ customer_id }));
    expect(invoices).toMatchObject([{ type: 'USAGE', status: 'DRAFT', total: 0, line_items: [] }]);
    const selected = await collect(
      client.v1.contracts.rateCards.rates.list({
        rate_card_id,
        at,
        selectors: [{ partial_pricing_group_values: { model: 'large' } }, { billing_frequency: 'ANNUAL' }],
      }),
    );
    expect(selected.map(({ rate }) => rate.rate_type)).toEqual(['TIERED', 'SUBSCRIPTION']);
  });

  it('rates with the official client show their schedule as effective segments', async () => {
    const product_id = await createUsageProduct();
    const card = await client.v1.contracts.rateCards.create({ name: 'Scheduled' });
    const rate_card_id = card.data.id;
    const flat = (price: number, starting_at: string, ending_before?: string) =>
      client.v1.contracts.rateCards.rates.add({
        rate_card_id,
        product_id,
        entitled: true,
        rate_type: 'FLAT',
        price,
        starting_at,
        ...(ending_before === undefined ? {} : { ending_before }),
      });
    await flat(1, '2026-01-01T00:00:00.000Z');
    await flat(2, '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z');
    const schedule = { rate_card_id, starting_at: '2026-01-15T00:00:00Z' };
    const first = await client.v1.contracts.rateCards.retrieveRateSchedule({ ...schedule, limit: 2 });
    const second = await client.v1.contracts.rateCards.retrieveRateSchedule({
      ...schedule,
      limit: 2,
      next_page: first.next_page ?? '',
    });
    expect(second.next_page).toBeNull();
    const rows = [...first.data, ...second.data];
    expect(
      rows.map(({ rate, starting_at, ending_before }) => [rate.price, starting_at, ending_before]),
    ).toEqual([
      [1, '2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
      [2, '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
      [1, '2026-03-01T00:00:00.000Z', undefined],
    ]);
  });
});

describe('billing providers with the official client', () => {
  it('billing providers with the official client are connected and listed without secrets', async () => {
    const created = await client.v1.settings.billingProviders.create({
      billing_provider: 'azure_marketplace',
      delivery_method: 'direct_to_billing_provider',
      configuration: { azure_tenant_id: 't-1', azure_client_id: 'c-1', azure_client_secret: 'S3CRET' },
    });
    const listed = await client.v1.settings.billingProviders.list();
    expect(listed.data[0]).toEqual({
      billing_provider: 'azure_marketplace',
      delivery_method: 'direct_to_billing_provider',
      delivery_method_id: created.data.delivery_method_id,
      delivery_method_configuration: { azure_tenant_id: 't-1', azure_client_id: 'c-1' },
    });
    // After the connections: providers that need none.
    const others = listed.data.slice(1).map(({ billing_provider }) => billing_provider);
    expect(others).toEqual(['aws_marketplace', 'gcp_marketplace', 'stripe', 'netsuite']);
    expect(listed.next_page).toBeNull();
  });

  it('billing providers with the official client get the invoices of customers by their configurations', async () => {
    const configuration = { stripe_customer_id: 'cus_1', stripe_collection_method: 'charge_automatically' };
    const delivery_method = 'direct_to_billing_provider';
    const customer = await client.v1.customers.create({
      name: 'Acme',
      customer_billing_provider_configurations: [
        { billing_provider: 'stripe', delivery_method, configuration },
      ],
    });
    const customer_id = customer.data.id;
    const added = await client.v1.customers.setBillingConfigurations({
      data: [
        {
          customer_id,
          billing_provider: 'aws_marketplace',
          delivery_method,
          configuration: { aws_customer_id: 'a-1', aws_product_code: 'p-1', aws_region: 'eu-west-1' },
        },
      ],
    });
    const { data } = await client.v1.customers.retrieveBillingConfigurations({ customer_id });
    expect(data).toMatchObject([
      { billing_provider: 'stripe', delivery_method, configuration, archived_at: null },
      { id: added.data[0]?.id, configuration: { aws_region: 'eu-west-1' } },
    ]);
    const archived = {
      customer_id,
      customer_billing_provider_configuration_ids: data.slice(0, 1).map(({ id }) => id),
    };
    expect((await client.v1.customers.archiveBillingConfigurations(archived)).data).toEqual(archived);
    const left = await client.v1.customers.retrieveBillingConfigurations({ customer_id });
    expect(left.data.map(({ id }) => id)).toEqual([added.data[0]?.id]);
    const all = { customer_id, include_archived: true };
    expect((await client.v1.customers.retrieveBillingConfigurations(all)).data).toHaveLength(2);
  });
});
