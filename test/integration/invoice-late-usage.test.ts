/** Usage that arrives after its invoice was finalized is reported with the invoice, which stays as it was. */
import { beforeAll, expect, test } from 'vitest';
import { AGGREGATIONS, type Aggregation } from '../../src/core/metric.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { CASES, type Setup, type Use } from '../support/late-usage-cases.ts';

const JANUARY = '2026-01-01T00:00:00Z';

const service = await serviceForFile({ sandboxNow: '2026-11-30T00:00:00Z' });
let metricIds: ReadonlyMap<Aggregation, string>;
let results: ReadonlyMap<string, Customer>;
/** Billed for the squares of its amounts. */
let overflowing: Customer;

beforeAll(async () => {
  metricIds = await createMetrics();
  const customers: Customer[] = [];
  for (const { setup, early } of CASES) {
    const customer = await setUp(setup);
    customers.push(customer);
    await use(customer, ...early);
  }
  overflowing = await setUp({
    product: {
      billable_metric_id: await createdId(service.api, METRICS, {
        name: 'Squares',
        sql: 'SELECT SUM(properties.amount * properties.amount) AS value FROM events',
      }),
    },
  });
  await use(overflowing, ['11-03T10', 5]);
  // The invoices of all cases are finalized at once.
  await service.moveClock('2026-12-02T00:00:00Z');
  for (const [index, { late }] of CASES.entries()) {
    const customer = customers[index];
    if (customer !== undefined) await use(customer, ...late);
  }
  results = new Map(CASES.map(({ name }, index) => [name, customers[index] as Customer]));
});

async function createMetrics() {
  const created = new Map<Aggregation, string>();
  for (const aggregation_type of AGGREGATIONS) {
    const id = await createdId(service.api, METRICS, {
      name: aggregation_type,
      aggregation_type,
      ...(aggregation_type === 'COUNT' ? {} : { aggregation_key: 'amount' }),
      property_filters: [
        { name: 'amount', exists: true },
        { name: 'model', exists: true },
      ],
      group_keys: [['model']],
    });
    created.set(aggregation_type, id);
  }
  return created;
}

interface Customer {
  readonly alias: string;
  readonly customerId: string;
  readonly productId: string;
  readonly rateCardId: string;
  readonly contractId: string;
}

let names = 0;

