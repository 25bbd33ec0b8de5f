/** The properties that metrics and prices look at, as those read them who estimate what events cost. */
import { expect, test } from 'vitest';
import { loadQuantityNames } from '../../src/store/quantity-names.ts';
import { createdId, METRICS, PRODUCTS } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

const metric = (name: string, more: object) =>
  createdId(api, METRICS, { name, event_type_filter: { in_values: ['use'] }, ...more });

test('what metrics add up, and what their filters and pricing group keys name', async () => {
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

test('not those of archived metrics', async () => {
  const id = await metric('Bytes', {
    aggregation_type: 'SUM',
    aggregation_key: 'bytes',
    property_filters: [{ name: 'bytes', exists: true }],
  });
  expect((await loadQuantityNames(pool.db)).amounts).toContain('bytes');
  await api.post('/v1/billable-metrics/archive', { id });
  expect((await loadQuantityNames(pool.db)).amounts).not.toContain('bytes');
});
