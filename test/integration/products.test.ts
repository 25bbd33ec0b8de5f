import { beforeAll, describe, expect, test } from 'vitest';
import { products } from '../../src/store/products/products.tables.ts';
import { findProduct } from '../../src/store/products/products.ts';
import { ACTOR_NAME, createdId, METRICS, PRODUCTS, TOKENS_METRIC } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();
let metricId: string;

beforeAll(async () => {
  metricId = await createdId(api, METRICS, TOKENS_METRIC);
});

const GET = '/v1/contract-pricing/products/get';
const LIST = '/v1/contract-pricing/products/list';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('creating a product', () => {
  test('a usage product is returned with all its terms, digits included', async () => {
    const terms = {
      name: 'Tokens',
      billable_metric_id: metricId,
      pricing_group_key: ['region'],
      presentation_group_key: ['model'],
      quantity_rounding: { rounding_method: 'ROUND_HALF_UP', decimal_places: 3 },
      tags: ['ai', 'usage'],
    };
    const created = await api.post(PRODUCTS, undefined, {
      rawBody: JSON.stringify({
        ...terms,
        type: 'usage',
        quantity_conversion: { name: 'per 1k', operation: 'divide', conversion_factor: 'FACTOR' },
      }).replace('"FACTOR"', '1000.00000000000000000001'),
    });
    const id = created.text('data.id');
    const product = await api.post(GET, { id });
    const stamps = { created_at: '2026-11-20T12:34:56.789Z', created_by: ACTOR_NAME };
    expect(product.at('data')).toMatchObject({
      id,
      type: 'USAGE',
      archived_at: null,
      updates: [],
      custom_fields: {},
      initial: { ...terms, ...stamps, quantity_conversion: { name: 'per 1k', operation: 'DIVIDE' } },
    });
    expect(product.at('data.initial.starting_at')).toBeUndefined();
    expect(product.at('data.current')).toEqual(product.at('data.initial'));
    expect(product.digits('data.initial.quantity_conversion.conversion_factor')).toBe(
      '1000.00000000000000000001',
    );
    const stored = await findProduct(pool.db, id);
    expect(stored?.versions).toHaveLength(1);
    expect(stored?.versions[0]?.quantityConversion?.conversionFactor.toFixed()).toBe(
      '1000.00000000000000000001',
    );
  });

  test.each([
    ['FIXED', 'FIXED', {}],
    ['SUBSCRIPTION', 'SUBSCRIPTION', {}],
    ['PROFESSIONAL_SERVICE', 'PRO_SERVICE', {}],
    ['PRO_SERVICE', 'PRO_SERVICE', {}],
    ['COMPOSITE', 'COMPOSITE', { composite_tags: ['ai'], exclude_free_usage: true }],
  ])('type %s is accepted and answered as %s', async (type, answered, terms) => {
    const id = await createdId(api, PRODUCTS, { name: 'A product', type, ...terms });
    const product = await api.post(GET, { id });
    expect(product.text('data.type')).toBe(answered);
    expect(product.at('data.current')).toMatchObject({ name: 'A product', ...terms });
  });

  test('a composite product may name other products', async () => {
    const part = await createdId(api, PRODUCTS, { name: 'Part', type: 'FIXED' });
    const id = await createdId(api, PRODUCTS, {
      name: 'Whole',
      type: 'COMPOSITE',
      composite_product_ids: [part],
    });
    expect((await api.post(GET, { id })).at('data.current.composite_product_ids')).toEqual([part]);
  });

  test.each([
    ['a usage product without a metric', { billable_metric_id: undefined }, /^billable_metric_id: /],
    ['an unknown metric', { billable_metric_id: UNKNOWN }, /^billable_metric_id: .*not found/],
    [
      'a pricing key that the metric does not group by',
      { pricing_group_key: ['zone'] },
      /^pricing_group_key: /,
    ],
    [
      'keys that no single group key contains',
      { pricing_group_key: ['region'], presentation_group_key: ['tokens'] },
      /^pricing_group_key: .*region, tokens/,
    ],
    ['a presentation key alone', { presentation_group_key: ['zone'] }, /^presentation_group_key: /],
    ['a repeated property', { pricing_group_key: ['model', 'model'] }, /^pricing_group_key\[1\]: /],
    [
      'a factor of 0',
      { quantity_conversion: { operation: 'DIVIDE', conversion_factor: 0 } },
      /^quantity_conversion\.conversion_factor: /,
    ],
    [
      'half a decimal place',
      { quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 0.5 } },
      /^quantity_rounding\.decimal_places: /,
    ],
    ['a metric on a FIXED product', { type: 'FIXED' }, /^billable_metric_id: is for USAGE products/],
    ['an unknown type', { type: 'BUNDLE' }, /^type: /],
    ['composite terms on a usage product', { composite_tags: ['ai'] }, /^composite_tags: is for COMPOSITE/],
    [
      'a composite of nothing',
      { type: 'COMPOSITE', billable_metric_id: undefined },
      /^composite_product_ids: /,
    ],
    [
      'a composite of an unknown product',
      { type: 'COMPOSITE', billable_metric_id: undefined, composite_product_ids: [UNKNOWN] },
      /^composite_product_ids\[0\]: .*not found/,
    ],
    ['an undeclared custom field', { custom_fields: { sku: '1' } }, /^custom_fields\.sku: /],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const before = await pool.db.$count(products);
    const body = { name: 'Bad', type: 'USAGE', billable_metric_id: metricId, ...change };
    const answer = await api.send('POST', PRODUCTS, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await pool.db.$count(products)).toBe(before);
  });

  test('an archived metric is not available to new products; existing ones keep it', async () => {
    const archived = await createdId(api, METRICS, TOKENS_METRIC);
    const body = { name: 'Usage', type: 'USAGE', billable_metric_id: archived };
    const id = await createdId(api, PRODUCTS, body);
    await api.post('/v1/billable-metrics/archive', { id: archived });
    const answer = await api.send('POST', PRODUCTS, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^billable_metric_id: .*archived/);
    expect((await api.post(GET, { id })).text('data.current.billable_metric_id')).toBe(archived);
  });
});

describe('reading products', () => {
  test('an unknown id answers 404', async () => {
    expect((await api.send('POST', GET, { id: UNKNOWN })).status).toBe(404);
  });

  test('pages reach every product once', async () => {
    const created: string[] = [];
    for (let index = 0; index < 5; index++) {
      created.push(await createdId(api, PRODUCTS, { name: `Paged ${index}`, type: 'FIXED' }));
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.post(LIST, {}, { query: { limit: 4, next_page: cursor } });
      seen.push(...page.list('data').map((_, index) => page.text(`data[${index}].id`)));
      cursor = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(created));
    expect((await api.post(LIST, { archive_filter: 'archived' })).list('data')).toEqual([]);
    expect((await api.post(LIST, { archive_filter: 'ALL' })).list('data').length).toBe(seen.length);
  });
});