/** A customer with one product and a contract from November on. */
async function setUp({ aggregation = 'SUM', product = {}, rates = [{}] }: Setup): Promise<Customer> {
  const { api } = service;
  names += 1;
  const alias = `customer-${names}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const productId = await createdId(api, PRODUCTS, {
    name: 'Usage',
    type: 'USAGE',
    billable_metric_id: metricIds.get(aggregation),
    ...product,
  });
  const rateCardId = await createdId(api, RATE_CARDS, { name: alias });
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: rates.map((rate) => ({
      product_id: productId,
      starting_at: JANUARY,
      entitled: true,
      rate_type: 'FLAT',
      price: 2,
      ...rate,
    })),
  });
  const contractId = await createdId(api, CONTRACTS, {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  return { alias, customerId, productId, rateCardId, contractId };
}

let events = 0;

async function use({ alias }: Customer, ...uses: readonly Use[]): Promise<void> {
  const wire = uses.map(([at, amount, model = 'm']) => {
    events += 1;
    return {
      transaction_id: `use-${events}`,
      customer_id: alias,
      event_type: 'use',
      timestamp: `2026-${at}:00:00Z`,
      properties: { amount, model },
    };
  });
  if (wire.length > 0) await service.api.post('/v1/ingest', wire);
}

/** The customer's invoice of November. */
async function november({ customerId }: Customer): Promise<ApiAnswer> {
  const path = `/v1/customers/${customerId}/invoices`;
  const invoices = await service.api.get(path, { query: { ending_before: '2026-12-01T00:00:00Z' } });
  return service.api.get(`${path}/${invoices.text('data[0].id')}`);
}

/** `m 5 = 10`: values, quantity, total. */
function lateOf(invoice: ApiAnswer): string[] {
  return invoice.list('data.unbilled_late_usage').map((_, index) => {
    const at = `data.unbilled_late_usage[${index}]`;
    const values = ['pricing_group_values.model', 'presentation_group_values.model'].flatMap(
      (name) => invoice.at(`${at}.${name}`) ?? [],
    );
    const price = invoice.at(`${at}.total`) === undefined ? 'unpriced' : `= ${invoice.digits(`${at}.total`)}`;
    return [...values, invoice.digits(`${at}.quantity`), price].join(' ');
  });
}

test.each(CASES)('what is reported as late: $name', async ({ name, total, expected }) => {
  const invoice = await november(customerOf(name));
  expect(invoice.at('data.status')).toBe('FINALIZED');
  expect(invoice.digits('data.total')).toBe(total);
  expect(lateOf(invoice)).toEqual(expected);
});

function customerOf(name: string): Customer {
  const customer = results.get(name);
  if (customer === undefined) throw new Error(`there is no case ${name}`);
  return customer;
}

test('an entry names product, values and unit', async () => {
  const customer = customerOf('presentation values');
  expect((await november(customer)).at('data.unbilled_late_usage[0]')).toMatchObject({
    product_id: customer.productId,
    product_name: 'Usage',
    presentation_group_values: { model: 'a' },
    quantity: 2,
    credit_type: { name: 'USD (cents)' },
    total: 4,
  });
});

test('neither lists nor breakdowns nor drafts have late usage', async () => {
  const { customerId } = customerOf('one late event');
  const path = `/v1/customers/${customerId}/invoices`;
  const invoices = await service.api.get(path);
  expect(invoices.list('data').map((one) => Object.hasOwn(one as object, 'unbilled_late_usage'))).toEqual([
    false,
    false,
  ]);
  const draft = await service.api.get(`${path}/${invoices.text('data[1].id')}`);
  expect([draft.at('data.status'), draft.at('data.unbilled_late_usage')]).toEqual(['DRAFT', undefined]);
  const days = await service.api.get(`${path}/breakdowns`, {
    query: { starting_on: '2026-11-03T00:00:00Z', ending_before: '2026-11-04T00:00:00Z' },
  });
  expect(days.at('data[0].unbilled_late_usage')).toBeUndefined();
  expect(days.digits('data[0].total')).toBe('10');
});

test('new prices, a new conversion and a name taken away make no usage late, and late usage keeps its price', async () => {
  const { api } = service;
  for (const [name, late] of [
    ['nothing late', []],
    ['late events where there was no usage at all', ['7 = 14']],
  ] as const) {
    const customer = customerOf(name);
    await api.post(ADD_RATES, {
      rate_card_id: customer.rateCardId,
      rates: [
        {
          product_id: customer.productId,
          starting_at: JANUARY,
          entitled: true,
          rate_type: 'FLAT',
          price: 1_000,
        },
      ],
    });
    await api.post('/v1/contract-pricing/products/update', {
      product_id: customer.productId,
      starting_at: JANUARY,
      quantity_conversion: { conversion_factor: 100, operation: 'MULTIPLY' },
    });
    await api.post(`/v1/customers/${customer.customerId}/setIngestAliases`, { ingest_aliases: [] });
    expect(lateOf(await november(customer))).toEqual(late);
  }
});

test('events that came under a name which the customer was given later are late', async () => {
  const customer = customerOf('MAX, not beaten');
  await use({ ...customer, alias: 'found-later' }, ['11-05T10', 50]);
  expect(lateOf(await november(customer))).toEqual([]);
  await service.api.post(`/v1/customers/${customer.customerId}/setIngestAliases`, {
    ingest_aliases: [customer.alias, 'found-later'],
  });
  expect(lateOf(await november(customer))).toEqual(['45 = 90']);
});

test('an invoice can be read where its usage of today cannot be computed; what is late is then not known', async () => {
  const customer = overflowing;
  const before = await november(customer);
  expect([before.digits('data.total'), lateOf(before)]).toEqual(['50', []]);
  await use(customer, ['11-03T11', `1${'0'.repeat(35)}`]);
  const after = await november(customer);
  expect([after.digits('data.total'), after.at('data.unbilled_late_usage')]).toEqual(['50', null]);
});

test('of many entries the first 100 are shown, and the others are counted', async () => {
  const customer = customerOf('late events that no rate covers');
  const models = Array.from({ length: 100 }, (_, index): Use => ['11-03T11', 1, `z-${index}`]);
  await use(customer, ...models);
  const invoice = await november(customer);
  const left = invoice.at('data.unbilled_late_usage_left_out');
  expect([lateOf(invoice).length, left]).toEqual([100, 3]);
});

test('the list of late usage has each invoice of the month that misses usage, with the entries of the invoice, page by page as at once', async () => {
  const { api } = service;
  const list = async (limit: number) => {
    const found: unknown[] = [];
    let next_page: string | undefined;
    do {
      const page = await api.get('/v1/late-usage', { query: { month: '2026-11', limit, next_page } });
      found.push(...page.list('data'));
      next_page = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (next_page !== undefined);
    return found as Record<string, unknown>[];
  };
  const all = await list(100);
  expect(await list(2)).toEqual(all);
  const expected: unknown[] = [];
  for (const customer of [...results.values(), overflowing]) {
    const invoice = await november(customer);
    const late = invoice.at('data.unbilled_late_usage');
    if (late === undefined || (Array.isArray(late) && late.length === 0)) continue;
    expected.push([invoice.text('data.id'), late, invoice.at('data.unbilled_late_usage_left_out')]);
  }
  const listed = all.map((each) => [
    each.invoice_id,
    each.unbilled_late_usage,
    each.unbilled_late_usage_left_out,
  ]);
  expect(listed.length).toBeGreaterThan(5);
  expect(listed.sort()).toEqual(expected.sort());
  const other = await api.get('/v1/late-usage', { query: { month: '2026-10' } });
  expect(other.at('')).toEqual({ data: [], next_page: null });
});

test('a voided invoice bills nothing and misses nothing', async () => {
  const customer = customerOf('COUNT');
  await service.api.post('/v1/contracts/archive', {
    customer_id: customer.customerId,
    contract_id: customer.contractId,
    void_invoices: true,
  });
  const invoice = await november(customer);
  expect([invoice.at('data.status'), invoice.at('data.unbilled_late_usage')]).toEqual(['VOID', undefined]);
});
