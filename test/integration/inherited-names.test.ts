/** Names that every JavaScript object inherits, such as `constructor`, are ordinary text. */
import { beforeAll, expect, it, test } from 'vitest';
import { createdId, METRICS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let customerId: string;
let metricId: string;
beforeAll(async () => {
  customerId = await createdId(service.api, '/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  metricId = await createdId(service.api, METRICS, {
    name: 'Inherited',
    aggregation_type: 'SUM',
    aggregation_key: 'valueOf',
    property_filters: [
      { name: 'valueOf', exists: true },
      { name: 'constructor', exists: true },
      { name: 'hasOwnProperty', exists: true },
    ],
    group_keys: [['constructor'], ['constructor', 'hasOwnProperty']],
  });
  await service.api.post(
    '/v1/ingest',
    [
      { constructor: 'toString', hasOwnProperty: '__proto__', valueOf: 1 },
      { constructor: '__proto__', hasOwnProperty: 'constructor', valueOf: 2 },
      { constructor: 'plain', hasOwnProperty: 'plain', valueOf: 4 },
      { toString: 'no member of the group key', valueOf: 8 },
    ].map((properties, index) => ({
      transaction_id: `e-${index}`,
      customer_id: 'acme',
      event_type: 'call',
      timestamp: '2026-11-05T05:00:00Z',
      properties,
    })),
  );
});

const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

async function groups(body: Record<string, unknown>, path = '/v1/usage/groups'): Promise<unknown[]> {
  const answer = await service.api.post(path, {
    customer_id: customerId,
    window_size: 'NONE',
    ...NOVEMBER,
    ...body,
  });
  return answer.list('data').map((_, index) => {
    const group = Object.entries(Object(answer.at(`data[${index}].group`)));
    return [
      ...group.map(([name, value]) => `${name}=${String(value)}`),
      answer.digits(`data[${index}].value`),
    ];
  });
}

const BOTH = [
  ['constructor=__proto__', 'hasOwnProperty=constructor', '2'],
  ['constructor=plain', 'hasOwnProperty=plain', '4'],
  ['constructor=toString', 'hasOwnProperty=__proto__', '1'],
];

it('usage is grouped by them', async () => {
  const group_key = ['constructor', 'hasOwnProperty'];
  expect(await groups({ billable_metric_id: metricId, group_key })).toEqual(BOTH);
  const group_filters = { constructor: ['plain', 'toString'] };
  expect(await groups({ billable_metric_id: metricId, group_key, group_filters })).toEqual(BOTH.slice(1));
  const group_by = { key: 'constructor', values: ['plain'] };
  expect(await groups({ billable_metric_id: metricId, group_by })).toEqual([['constructor=plain', '4']]);
});

it('usage of a query is grouped by them', async () => {
  const sql =
    'SELECT SUM(properties.valueOf) AS value, properties.constructor, properties.hasOwnProperty FROM events ' +
    'WHERE properties.constructor IS NOT NULL GROUP BY constructor, hasOwnProperty';
  const group_key = ['constructor', 'hasOwnProperty'];
  const preview = '/v1/billable-metrics/preview';
  expect(await groups({ sql, group_key }, preview)).toEqual(BOTH);
  const group_filters = { hasOwnProperty: ['constructor'] };
  expect(await groups({ sql, group_key, group_filters }, preview)).toEqual(BOTH.slice(0, 1));
});

it('batch usage names them where they were asked for', async () => {
  const answer = await service.api.post('/v1/usage', {
    ...NOVEMBER,
    window_size: 'NONE',
    billable_metrics: [
      {
        id: metricId,
        group_by: { key: 'constructor', values: ['toString', 'constructor', 'valueOf', 'plain'] },
      },
    ],
  });
  expect(answer.at('data[0].groups')).toEqual({ toString: 1, constructor: null, valueOf: null, plain: 4 });
});

it('a product priced and shown by them ends up on the invoice', async () => {
  const productId = await createdId(service.api, '/v1/contract-pricing/products/create', {
    name: 'Inherited',
    type: 'USAGE',
    billable_metric_id: metricId,
    pricing_group_key: ['constructor'],
    presentation_group_key: ['hasOwnProperty'],
  });
  const rateCardId = await createdId(service.api, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
  const prices = new Map([
    ['toString', 100],
    ['__proto__', 10],
    ['plain', 1],
  ]);
  await service.api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: [...prices].map(([value, price]) => ({
      product_id: productId,
      pricing_group_values: { constructor: value },
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price,
    })),
  });
  await createdId(service.api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const invoices = await service.api.get(`/v1/customers/${customerId}/invoices`);
  const lines = invoices
    .list('data[0].line_items')
    .map((_, index) => [
      invoices.at(`data[0].line_items[${index}].pricing_group_values`),
      invoices.at(`data[0].line_items[${index}].presentation_group_values`),
      invoices.digits(`data[0].line_items[${index}].total`),
    ]);
  const expected: unknown[] = [
    [{ constructor: 'plain' }, { hasOwnProperty: 'plain' }, '4'],
    [{ constructor: '__proto__' }, { hasOwnProperty: 'constructor' }, '20'],
    [{ constructor: 'toString' }, { hasOwnProperty: '__proto__' }, '100'],
  ];
  expect(lines.sort((a, b) => Number(a[2]) - Number(b[2]))).toEqual(expected);
  expect(invoices.digits('data[0].total')).toBe('124');
});

test.each([
  [
    'a group key',
    {
      aggregation_type: 'COUNT',
      property_filters: [{ name: '__proto__', exists: true }],
      group_keys: [['__proto__']],
    },
    'group_keys[0][0]: must not be __proto__',
  ],
  [
    'a column by its alias',
    { sql: 'SELECT COUNT(*) AS value, event_type AS "__proto__" FROM events GROUP BY event_type' },
    'a column must not be named __proto__',
  ],
  [
    'a column by its property',
    { sql: 'SELECT COUNT(*) AS value, properties.__proto__ FROM events GROUP BY 2' },
    'a column must not be named __proto__',
  ],
])('__proto__, which JSON objects lose, is refused as %s', async (_, definition, message) => {
  const answer = await service.api.send('POST', METRICS, { name: 'x', ...definition });
  expect(answer.status).toBe(400);
  expect(answer.text('message')).toContain(message);
});

it('__proto__ can be sent and filtered by', async () => {
  const properties = Object.fromEntries([['__proto__', 'x']]);
  await service.api.post('/v1/ingest', [
    {
      transaction_id: 'proto',
      customer_id: 'acme',
      event_type: 'call',
      timestamp: '2026-11-05T05:00:00Z',
      properties,
    },
  ]);
  const definition = {
    aggregation_type: 'COUNT',
    property_filters: [{ name: '__proto__', in_values: ['x'] }],
  };
  expect(await groups(definition, '/v1/billable-metrics/preview')).toEqual([['1']]);
});
