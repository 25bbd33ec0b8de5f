/** Composite products that count charges of subscriptions: on drafts, in breakdowns, issued, explained, reconciled. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';

const START = '2027-01-01T00:00:00Z';
const service = await serviceForFile({ sandboxNow: '2027-01-10T00:00:00Z' });
const { api } = service;
const metric = await createdId(api, METRICS, {
  name: 'Calls',
  event_type_filter: { in_values: ['call'] },
  aggregation_type: 'COUNT',
});
const calls = await createdId(api, PRODUCTS, { name: 'Calls', type: 'USAGE', billable_metric_id: metric });
const seat = await createdId(api, PRODUCTS, { name: 'Seat', type: 'SUBSCRIPTION', tags: ['fee'] });
const fixed = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
let customers = 0;

interface Given {
  /** Terms of the composite product. */
  readonly composite: object;
  readonly collection: 'ADVANCE' | 'ARREARS';
  readonly rate?: object;
  readonly terms?: object;
  readonly usage?: number;
}

/** A customer with two seats at 3,100 a month, calls at 10, and support at 10 % of what the composite names. */
async function customerWith({ composite, collection, rate, terms, usage = 0 }: Given) {
  customers += 1;
  const alias = `customer-${customers}`;
  const support = await createdId(api, PRODUCTS, { name: 'Support', type: 'COMPOSITE', ...composite });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: alias });
  const entry = { starting_at: '2026-01-01T00:00:00Z', entitled: true };
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [
      { ...entry, product_id: calls, rate_type: 'FLAT', price: 10 },
      { ...entry, product_id: seat, rate_type: 'FLAT', price: 3100, billing_frequency: 'MONTHLY' },
      { ...entry, product_id: support, rate_type: 'PERCENTAGE', price: 0.1, ...rate },
    ],
  });
  const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customer, rate_card_id, starting_at: START },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seat },
        ...{ collection_schedule: collection, initial_quantity: 2 },
        proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
      },
    ],
    ...terms,
  });
  if (usage > 0) await use(alias, usage, '2027-01-05T00:00:00Z');
  return { customer, contract, alias };
}

async function use(alias: string, count: number, timestamp: string): Promise<void> {
  const one = { customer_id: alias, event_type: 'call', timestamp };
  const batch = Array.from({ length: count }, (_, n) => ({
    ...one,
    transaction_id: `${alias}-${timestamp}-${n}`,
  }));
  for (let first = 0; first < count; first += 100)
    await api.post('/v1/ingest', batch.slice(first, first + 100));
}

/** `Support 6200 × 0.1 = 620`, of the invoice of January. */
async function january(customer: string, type = 'USAGE') {
  const path = `/v1/customers/${customer}/invoices`;
  const answer = await api.get(path, { query: { type, limit: 100 } });
  const at = answer.list('data').findIndex((_, index) => answer.at(`data[${index}].start_timestamp`) === iso);
  const lines = answer.list(`data[${at}].line_items`).map((_, index) => {
    const line = `data[${at}].line_items[${index}]`;
    const digits = (name: string) => answer.digits(`${line}.${name}`);
    if (answer.at(`${line}.quantity`) === undefined)
      return `${answer.text(`${line}.name`)} ${digits('total')}`;
    const figures = `${digits('quantity')} × ${digits('unit_price')} = ${digits('total')}`;
    return `${answer.text(`${line}.name`)} ${figures}`;
  });
  return {
    id: answer.text(`data[${at}].id`),
    status: answer.text(`data[${at}].status`),
    total: answer.digits(`data[${at}].total`),
    lines,
  };
}
const iso = '2027-01-01T00:00:00.000Z';

