/** Weekly subscriptions: where their weeks begin, with composites, commits, and after the upgrade of what was billed. */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';

const START = '2027-01-01T00:00:00Z';
const service = await serviceForFile({ sandboxNow: START });
const { api, db } = service;
const migration = await readFile(new URL('../../drizzle/0038_weekly_anchors.sql', import.meta.url), 'utf8');
const seat = await createdId(api, PRODUCTS, { name: 'Seat', type: 'SUBSCRIPTION' });
const support = await createdId(api, PRODUCTS, {
  ...{ name: 'Support', type: 'COMPOSITE' },
  composite_product_ids: [seat],
});
const fixed = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
const card = await createdId(api, RATE_CARDS, { name: 'Card' });
const entry = { starting_at: '2026-01-01T00:00:00Z', entitled: true };
await api.post(ADD_RATES, {
  rate_card_id: card,
  rates: [
    { ...entry, product_id: seat, rate_type: 'FLAT', price: 700, billing_frequency: 'WEEKLY' },
    { ...entry, product_id: support, rate_type: 'PERCENTAGE', price: 0.1 },
  ],
});

async function contractWith(terms: object = {}, subscription: object = {}) {
  const customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  const contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customer, rate_card_id: card, starting_at: START },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'WEEKLY', product_id: seat },
        ...{ collection_schedule: 'ADVANCE', initial_quantity: 1 },
        proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        ...subscription,
      },
    ],
    ...terms,
  });
  return { customer, contract };
}

/** `01-01 to 01-08 700`, of all charges by their start. */
async function charges(customer: string): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customer}/invoices`, { query: { limit: 100 } });
  return answer
    .list('data')
    .flatMap((_, one) =>
      answer.list(`data[${one}].line_items`).flatMap((__, index) => {
        const line = `data[${one}].line_items[${index}]`;
        if (answer.text(`${line}.type`) !== 'subscription') return [];
        const day = (name: string) => answer.text(`${line}.${name}`).slice(5, 10);
        return [`${day('starting_at')} to ${day('ending_before')} ${answer.digits(`${line}.total`)}`];
      }),
    )
    .toSorted();
}

const anchorsOf = async (contract: string) => {
  const rows = await db.execute(
    sql`select anchor_date::text as at from subscriptions where contract_id = ${contract}`,
  );
  return rows.map(({ at }) => at);
};

test('the weeks of a monthly contract from a first of a month begin on that day', async () => {
  const { customer, contract } = await contractWith();
  const read = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
  expect(read.at('data.subscriptions[0].billing_cycle_config.anchor_date')).toBe('2027-01-01T00:00:00.000Z');
  await service.moveClock('2027-01-16T00:00:00Z');
  expect(await charges(customer)).toEqual([
    ...['01-01 to 01-08 700', '01-08 to 01-15 700', '01-15 to 01-22 700', '01-22 to 01-29 700'],
  ]);
});

test('the weeks of a contract from within a month begin so that one begins with the next month', async () => {
  const { customer } = await contractWith(
    { starting_at: '2027-01-15T00:00:00Z' },
    { collection_schedule: 'ARREARS' },
  );
  await service.moveClock('2027-02-03T00:00:00Z');
  // 1 February is a Monday, as 18 January is; three days of seven are 300.
  expect(await charges(customer)).toEqual([
    ...['01-15 to 01-18 300', '01-18 to 01-25 700', '01-25 to 02-01 700', '02-01 to 02-08 700'],
  ]);
});

test('a week in arrears that ends with the month is on its usage invoice, with the percentage, and a credit pays for both', async () => {
  const access = { starting_at: '2027-02-01T00:00:00Z', ending_before: '2027-04-01T00:00:00Z' };
  const { customer } = await contractWith(
    {
      starting_at: '2027-02-01T00:00:00Z',
      credits: [{ product_id: fixed, access_schedule: { schedule_items: [{ ...access, amount: 2_150 }] } }],
    },
    { collection_schedule: 'ARREARS' },
  );
  await service.moveClock('2027-03-02T00:00:00Z');
  const answer = await api.get(`/v1/customers/${customer}/invoices`, {
    query: { type: 'USAGE', status: 'FINALIZED' },
  });
  const lines = answer.list('data[0].line_items').map((_, index) => {
    const line = `data[0].line_items[${index}]`;
    return `${answer.text(`${line}.name`)} ${answer.digits(`${line}.total`)}`;
  });
  // Three weeks on scheduled invoices draw 2,100 first. Support is 10 % of the whole week, who pays or not.
  expect(lines).toEqual(['Seat 50', 'Credit applied -50', 'Seat 650', 'Support 70']);
  const range = { starting_on: START, ending_before: '2027-04-01T00:00:00Z' };
  expect(await reconcile(api, { ...range, customer_id: customer })).toMatchObject({
    differences: [],
    unchecked: [],
  });
});

test('weekly subscriptions that an earlier version has billed keep their weeks after the upgrade, and no day is billed twice', async () => {
  const starts = { starting_at: '2027-04-01T00:00:00Z' };
  const billed = await contractWith(starts);
  const unbilled = await contractWith({ starting_at: '2027-07-01T00:00:00Z' });
  const own = await contractWith(starts, { billing_cycle_config: { anchor_date: '2027-03-31T00:00:00Z' } });
  // The former version counted from 1 May, a Saturday, and stored no anchor.
  const store = (at: string | null) =>
    db.execute(sql`update subscriptions set anchor_date = ${at} where contract_id = ${billed.contract}`);
  await store('2027-05-01T00:00:00Z');
  await service.moveClock('2027-04-12T00:00:00Z');
  const before = await charges(billed.customer);
  expect(before).toEqual([
    '04-01 to 04-03 200',
    '04-03 to 04-10 700',
    '04-10 to 04-17 700',
    '04-17 to 04-24 700',
  ]);
  await store(null);
  await db.execute(sql.raw(migration));
  expect(await anchorsOf(billed.contract)).toEqual(['2027-05-01 00:00:00+00']);
  expect(await anchorsOf(unbilled.contract)).toEqual([null]);
  expect(await anchorsOf(own.contract)).toEqual(['2027-03-31 00:00:00+00']);
  expect(await charges(billed.customer)).toEqual(before);
  await service.moveClock('2027-04-25T12:00:00Z');
  expect(await charges(billed.customer)).toEqual([...before, '04-24 to 05-01 700', '05-01 to 05-08 700']);
});
