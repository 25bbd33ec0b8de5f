/** Invoices in currencies without decimals and with three: what is exact, and what is rounded to the minor unit. */
import { beforeAll, describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES } from '../../src/core/credit-types.ts';
import { creditTypes } from '../../src/store/credit-types/credit-types.tables.ts';
import { ADD_RATE, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { readPdf } from '../support/pdf.ts';

const START = '2026-11-01T00:00:00Z';
const { api, db, url, token } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const idOf = (code: string) => FIAT_CREDIT_TYPES.find(({ name }) => name === code)?.id ?? '';

let usage: string;
let fee: string;

beforeAll(async () => {
  const metric = await createdId(api, METRICS, {
    name: 'Calls',
    event_type_filter: { in_values: ['call'] },
    aggregation_type: 'COUNT',
  });
  usage = await createdId(api, PRODUCTS, { name: 'Calls', type: 'USAGE', billable_metric_id: metric });
  fee = await createdId(api, PRODUCTS, { name: 'Setup', type: 'FIXED' });
});

/** A customer with calls at `price` on a card in the currency. */
async function customerIn(code: string, price: number, terms: object = {}, card: object = {}) {
  const rate_card_id = await createdId(api, RATE_CARDS, {
    name: code,
    fiat_credit_type_id: idOf(code),
    ...card,
  });
  await api.post(ADD_RATE, {
    ...{ rate_card_id, product_id: usage, starting_at: START, entitled: true, rate_type: 'FLAT' },
    ...{ price, credit_type_id: idOf(code) },
  });
  const customer = await createdId(api, '/v1/customers', { name: code });
  const contract = { customer_id: customer, rate_card_id, starting_at: START };
  return { customer, contract, create: () => createdId(api, CONTRACTS, { ...contract, ...terms }) };
}

async function draftOf(customer: string, type: string) {
  const answer = await api.get(`/v1/customers/${customer}/invoices?type=${type}&limit=100`);
  return { answer, count: answer.list('data').length };
}

describe.each([
  // code, price of a call, total of three, payable, shares of 100 in three parts, as printed
  ['JPY', 33.5, '100.5', '101', ['33', '33', '34'], '101 JPY'],
  ['KWD', 0.4115, '1.2345', '1.235', ['33.333', '33.333', '33.334'], '1.235 KWD'],
  ['EUR', 0.4115, '1.2345', '1.23', ['33.33', '33.33', '33.34'], '1.23 EUR'],
])('in %s', (code, price, total, payable, shares, printed) => {
  let customer: string;

  beforeAll(async () => {
    const made = await customerIn(code, price, {
      scheduled_charges: [
        {
          product_id: fee,
          schedule: {
            credit_type_id: idOf(code),
            recurring_schedule: {
              ...{ starting_at: '2026-12-01T00:00:00Z', ending_before: '2027-03-01T00:00:00Z' },
              ...{ frequency: 'MONTHLY', amount: 100, amount_distribution: 'DIVIDED_ROUNDED' },
            },
          },
        },
      ],
    });
    customer = made.customer;
    await made.create();
    await api.post(
      '/v1/ingest',
      [1, 2, 3].map((n) => ({
        ...{ transaction_id: `${code}-${n}`, customer_id: customer, event_type: 'call' },
        timestamp: '2026-11-02T00:00:00Z',
      })),
    );
  });

  test('the total is exact and what is payable is rounded to the minor unit, in JSON, CSV and PDF', async () => {
    const { answer } = await draftOf(customer, 'USAGE');
    expect(answer.digits('data[0].total')).toBe(total);
    expect(answer.digits('data[0].payable_amount')).toBe(payable);
    expect(answer.at('data[0].credit_type')).toEqual({ id: idOf(code), name: code });
    const path = `/v1/customers/${customer}/invoices`;
    const csv = await api.get(path, { headers: { accept: 'text/csv' }, query: { type: 'USAGE' } });
    const rows = csvRows(csv.body);
    expect(rows.map((row) => [row.invoice_total, row.payable_amount, row.currency])).toEqual([
      [total, payable, code],
    ]);
    const pdf = await fetch(`${url}${path}/${answer.text('data[0].id')}/pdf`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { pages } = await readPdf(new Uint8Array(await pdf.arrayBuffer()));
    expect(pages.join('\n')).toContain(printed);
  });

  test('shares of DIVIDED_ROUNDED are whole minor units, and the last has the rest', async () => {
    const { answer, count } = await draftOf(customer, 'SCHEDULED');
    expect(Array.from({ length: count }, (_, i) => answer.digits(`data[${i}].total`))).toEqual(shares);
  });
});

test.each([
  ['JPY', 499, 500, 1499, 1500, '500', '1000'],
  ['KWD', 0.499, 0.5, 1.499, 1.5, '0.5', '1'],
])('the minimums of auto top-up in %s are 500 and 1,000 of its minor unit', async (code, ...amounts) => {
  const [below, threshold, belowRecharge, recharge, least, gap] = amounts;
  const { contract } = await customerIn(`${code}`, 1);
  const send = (threshold_amount: unknown, recharge_to_amount: unknown) =>
    api.send('POST', CONTRACTS, {
      ...contract,
      prepaid_balance_threshold_configuration: {
        ...{ is_enabled: false, threshold_amount, recharge_to_amount, commit: { product_id: fee } },
        payment_gate_config: { payment_gate_type: 'NONE' },
      },
    });
  expect((await send(below, recharge)).text('message')).toContain(`must be at least ${least}`);
  expect((await send(threshold, belowRecharge)).text('message')).toContain(`must be at least ${gap} above`);
  expect((await send(threshold, recharge)).status).toBe(200);
});

test('a custom unit that had the name of a currency before the service knew it stays a custom unit', async () => {
  const custom = { id: 'c0ffee00-0000-4000-8000-00000000000a', name: 'ISK', createdAt: Date.parse(START) };
  await db.insert(creditTypes).values(custom);
  const listed = [];
  for (let next: string | undefined, more = true; more; ) {
    const page = await api.get('/v1/credit-types/list', { query: { limit: 100, next_page: next } });
    listed.push(...page.list('data'));
    more = page.at('next_page') !== null;
    next = more ? page.text('next_page') : undefined;
  }
  expect(listed.filter((unit) => (unit as { name: string }).name === 'ISK')).toEqual([
    { id: custom.id, name: 'ISK', is_currency: false },
    { id: idOf('ISK'), name: 'ISK', is_currency: true },
  ]);
  const conversion = { custom_credit_type_id: custom.id, fiat_per_custom_credit: 2 };
  const card = await createdId(api, RATE_CARDS, { name: 'Old unit', credit_type_conversions: [conversion] });
  const read = await api.post('/v1/contract-pricing/rate-cards/get', { id: card });
  expect(read.at('data.credit_type_conversions[0].custom_credit_type')).toEqual({
    id: custom.id,
    name: 'ISK',
  });
});