async function supportInBreakdown(customer: string, window_size: 'HOUR' | 'DAY'): Promise<string> {
  const found: Decimal[] = [];
  for (let next: string | undefined, more = true; more; ) {
    const page = await api.get(`/v1/customers/${customer}/invoices/breakdowns`, {
      query: {
        ...{ starting_on: START, ending_before: '2027-02-01T00:00:00Z', window_size, limit: 100 },
        next_page: next,
      },
    });
    for (const [item] of page.list('data').entries())
      for (const [index] of page.list(`data[${item}].line_items`).entries()) {
        const line = `data[${item}].line_items[${index}]`;
        if (page.text(`${line}.name`).startsWith('Support'))
          found.push(new Decimal(page.digits(`${line}.total`)));
      }
    more = page.at('next_page') !== null;
    next = more ? page.text('next_page') : undefined;
  }
  return sum(found).toFixed();
}

async function explained(customer: string, invoiceId: string) {
  const answer = await api.get(`/v1/customers/${customer}/invoices/${invoiceId}/explain`);
  return answer.list('data').map((_, index) => answer.at(`data[${index}].is_reproduced`));
}

const byTag = await customerWith({ composite: { composite_tags: ['fee'] }, collection: 'ADVANCE' });
const byId = await customerWith({
  composite: { composite_product_ids: [calls, seat] },
  collection: 'ARREARS',
  usage: 100,
});
const tiered = await customerWith({
  composite: { composite_product_ids: [calls, seat] },
  collection: 'ADVANCE',
  rate: {
    rate_type: 'TIERED_PERCENTAGE',
    price: undefined,
    tiers: [{ size: 1000, price: 0.2 }, { price: 0.1 }],
  },
  usage: 10,
});
const atLeast = await customerWith({
  composite: { composite_tags: ['fee'], exclude_free_usage: true },
  collection: 'ADVANCE',
  rate: { minimum_config: { minimum: 1000 } },
});
/** A credit pays for a seat at 80 % of its price; what support is a percentage of stays the list price. */
const paid = await customerWith({
  composite: { composite_product_ids: [calls, seat] },
  collection: 'ARREARS',
  usage: 10,
  terms: {
    credits: [
      {
        ...{ product_id: fixed, applicable_product_ids: [seat] },
        access_schedule: {
          schedule_items: [{ amount: 1240, starting_at: START, ending_before: '2027-03-01T00:00:00Z' }],
        },
      },
    ],
    overrides: [
      {
        ...{ type: 'MULTIPLIER', multiplier: 0.8, starting_at: START, is_commit_specific: true },
        override_specifiers: [{ product_id: seat, billing_frequency: 'MONTHLY' }],
      },
    ],
  },
});
/** A parent whose invoice has the lines of a child. */
const parent = await customerWith({
  ...{ composite: { composite_tags: ['fee'] }, collection: 'ADVANCE' },
  terms: { hierarchy_configuration: { parent_behavior: { invoice_consolidation_type: 'CONCATENATE' } } },
});
const child = await customerWith({
  ...{ composite: { composite_product_ids: [calls, seat] }, collection: 'ARREARS', usage: 10 },
  terms: {
    hierarchy_configuration: {
      parent: { customer_id: parent.customer, contract_id: parent.contract },
      ...{ payer: 'PARENT', usage_statement_behavior: 'CONSOLIDATE' },
    },
  },
});
/** Each percentage is of the fees of its contract. */
const CONSOLIDATED = {
  lines: [
    ...['Calls 0 × 10 = 0', 'Seat 2 × 3100 = 6200', 'Support 6200 × 0.1 = 620'],
    ...['Calls 10 × 10 = 100', 'Seat 2 × 3100 = 6200', 'Support 6300 × 0.1 = 630'],
  ],
  total: '13750',
};
const CASES = {
  byTag: [byTag, ['Calls 0 × 10 = 0', 'Seat 2 × 3100 = 6200', 'Support 6200 × 0.1 = 620'], '6820'],
  byId: [byId, ['Calls 100 × 10 = 1000', 'Seat 2 × 3100 = 6200', 'Support 7200 × 0.1 = 720'], '7920'],
  tiered: [
    tiered,
    [
      ...['Calls 10 × 10 = 100', 'Seat 2 × 3100 = 6200'],
      ...['Support 1000 × 0.2 = 200', 'Support 5300 × 0.1 = 530'],
    ],
    '7030',
  ],
  atLeast: [
    atLeast,
    [
      ...['Calls 0 × 10 = 0', 'Seat 2 × 3100 = 6200'],
      ...['Support 6200 × 0.1 = 620', 'Support (minimum) 1 × 380 = 380'],
    ],
    '7200',
  ],
  // 1,240 pay for half a seat.
  paid: [
    paid,
    [
      'Calls 10 × 10 = 100',
      'Seat 0.5 × 2480 = 1240',
      'Credit applied -1240',
      'Seat 1.5 × 3100 = 4650',
      'Support 6300 × 0.1 = 630',
    ],
    '5380',
  ],
} as const;

