import { describe, expect, test } from 'vitest';
import { billableMetrics } from '../../src/store/metrics/billable-metrics.tables.ts';
import { findMetric } from '../../src/store/metrics/billable-metrics.ts';
import { createdId, METRICS, TOKENS_METRIC } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('creating a metric', () => {
  test('a metric is returned with its whole definition', async () => {
    const definition = {
      ...TOKENS_METRIC,
      event_type_filter: { in_values: ['a', 'b'], not_in_values: ['c'] },
      property_filters: [
        { name: 'tokens', exists: true },
        { name: 'model', exists: true, not_in_values: ['test'] },
        { name: 'region.name', in_values: ['eu'] },
        { name: 'internal', exists: false },
        { name: 'any' },
      ],
      group_keys: [['model'], ['model', 'region.name']],
    };
    const id = await createdId(api, METRICS, definition);
    const metric = await api.get(`/v1/billable-metrics/${id}`);
    expect(metric.at('data')).toEqual({ id, ...definition, custom_fields: {} });
  });

  test('the store hands out what the rating engine and the compiler read', async () => {
    const id = await createdId(api, METRICS, TOKENS_METRIC);
    expect(await findMetric(pool.db, id)).toMatchObject({
      kind: 'streaming',
      eventTypeFilter: { inValues: ['completion'], notInValues: null },
      propertyFilters: [
        { name: 'tokens', exists: true, inValues: null, notInValues: null },
        { name: 'model', exists: true, inValues: null, notInValues: null },
        { name: 'region', exists: null, inValues: ['eu', 'us'], notInValues: null },
      ],
      aggregation: 'SUM',
      aggregationKey: 'tokens',
      groupKeys: [['model'], ['model', 'region']],
      archivedAt: null,
    });
  });

  test.each(['COUNT', 'count', 'Count', 'SUM', 'sum', 'Max', 'UNIQUE', 'unique', 'Latest'])(
    'aggregation type %s is accepted and answered in upper case',
    async (aggregation_type) => {
      const id = await createdId(api, METRICS, { ...TOKENS_METRIC, aggregation_type });
      const metric = await api.get(`/v1/billable-metrics/${id}`);
      expect(metric.text('data.aggregation_type')).toBe(aggregation_type.toUpperCase());
    },
  );

  test('COUNT needs neither a key nor filters', async () => {
    const id = await createdId(api, METRICS, { name: 'Everything', aggregation_type: 'count' });
    const metric = await api.get(`/v1/billable-metrics/${id}`);
    expect(metric.at('data')).toEqual({
      id,
      name: 'Everything',
      property_filters: [],
      aggregation_type: 'COUNT',
      group_keys: [],
      custom_fields: {},
    });
  });

  test.each([
    ['no aggregation type', { aggregation_type: undefined }, /^aggregation_type: /],
    ['an unknown aggregation type', { aggregation_type: 'MEDIAN' }, /^aggregation_type: /],
    ['an odd spelling of one', { aggregation_type: 'sUm' }, /^aggregation_type: /],
    ['no aggregation key', { aggregation_key: undefined }, /^aggregation_key: /],
    [
      'a key that is no filter name',
      { aggregation_key: 'bytes' },
      /^aggregation_key: must be one of the property filter names/,
    ],
    [
      'a key that a filter requires to be absent',
      { property_filters: [{ name: 'tokens', exists: false }], group_keys: [] },
      /^aggregation_key: /,
    ],
    [
      'a group key without a filter',
      { group_keys: [['model'], ['model', 'zone']] },
      /^group_keys\[1\]\[1\]: .*property filter/,
    ],
    [
      'a group key whose filter lets it be absent',
      {
        property_filters: [
          { name: 'tokens', exists: true },
          { name: 'model', not_in_values: ['x'] },
        ],
        group_keys: [['model']],
      },
      /^group_keys\[0\]\[0\]: /,
    ],
    ['a repeated property in a group key', { group_keys: [['model', 'model']] }, /^group_keys\[0\]\[1\]: /],
    ['an empty group key', { group_keys: [[]] }, /^group_keys\[0\]: /],
    ['an empty in_values', { event_type_filter: { in_values: [] } }, /^event_type_filter\.in_values: /],
    [
      'an empty not_in_values',
      { property_filters: [{ name: 'tokens', not_in_values: [] }] },
      /^property_filters\[0\]\.not_in_values: /,
    ],
    [
      'a filter that nothing can pass',
      { property_filters: [{ name: 'tokens', exists: false, in_values: ['1'] }] },
      /^property_filters\[0\]: /,
    ],
    [
      'filters that exclude each other',
      {
        property_filters: [
          { name: 'tokens', exists: true },
          { name: 'zone', exists: true },
          { name: 'zone', exists: false },
        ],
        group_keys: [],
      },
      /^property_filters\[2\]: excludes property_filters\[1\]/,
    ],
    [
      'filters that exclude each other by their values',
      {
        property_filters: [
          { name: 'zone', exists: false },
          { name: 'tokens', exists: true },
          { name: 'zone', in_values: ['a'] },
        ],
        group_keys: [],
      },
      /^property_filters\[2\]: excludes property_filters\[0\]/,
    ],
    [
      'the same group key twice',
      { group_keys: [['model'], ['model', 'region'], ['region', 'model']] },
      /^group_keys\[2\]: repeats/,
    ],
    ['a query beside filters', { sql: 'SELECT 1 FROM events' }, /^sql: cannot be combined with /],
    ['an undeclared custom field', { custom_fields: { team: 'x' } }, /^custom_fields\.team: /],
    ['an empty name', { name: '' }, /^name: /],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const before = await pool.db.$count(billableMetrics);
    const answer = await api.send('POST', METRICS, { ...TOKENS_METRIC, ...change });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await pool.db.$count(billableMetrics)).toBe(before);
  });
});

