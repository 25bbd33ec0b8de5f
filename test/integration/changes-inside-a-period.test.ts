/**
 * Changes inside a billing period: of a product's metric, granularity or keys, or of the usage filter. Each case
 * is a product at price 1 in a monthly contract, so that the total equals the quantity.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ sandboxNow: '2026-11-25T00:00:00Z' });
});
afterAll(() => service.close());

const COUNT = { aggregation_type: 'count', event_type_filter: { in_values: ['call'] } };
const BY_REGION = {
  ...COUNT,
  group_keys: [['region']],
  property_filters: [{ name: 'region', exists: true }],
};
const SQL_COUNT = { sql: "SELECT COUNT(*) AS value FROM events WHERE event_type = 'call'" };
const SQL_BY_REGION = {
  sql: "SELECT COUNT(*) AS value, properties.region AS region FROM events WHERE event_type = 'call' GROUP BY region",
};
const SQL_OF_KIND = (kind: string) => ({
  sql: `SELECT COUNT(*) AS value FROM events WHERE event_type = 'call' AND properties.kind = '${kind}'`,
});

/** How many events, on which day of the month, with which properties. */
type Usage = readonly [count: number, day: number, properties?: Readonly<Record<string, string>>];

interface Change {
  /** Day of the month on which it takes effect, at midnight unless an hour is given. */
  readonly at: string;
  readonly metric?: object;
  readonly product?: object;
}

interface Case {
  readonly metric: object;
  readonly product?: object;
  readonly changes?: readonly Change[];
  /** From the 15th on, after that of the whole contract. */
  readonly filters?: readonly [string, string];
  readonly usage: readonly Usage[];
  readonly total: string;
}

const TEN_AND_FOUR: readonly Usage[] = [
  [10, 5],
  [4, 20],
];

const CASES: Readonly<Record<string, Case>> = {
  'a streaming metric and then a SQL metric of the same events': {
    metric: COUNT,
    changes: [{ at: '15T00', metric: SQL_COUNT }],
    usage: TEN_AND_FOUR,
    total: '14',
  },
  'a SQL metric and then a streaming metric of the same events': {
    metric: SQL_COUNT,
    changes: [{ at: '15T00', metric: COUNT }],
    usage: TEN_AND_FOUR,
    total: '14',
  },
  'a usage filter that changes': {
    metric: SQL_COUNT,
    filters: ['us', 'eu'],
    usage: [
      [10, 5, { region: 'us' }],
      [3, 6, { region: 'eu' }],
      [4, 20, { region: 'eu' }],
    ],
    total: '14',
  },
  'two SQL metrics of different events': {
    metric: SQL_OF_KIND('a'),
    changes: [{ at: '15T00', metric: SQL_OF_KIND('b') }],
    usage: [
      [10, 5, { kind: 'a' }],
      [3, 6, { kind: 'b' }],
      [4, 20, { kind: 'b' }],
    ],
    total: '14',
  },
  'a granularity that changes back and forth': {
    metric: SQL_COUNT,
    product: { sql_breakdown_granularity: 'HOUR' },
    changes: [
      { at: '15T00', product: { sql_breakdown_granularity: 'SERVICE_PERIOD' } },
      { at: '18T07', product: { sql_breakdown_granularity: 'HOUR' } },
    ],
    usage: [...TEN_AND_FOUR, [2, 16]],
    total: '16',
  },
  'a presentation key first and another granularity a day later': {
    metric: SQL_BY_REGION,
    changes: [
      { at: '15T00', product: { presentation_group_key: ['region'] } },
      { at: '16T00', product: { sql_breakdown_granularity: 'HOUR' } },
    ],
    usage: [
      [7, 5, { region: 'us' }],
      [7, 20, { region: 'us' }],
    ],
    total: '14',
  },
  'a metric and a key that change at once': {
    metric: BY_REGION,
    changes: [{ at: '15T00', metric: SQL_BY_REGION, product: { pricing_group_key: ['region'] } }],
    usage: [
      [1, 5, { region: 'us' }],
      [1, 20, { region: 'us' }],
    ],
    total: '2',
  },
  'a SQL metric that comes, goes and comes back': {
    metric: SQL_OF_KIND('a'),
    changes: [
      { at: '10T00', metric: SQL_OF_KIND('b') },
      { at: '20T00', metric: SQL_OF_KIND('a') },
    ],
    usage: [
      [1, 5, { kind: 'a' }],
      [10, 5, { kind: 'b' }],
      [20, 15, { kind: 'a' }],
      [2, 15, { kind: 'b' }],
      [4, 22, { kind: 'a' }],
      [40, 22, { kind: 'b' }],
    ],
    total: '7',
  },
};