test.each(Object.entries(CASES))(
  'the draft of the month has the percentage of the fee (%s)',
  async (_, one) => {
    const [{ customer }, lines, total] = one;
    const draft = await january(customer);
    expect(draft).toMatchObject({ status: 'DRAFT', total });
    expect(draft.lines).toEqual(lines);
  },
);

test('hours and days of the percentage add up to its lines', async () => {
  for (const [{ customer }, lines] of Object.values(CASES)) {
    const support = lines.filter((line) => line.startsWith('Support')).map((line) => line.split(' = ')[1]);
    const whole = sum(support.map((total) => new Decimal(total ?? ''))).toFixed();
    expect(await supportInBreakdown(customer, 'DAY')).toBe(whole);
    if (customer === byId.customer) expect(await supportInBreakdown(customer, 'HOUR')).toBe(whole);
  }
});

test('a consolidated invoice has the percentages of parent and child, as its constituents have them', async () => {
  const draft = await january(parent.customer, 'USAGE_CONSOLIDATED');
  expect(draft).toMatchObject({ ...CONSOLIDATED, status: 'DRAFT' });
  const [own, childs] = [await january(parent.customer), await january(child.customer)];
  expect([...own.lines, ...childs.lines]).toEqual(CONSOLIDATED.lines);
  expect(await explained(parent.customer, draft.id)).not.toContain(false);
});

test('each line is explained, on the draft and when it is issued', async () => {
  const before = await Promise.all(Object.values(CASES).map(([{ customer }]) => january(customer)));
  for (const [index, [{ customer }]] of Object.values(CASES).entries())
    expect(await explained(customer, before[index]?.id ?? '')).not.toContain(false);
  await service.moveClock('2027-02-02T00:00:00Z');
  for (const [index, [{ customer }, lines, total]] of Object.values(CASES).entries()) {
    const issued = await january(customer);
    expect(issued).toEqual({ id: before[index]?.id, status: 'FINALIZED', total, lines: [...lines] });
    expect(await explained(customer, issued.id)).not.toContain(false);
  }
});

test('the consolidated invoice is issued as its draft was', async () => {
  const issued = await january(parent.customer, 'USAGE_CONSOLIDATED');
  expect(issued).toMatchObject({ ...CONSOLIDATED, status: 'FINALIZED' });
  expect(await explained(parent.customer, issued.id)).not.toContain(false);
});

test('issued invoices and drafts agree with what they come from, and late usage is that of usage', async () => {
  const range = { starting_on: START, ending_before: '2027-04-01T00:00:00Z' };
  expect(await reconcile(api, range)).toMatchObject({ differences: [], late: [], unchecked: [] });
  await use(byId.alias, 1, '2027-01-06T00:00:00Z');
  await use(paid.alias, 2, '2027-01-06T00:00:00Z');
  const { differences, late } = await reconcile(api, range);
  expect(differences).toEqual([]);
  expect(late.toSorted()).toEqual(['Calls 1 = 10', 'Calls 2 = 20', 'Support 10 = 1', 'Support 20 = 2']);
});