/** A definition as large as may be. */
const LARGEST = {
  name: 'n'.repeat(512),
  aggregation_type: 'SUM',
  aggregation_key: 'p0',
  property_filters: Array.from({ length: 30 }, (_, index) => ({ name: `p${index}`, exists: true })),
  group_keys: Array.from({ length: 30 }, (_, skipped) =>
    Array.from({ length: 12 }, (__, index) => `p${(skipped + index) % 30}`),
  ),
};

function withFilter(filter: { name?: string; in_values?: string[]; not_in_values?: string[] }) {
  const { name = 'p0' } = filter;
  return {
    aggregation_key: name,
    property_filters: [{ ...filter, name, exists: true }],
    group_keys: [],
  };
}

const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'v'));

describe('the size of a metric', () => {
  test.each([
    ['as many filters, group keys and names as may be', {}],
    ['as many values as may be', withFilter({ in_values: texts(1_000, 5), not_in_values: texts(1_000, 5) })],
    ['as much text as may be', withFilter({ in_values: texts(10, 6_553) })],
    ['a name as long as may be', withFilter({ name: 'p'.repeat(256) })],
    ['a path as long as may be', withFilter({ name: Array(17).fill('p').join('.') })],
    ['an event type as long as may be', { event_type_filter: { in_values: ['t'.repeat(256)] } }],
  ])('%s is accepted', async (_, change) => {
    const definition = { ...LARGEST, ...change };
    const id = await createdId(api, METRICS, definition);
    expect((await api.get(`/v1/billable-metrics/${id}`)).at('data')).toMatchObject(definition);
  });

  test.each([
    ['name', { name: 'n'.repeat(513) }],
    ['property_filters', { property_filters: texts(31, 9).map((name) => ({ name })), group_keys: [] }],
    ['property_filters[0].in_values', withFilter({ in_values: texts(1_001, 5) })],
    ['property_filters[0].not_in_values', withFilter({ not_in_values: texts(1_001, 5) })],
    ['property_filters[0].name', withFilter({ name: 'p'.repeat(257) })],
    ['property_filters[0].name', withFilter({ name: Array(18).fill('p').join('.') })],
    ['property_filters', withFilter({ in_values: texts(10, 6_554) })],
    ['event_type_filter.in_values', { event_type_filter: { in_values: texts(1_001, 5) } }],
    ['event_type_filter.in_values[0]', { event_type_filter: { in_values: ['t'.repeat(257)] } }],
    ['event_type_filter', { event_type_filter: { in_values: texts(1_000, 66) } }],
    ['aggregation_key', { aggregation_key: 'p'.repeat(257) }],
    ['group_keys', { group_keys: texts(31, 9).map((name) => [name]) }],
    ['group_keys[0]', { group_keys: [texts(13, 9)] }],
    ['group_keys[0][0]', { group_keys: [['p'.repeat(257)]] }],
  ])(
    'the size of a metric: beyond the limit of %s it answers 400, names the field and stores nothing',
    async (field, change) => {
      const before = await pool.db.$count(billableMetrics);
      const answer = await api.send('POST', METRICS, { ...LARGEST, ...change });
      expect(answer.status).toBe(400);
      expect(answer.text('message').startsWith(`${field}: `)).toBe(true);
      expect(await pool.db.$count(billableMetrics)).toBe(before);
    },
  );

  test('a metric cannot be given a longer name later', async () => {
    const id = await createdId(api, METRICS, TOKENS_METRIC);
    const answer = await api.send('PUT', `/v1/billable-metrics/${id}`, { name: 'n'.repeat(513) });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^name: /);
  });
});

describe('reading and changing metrics', () => {
  test.each([UNKNOWN, 'tokens'])('an unknown or malformed id (%s) answers 404', async (id) => {
    expect((await api.send('GET', `/v1/billable-metrics/${id}`)).status).toBe(404);
    expect((await api.send('PUT', `/v1/billable-metrics/${id}`, { name: 'x' })).status).toBe(404);
  });

  test('reading and changing metrics: only the name changes', async () => {
    const id = await createdId(api, METRICS, TOKENS_METRIC);
    await api.put(`/v1/billable-metrics/${id}`, { name: 'Renamed' });
    const metric = await api.get(`/v1/billable-metrics/${id}`);
    expect(metric.at('data')).toEqual({ id, ...TOKENS_METRIC, name: 'Renamed', custom_fields: {} });
  });

  test('an archived metric stays readable and leaves the list unless asked for', async () => {
    const id = await createdId(api, METRICS, TOKENS_METRIC);
    const idsOf = async (query: Record<string, string>) => {
      const page = await api.get('/v1/billable-metrics', { query });
      return page.list('data').map((_, index) => page.text(`data[${index}].id`));
    };
    expect(await idsOf({})).toContain(id);
    await api.post('/v1/billable-metrics/archive', { id });
    await api.post('/v1/billable-metrics/archive', { id });
    expect(await idsOf({})).not.toContain(id);
    expect(await idsOf({ include_archived: 'true' })).toContain(id);
    const metric = await api.get(`/v1/billable-metrics/${id}`);
    expect(metric.text('data.archived_at')).toBe('2026-11-20T12:34:56.789Z');
    expect((await api.send('POST', '/v1/billable-metrics/archive', { id: UNKNOWN })).status).toBe(404);
  });
});