describe('a contract bills every event once, with', () => {
  it.each(Object.entries(CASES).map(([name, one], index) => ({ name, one, index })))(
    '$name',
    async ({ one, index }) => {
      const invoice = await invoiceOf(one, `case-${index}`);
      expect(invoice.total).toBe(one.total);
      expect(invoice.byDay).toBe(one.total);
    },
  );
});

describe('the line', () => {
  it('the line of an invoice of a streaming metric is not cut by a granularity, which means nothing to it', async () => {
    const { lines } = await invoiceOf(
      {
        metric: COUNT,
        changes: [{ at: '15T00', product: { sql_breakdown_granularity: 'HOUR' } }],
        usage: TEN_AND_FOUR,
        total: '14',
      },
      'streaming-granularity',
    );
    expect(lines).toEqual(['14']);
  });

  it.each([
    ['a streaming metric', { aggregation_type: 'sum', aggregation_key: 'units', group_keys: [['region']] }],
    [
      'a SQL metric',
      {
        sql: 'SELECT SUM(properties.units) AS value, properties.region AS region FROM events GROUP BY region',
      },
    ],
  ])(
    'the line of an invoice of a group whose usage came to 0 stands on the invoice, with %s',
    async (name, metric) => {
      const product = { presentation_group_key: ['region'] };
      const filters = [
        { name: 'region', exists: true },
        { name: 'units', exists: true },
      ];
      const { lines } = await invoiceOf(
        {
          metric:
            'sql' in metric
              ? metric
              : { ...metric, property_filters: filters, event_type_filter: { in_values: ['call'] } },
          product,
          usage: [[2, 5, { region: 'us', units: '0' }]],
          total: '0',
        },
        `zero-${name}`,
      );
      expect(lines).toEqual(['0']);
    },
  );
});

interface Billed {
  readonly total: string;
  readonly byDay: string;
  readonly lines: readonly string[];
}

async function invoiceOf(one: Case, alias: string): Promise<Billed> {
  const { api } = service;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const metric = (body: object) => createdId(api, '/v1/billable-metrics/create', { name: alias, ...body });
  const productId = await createdId(api, '/v1/contract-pricing/products/create', {
    name: alias,
    type: 'USAGE',
    billable_metric_id: await metric(one.metric),
    ...one.product,
  });
  for (const change of one.changes ?? []) {
    await api.post('/v1/contract-pricing/products/update', {
      product_id: productId,
      starting_at: `2026-11-${change.at}:00:00Z`,
      ...(change.metric === undefined ? {} : { billable_metric_id: await metric(change.metric) }),
      ...change.product,
    });
  }
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: alias });
  await api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: rateCardId,
    product_id: productId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 1,
  });
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...(one.filters === undefined
      ? {}
      : { usage_filter: { group_key: 'region', group_values: [one.filters[0]] } }),
  });
  if (one.filters !== undefined) {
    await api.post('/v1/contracts/setUsageFilter', {
      customer_id: customerId,
      contract_id: contractId,
      group_key: 'region',
      group_values: [one.filters[1]],
      starting_at: '2026-11-15T00:00:00Z',
    });
  }
  await api.post('/v1/ingest', eventsOf(one.usage, alias));
  const path = `/v1/customers/${customerId}/invoices`;
  const invoices = await api.get(path, { query: { contract_id: contractId } });
  return {
    total: invoices.digits('data[0].total'),
    byDay: await breakdownTotal(path),
    lines: invoices
      .list('data[0].line_items')
      .map((_, at) => invoices.digits(`data[0].line_items[${at}].quantity`)),
  };
}

function eventsOf(usage: readonly Usage[], alias: string) {
  return usage.flatMap(([count, day, properties = {}], index) =>
    Array.from({ length: count }, (_, number) => ({
      transaction_id: `${alias}-${index}-${number}`,
      customer_id: alias,
      event_type: 'call',
      timestamp: `2026-11-${String(day).padStart(2, '0')}T${String(number % 24).padStart(2, '0')}:10:00Z`,
      properties,
    })),
  );
}

/** Totals here are whole numbers far below 2^53. */
async function breakdownTotal(path: string): Promise<string> {
  let total = 0;
  let next: unknown;
  do {
    const page = await service.api.get(`${path}/breakdowns`, {
      query: {
        starting_on: '2026-11-01T00:00:00Z',
        ending_before: '2026-12-01T00:00:00Z',
        window_size: 'DAY',
        ...(typeof next === 'string' ? { next_page: next } : {}),
      },
    });
    for (const index of page.list('data').keys()) total += Number(page.digits(`data[${index}].total`));
    next = page.at('next_page');
  } while (typeof next === 'string');
  return String(total);
}