test('an invoice that is computed again counts the fees that it has', async () => {
  const { id } = await january(paid.customer);
  await api.post('/v1/invoices/void', { id });
  const { data } = (await api.post('/v1/invoices/regenerate', { id })).body as { data: { id: string } };
  const again = await api.get(`/v1/customers/${paid.customer}/invoices/${data.id}`);
  // Two calls at 10 were late, and 10 % of them are due besides.
  expect(again.digits('data.total')).toBe('5402');
  expect(await explained(paid.customer, data.id)).not.toContain(false);
});

test('a preview of other prices counts the fees with them', async () => {
  const override = {
    ...{ type: 'MULTIPLIER', multiplier: 0.5, starting_at: '2027-02-01T00:00:00Z' },
    override_specifiers: [{ product_id: seat, billing_frequency: 'MONTHLY' }],
  };
  const answer = await api.post('/v1/invoices/preview', {
    edit: { customer_id: byTag.customer, contract_id: byTag.contract, add_overrides: [override] },
  });
  const { invoices } = (answer.list('data') as { invoices: object[] }[])[0] ?? { invoices: [] };
  expect(invoices).toContainEqual(expect.objectContaining({ current_total: 6820, preview_total: 3410 }));
});

test('an invoice of a version whose composites counted usage alone is computed by that rule', async () => {
  const range = { starting_on: START, ending_before: '2027-02-02T00:00:00Z', customer_id: byTag.customer };
  expect((await reconcile(api, range)).differences).toEqual([]);
  const { id } = await january(byTag.customer);
  // Terms of such a version do not say it.
  await service.db.execute(sql`update invoice_terms set terms = terms - 'compositesCountSubscriptions'
    where id in (select contract_terms_id from invoices where id = ${id})`);
  expect((await reconcile(api, range)).differences).toEqual([
    'recomputed_line total none → 620, line 3 "Support"',
  ]);
});

test('two invoices of one billing period have the tiers of one, fees of the first included', async () => {
  const START_OF_MARCH = '2027-03-01T00:00:00Z';
  const half = await customerWith({
    ...{ composite: { composite_product_ids: [calls, seat] }, collection: 'ARREARS' },
    rate: {
      rate_type: 'TIERED_PERCENTAGE',
      price: undefined,
      tiers: [{ size: 1000, price: 0.2 }, { price: 0.1 }],
    },
    terms: { starting_at: START_OF_MARCH, ending_before: '2027-03-16T00:00:00Z' },
  });
  await service.moveClock('2027-03-18T00:00:00Z');
  const names = { customer_id: half.customer, contract_id: half.contract };
  await api.post('/v2/contracts/edit', { ...names, update_contract_end_date: null });
  await service.moveClock('2027-04-03T00:00:00Z');
  const answer = await api.get(`/v1/customers/${half.customer}/invoices`, {
    query: { type: 'USAGE', status: 'FINALIZED', limit: 100 },
  });
  const supportOf = (index: number) =>
    answer.list(`data[${index}].line_items`).flatMap((_, at) => {
      const line = `data[${index}].line_items[${at}]`;
      return answer.text(`${line}.name`) === 'Support' ? [answer.digits(`${line}.total`)] : [];
    });
  // 15 and 16 of 31 days of 6,200: the first 1,000 at 20 %, then 2,000 and 3,200 at 10 %.
  expect([supportOf(0), supportOf(1)]).toEqual([['200', '200'], ['320']]);
  expect(await explained(half.customer, answer.text('data[1].id'))).not.toContain(false);
  const range = { starting_on: START_OF_MARCH, ending_before: '2027-05-01T00:00:00Z' };
  expect(await reconcile(api, { ...range, customer_id: half.customer })).toMatchObject({
    ...{ differences: [], late: [], unchecked: [] },
  });
});
