/** The properties that metrics and prices look at, as those read them who estimate what events cost. */
import { expect, test } from 'vitest';
import { loadQuantityNames } from '../../src/store/alerts/quantity-names.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

const metric = (name: string, more: object) =>
  createdId(api, METRICS, { name, event_type_filter: { in_values: ['use'] }, ...more });

test('quantity names are the properties that metrics add up, and those of their filters and pricing group keys', async () => {
  expect(await loadQuantityNames(pool.db)).toEqual({ amounts: [], shapes: [] });
  const tokens = await metric('Tokens', {
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [
      { name: 'tokens', exists: true },
      ...['model', 'region'].map((name) => ({ name, exists: true })),
      { name: 'tier', exists: true, in_values: ['gold'] },
      { name: 'cached', exists: true, not_in_values: ['true'] },
    ],
    group_keys: [['model', 'region']],
  });
  await metric('Peak', {
    aggregation_type: 'MAX',
    aggregation_key: 'memory',
    property_filters: [{ name: 'memory', exists: true }],
  });
  await metric('Users', {
    aggregation_type: 'UNIQUE',
    aggregation_key: 'user',
    property_filters: [{ name: 'user', exists: true }],
  });
  const product = { name: 'Tokens', type: 'USAGE', billable_metric_id: tokens };
  await createdId(api, PRODUCTS, { ...product, pricing_group_key: ['model', 'region'] });
  expect(await loadQuantityNames(pool.db)).toEqual({
    amounts: ['memory', 'tokens'],
    shapes: ['cached', 'model', 'region', 'tier'],
  });
});

test('archived metrics have only the names that a product or an alert still counts', async () => {
  const summed = (key: string) =>
    metric(key, {
      aggregation_type: 'SUM',
      aggregation_key: key,
      property_filters: [
        { name: key, exists: true },
        { name: `kind of ${key}`, exists: true, in_values: ['x'] },
      ],
    });
  const [unused, billed, watched] = [await summed('unused'), await summed('billed'), await summed('watched')];
  await createdId(api, PRODUCTS, { name: 'Billed', type: 'USAGE', billable_metric_id: billed });
  const alert = await createdId(api, '/v1/alerts/create', {
    ...{ alert_type: 'usage_threshold_reached', name: 'Watched', threshold: 1, billable_metric_id: watched },
  });
  for (const id of [unused, billed, watched]) await api.post('/v1/billable-metrics/archive', { id });
  const kept = await loadQuantityNames(pool.db);
  expect(kept.amounts).not.toContain('unused');
  expect(kept.shapes).not.toContain('kind of unused');
  expect(kept.amounts).toEqual(expect.arrayContaining(['billed', 'watched']));
  expect(kept.shapes).toEqual(expect.arrayContaining(['kind of billed', 'kind of watched']));
  await api.post('/v1/alerts/archive', { id: alert });
  expect((await loadQuantityNames(pool.db)).amounts).not.toContain('watched');
});

test('quantity names include the properties by which contracts and alerts distinguish usage', async () => {
  const { shapes: before } = await loadQuantityNames(pool.db);
  const own = ['country', 'seat', 'workload'];
  expect(before.filter((name) => own.includes(name))).toEqual([]);
  const billable_metric_id = await metric('By group', {
    aggregation_type: 'COUNT',
    property_filters: own.map((name) => ({ name, exists: true })),
    group_keys: [own],
  });
  const product_id = await createdId(api, PRODUCTS, { name: 'Uses', type: 'USAGE', billable_metric_id });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const starting_at = '2026-11-01T00:00:00Z';
  const rate = { product_id, starting_at, entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATES, { rate_card_id, rates: [rate] });
  const customer_id = await createdId(api, '/v1/customers', { name: 'Acme' });
  const usage_filter = { group_key: 'country', group_values: ['us'] };
  await createdId(api, CONTRACTS, { customer_id, rate_card_id, starting_at, usage_filter });
  await createdId(api, '/v1/alerts/create', {
    ...{ alert_type: 'spend_threshold_reached', name: 'Spend', threshold: 100, customer_id },
    group_values: [{ key: 'workload', value: 'training' }],
  });
  const seats = await createdId(api, '/v1/alerts/create', {
    ...{ alert_type: 'low_remaining_seat_balance_reached', name: 'Seats', threshold: 1, customer_id },
    seat_filter: { seat_group_key: 'seat' },
  });
  const { shapes } = await loadQuantityNames(pool.db);
  expect(shapes.filter((name) => own.includes(name))).toEqual(own);
  await api.post('/v1/alerts/archive', { id: seats });
  expect((await loadQuantityNames(pool.db)).shapes).not.toContain('seat');
});
