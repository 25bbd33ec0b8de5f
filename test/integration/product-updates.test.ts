import { beforeAll, describe, expect, test } from 'vitest';
import { products, productVersions } from '../../src/store/products/products.tables.ts';
import {
  ACTOR_NAME,
  ADD_RATE,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { refusalOf } from '../support/refusal.ts';

const { pool, api } = await catalogueForFile();
let metricId: string;

beforeAll(async () => {
  metricId = await createdId(api, METRICS, TOKENS_METRIC);
});

const GET = '/v1/contract-pricing/products/get';
const LIST = '/v1/contract-pricing/products/list';
const UPDATE = '/v1/contract-pricing/products/update';
const ARCHIVE = '/v1/contract-pricing/products/archive';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const CREATED = { created_at: '2026-11-20T12:34:56.789Z', created_by: ACTOR_NAME };

const usage = (terms: object = {}) =>
  createdId(api, PRODUCTS, { name: 'Usage', type: 'USAGE', billable_metric_id: metricId, ...terms });
const composite = (terms: object) => createdId(api, PRODUCTS, { name: 'Whole', type: 'COMPOSITE', ...terms });

describe('updating a product', () => {
  test('updating a product shows the state at creation, the state now, and only what each update changed', async () => {
    const id = await usage({
      tags: ['ai'],
      quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 0 },
    });
    const change = (starting_at: string, changes: object) =>
      api.post(UPDATE, { product_id: id, starting_at, ...changes });
    expect((await change('2027-01-01T00:00:00Z', { name: 'Next year' })).text('data.id')).toBe(id);
    await change('2026-01-01T00:00:00Z', { tags: ['ai', 'new'] });
    await change('2026-06-01T00:00:00Z', { quantity_rounding: null, pricing_group_key: ['model'] });
    const product = await api.post(GET, { id });
    expect(product.at('data.updates')).toEqual([
      { starting_at: '2026-01-01T00:00:00.000Z', tags: ['ai', 'new'], ...CREATED },
      {
        starting_at: '2026-06-01T00:00:00.000Z',
        quantity_rounding: null,
        pricing_group_key: ['model'],
        ...CREATED,
      },
      { starting_at: '2027-01-01T00:00:00.000Z', name: 'Next year', ...CREATED },
    ]);
    expect(product.at('data.initial')).toMatchObject({
      name: 'Usage',
      tags: ['ai'],
      quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 0 },
    });
    expect(product.at('data.current')).toEqual({
      name: 'Usage',
      starting_at: '2026-06-01T00:00:00.000Z',
      tags: ['ai', 'new'],
      billable_metric_id: metricId,
      quantity_conversion: null,
      quantity_rounding: null,
      pricing_group_key: ['model'],
      ...CREATED,
    });
  });

  test('an update that is submitted later but starts earlier does not undo the one that follows it', async () => {
    const id = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    await api.post(UPDATE, { product_id: id, starting_at: '2026-05-01T00:00:00Z', name: 'May' });
    await api.post(UPDATE, {
      product_id: id,
      starting_at: '2026-03-01T00:00:00Z',
      name: 'March',
      tags: ['x'],
    });
    expect((await api.post(GET, { id })).at('data.current')).toMatchObject({ name: 'May', tags: ['x'] });
  });

  test('updating a product: of updates at one instant the last one wins, term by term', async () => {
    const id = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const starting_at = '2026-05-01T00:00:00Z';
    await api.post(UPDATE, { product_id: id, starting_at, name: 'First', tags: ['kept'] });
    await api.post(UPDATE, { product_id: id, starting_at, name: 'Second' });
    const product = await api.post(GET, { id });
    expect(product.at('data.current')).toMatchObject({ name: 'Second', tags: ['kept'] });
    expect(product.list('data.updates')).toHaveLength(2);
  });

  test('calls for one product that race are all kept', async () => {
    const id = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const days = ['01', '02', '03', '04', '05'];
    await Promise.all(
      days.map((day) =>
        api.post(UPDATE, { product_id: id, starting_at: `2026-05-${day}T00:00:00Z`, name: day }),
      ),
    );
    expect((await api.post(GET, { id })).list('data.updates')).toHaveLength(days.length);
  });

  test.each<[string, object, RegExp]>([
    ['a start off the hour', { starting_at: '2026-05-01T01:30:00Z' }, /^starting_at: /],
    ['no start', { starting_at: undefined }, /^starting_at: /],
    ['an empty name', { name: '' }, /^name: /],
    ['an unknown metric', { billable_metric_id: UNKNOWN }, /^billable_metric_id: .*not found/],
    ['a key that the metric does not group by', { pricing_group_key: ['zone'] }, /^pricing_group_key: /],
    ['a presentation key likewise', { presentation_group_key: ['zone'] }, /^presentation_group_key: /],
    [
      'a factor of 0',
      { quantity_conversion: { operation: 'DIVIDE', conversion_factor: 0 } },
      /^quantity_conversion\.conversion_factor: /,
    ],
    ['composite terms', { composite_tags: ['ai'] }, /^composite_tags: is for COMPOSITE/],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const id = await usage();
    const before = await pool.db.$count(productVersions);
    const body = { product_id: id, starting_at: '2026-05-01T00:00:00Z', ...change };
    expect(await refusalOf(api, UPDATE, body)).toMatch(message);
    expect(await pool.db.$count(productVersions)).toBe(before);
  });

  test('usage terms on a FIXED product answer 400, an unknown product 404', async () => {
    const id = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const body = { product_id: id, starting_at: '2026-05-01T00:00:00Z', billable_metric_id: metricId };
    expect(await refusalOf(api, UPDATE, body)).toMatch(/^billable_metric_id: is for USAGE products/);
    expect((await api.send('POST', UPDATE, { ...body, product_id: UNKNOWN })).status).toBe(404);
  });

  test('keys are held to the metric that is in force with them, also later on', async () => {
    const plainMetric = await createdId(api, METRICS, { name: 'Calls', aggregation_type: 'COUNT' });
    const id = await usage();
    await api.post(UPDATE, {
      product_id: id,
      starting_at: '2027-01-01T00:00:00Z',
      billable_metric_id: plainMetric,
    });
    const keys = { product_id: id, starting_at: '2026-05-01T00:00:00Z', pricing_group_key: ['model'] };
    expect(await refusalOf(api, UPDATE, keys)).toMatch(/^pricing_group_key: .*no group key/);
    const keyed = await usage({ pricing_group_key: ['model'] });
    const swap = { product_id: keyed, starting_at: '2027-01-01T00:00:00Z', billable_metric_id: plainMetric };
    expect(await refusalOf(api, UPDATE, swap)).toMatch(/^billable_metric_id: .*no group key/);
    await api.post(UPDATE, { ...swap, pricing_group_key: [] });
  });

  test('an archived metric cannot be taken up; a product that has it can still be renamed', async () => {
    const archived = await createdId(api, METRICS, TOKENS_METRIC);
    const id = await usage({ billable_metric_id: archived });
    await api.post('/v1/billable-metrics/archive', { id: archived });
    const starting_at = '2026-05-01T00:00:00Z';
    await api.post(UPDATE, { product_id: id, starting_at, name: 'Renamed' });
    const other = await usage();
    const message = await refusalOf(api, UPDATE, {
      product_id: other,
      starting_at,
      billable_metric_id: archived,
    });
    expect(message).toMatch(/^billable_metric_id: .*archived/);
  });
});

describe('composite products', () => {
  const nested = { include_composite_spend: true };

  test('composite products cannot be part of their base through ids or tags, at creation or by an update', async () => {
    const self = { name: 'Self', type: 'COMPOSITE', tags: ['t-self'], composite_tags: ['t-self'] };
    const before = await pool.db.$count(products);
    expect(await refusalOf(api, PRODUCTS, { ...self, ...nested })).toMatch(
      /^composite_tags: .*part of its base/,
    );
    expect(await pool.db.$count(products)).toBe(before);

    const inner = await composite({ composite_tags: ['t-leaf'], ...nested });
    const middle = await composite({ composite_product_ids: [inner], tags: ['t-middle'], ...nested });
    const starting_at = '2026-05-01T00:00:00Z';
    const byId = { product_id: inner, starting_at, composite_product_ids: [middle] };
    expect(await refusalOf(api, UPDATE, byId)).toMatch(
      new RegExp(`^composite_product_ids: .*part of its base, through ${middle}`),
    );
    const byTag = { product_id: inner, starting_at, composite_tags: ['t-middle'] };
    expect(await refusalOf(api, UPDATE, byTag)).toMatch(/^composite_tags: /);
    expect(await refusalOf(api, UPDATE, { product_id: middle, starting_at, tags: ['t-leaf'] })).toMatch(
      /^tags: /,
    );
  });

  test('composite products may name composites whose spend they do not count', async () => {
    const inner = await composite({ composite_tags: ['u-leaf'], tags: ['u-inner'] });
    const outer = await composite({ composite_tags: ['u-inner'], tags: ['u-leaf'], ...nested });
    expect((await api.post(GET, { id: outer })).at('data.current')).toMatchObject({
      composite_tags: ['u-inner'],
      include_composite_spend: true,
      composite_scope: 'CONTRACT',
    });
    const optIn = { product_id: inner, starting_at: '2026-05-01T00:00:00Z', ...nested };
    expect(await refusalOf(api, UPDATE, optIn)).toMatch(/^include_composite_spend: /);
  });

  test('two updates that would close a cycle together are not both taken', async () => {
    const first = await composite({ composite_tags: ['v-none'], ...nested });
    const second = await composite({ composite_tags: ['v-none'], ...nested });
    const starting_at = '2026-05-01T00:00:00Z';
    const answers = await Promise.all([
      api.send('POST', UPDATE, { product_id: first, starting_at, composite_product_ids: [second] }),
      api.send('POST', UPDATE, { product_id: second, starting_at, composite_product_ids: [first] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('count the spend of their contract; no other scope is taken, nor a scope elsewhere', async () => {
    const body = { name: 'Whole', type: 'COMPOSITE', composite_tags: ['w'], composite_scope: 'CUSTOMER' };
    expect(await refusalOf(api, PRODUCTS, body)).toMatch(/^composite_scope: /);
    expect(
      await refusalOf(api, PRODUCTS, { name: 'Fee', type: 'FIXED', composite_scope: 'contract' }),
    ).toMatch(/^composite_scope: is for COMPOSITE/);
  });
});

describe('archiving a product', () => {
  test('archiving a product cannot be repeated or undone; the product stays readable, rate cards continue without new rates', async () => {
    const id = await usage();
    const card = await createdId(api, RATE_CARDS, { name: 'Card' });
    const rate = {
      rate_card_id: card,
      product_id: id,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price: 1,
    };
    await api.post(ADD_RATE, rate);
    expect((await api.post(ARCHIVE, { product_id: id })).text('data.id')).toBe(id);
    expect((await api.post(GET, { id })).text('data.archived_at')).toBe('2026-11-20T12:34:56.789Z');
    expect(await refusalOf(api, ARCHIVE, { product_id: id })).toMatch(/^product_id: .*archived/);
    expect(await refusalOf(api, ADD_RATE, rate)).toMatch(/^product_id: .*archived/);
    const update = { product_id: id, starting_at: '2026-05-01T00:00:00Z', name: 'Late' };
    expect(await refusalOf(api, UPDATE, update)).toMatch(/^product_id: .*archived/);
    const rates = await api.post('/v1/contract-pricing/rate-cards/getRates', {
      rate_card_id: card,
      at: '2026-02-01T00:00:00Z',
    });
    expect(rates.list('data')).toHaveLength(1);
    expect((await api.send('POST', ARCHIVE, { product_id: UNKNOWN })).status).toBe(404);
  });

  test('archiving a product: of calls that race one succeeds', async () => {
    const id = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const answers = await Promise.all([1, 2, 3].map(() => api.send('POST', ARCHIVE, { product_id: id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test('the list tells archived products from others', async () => {
    const archived = await createdId(api, PRODUCTS, { name: 'Gone', type: 'FIXED' });
    const active = await createdId(api, PRODUCTS, { name: 'Here', type: 'FIXED' });
    await api.post(ARCHIVE, { product_id: archived });
    const ids = async (archive_filter?: string) => {
      const page = await api.post(LIST, { archive_filter });
      return page.list('data').map((_, index) => page.text(`data[${index}].id`));
    };
    expect(await ids()).toContain(active);
    expect(await ids()).not.toContain(archived);
    expect(await ids('ARCHIVED')).toContain(archived);
    expect(await ids('ARCHIVED')).not.toContain(active);
    expect(await ids('ALL')).toEqual(expect.arrayContaining([archived, active]));
  });
});
