/** Reconciliation of invoices that commits and credits pay for: nothing to find, until a ledger or a line is changed. */
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADD_RATES, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { type Reconciled, reconcile } from '../support/reconciled.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const NOVEMBER = { starting_at: RANGE.starting_on, ending_before: RANGE.ending_before };
const NOTHING: Partial<Reconciled> = { differences: [], late: [], unchecked: [] };

let service: TestService;
let scenario: Scenario;
let customerId: string;
let rateCardId: string;
let fixedProductId: string;
let unit: string;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  scenario = await createScenario(api, { alias: 'other' });
  customerId = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  fixedProductId = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Prepaid',
    type: 'FIXED',
  });
  unit = await createdId(api, '/v1/credit-types/create', { name: 'Points' });
  rateCardId = await createdId(api, RATE_CARDS, {
    name: 'Card',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 }],
  });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: scenario.tokensProductId, price: 0.7 },
      { ...rate, product_id: scenario.requestsProductId, price: 3, credit_type_id: unit },
    ],
  });
});
afterEach(() => service.close());

const contract = (terms: Record<string, unknown>) =>
  createdId(service.api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: NOVEMBER.starting_at,
    ...terms,
  });

const balance = (amount: number, other: Record<string, unknown> = {}) => ({
  product_id: fixedProductId,
  name: 'Trial',
  access_schedule: { schedule_items: [{ amount, ...NOVEMBER }] },
  ...other,
});

const purchase = (amount: number) => ({
  invoice_schedule: { schedule_items: [{ amount, timestamp: '2026-11-20T00:00:00Z' }] },
});

/** Balances that end within a line, in the currency and in the converted unit, and a postpaid commit for the rest. */
const everyBalance = () => ({
  credits: [balance(10, { applicable_product_ids: [scenario.tokensProductId] })],
  commits: [
    balance(30, { type: 'PREPAID', name: 'Bought', ...purchase(30) }),
    balance(20, { type: 'POSTPAID', name: 'Minimum', ...purchase(20) }),
  ],
});

async function useOnThreeDays(): Promise<void> {
  await service.api.post(
    '/v1/ingest',
    [50, 33, 7].map((tokens, day) =>
      completion('ada', { id: `e${day}`, at: `2026-11-0${day + 3}T10:30:00Z`, tokens }),
    ),
  );
}

const issue = () => service.moveClock('2026-12-03T00:00:00Z');
const check = () => reconcile(service.api, { ...RANGE, customer_id: customerId });

test('drafts and issued invoices agree with their balances, also with a balance that is no multiple of a price', async () => {
  await contract(everyBalance());
  await useOnThreeDays();
  expect(await check()).toMatchObject(NOTHING);
  await issue();
  expect(await check()).toMatchObject(NOTHING);
});

test('two contracts that share a credit agree, as drafts and as issued invoices', async () => {
  await contract({});
  await contract({ starting_at: '2026-11-02T00:00:00Z' });
  await createdId(service.api, '/v1/contracts/customerCredits/create', {
    customer_id: customerId,
    priority: 1,
    ...balance(100, { applicable_product_ids: [scenario.tokensProductId] }),
  });
  await useOnThreeDays();
  expect(await check()).toMatchObject(NOTHING);
  await issue();
  expect(await check()).toMatchObject(NOTHING);
});

test('charges of subscriptions take from balances, and count in conversions', async () => {
  const { api } = service;
  const product = { name: 'Seats', type: 'SUBSCRIPTION' };
  const dollars = await createdId(api, '/v1/contract-pricing/products/create', product);
  const points = await createdId(api, '/v1/contract-pricing/products/create', product);
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: dollars, price: 31, billing_frequency: 'MONTHLY' },
      { ...rate, product_id: points, price: 2, billing_frequency: 'MONTHLY', credit_type_id: unit },
    ],
  });
  await contract({
    credits: [balance(100)],
    subscriptions: [dollars, points].map((product_id) => ({
      subscription_rate: { product_id, billing_frequency: 'MONTHLY' },
      ...{ collection_schedule: 'ARREARS', initial_quantity: 1, proration: {} },
    })),
  });
  await useOnThreeDays();
  await issue();
  expect(await check()).toMatchObject(NOTHING);
});

test('a deduction that is missing, wrong, or of no line is named', async () => {
  await contract({ credits: [balance(10, { applicable_product_ids: [scenario.tokensProductId] })] });
  await useOnThreeDays();
  await issue();
  await service.db.execute(sql`update balance_deductions set amount = 9`);
  expect((await check()).differences).toEqual(['deduction value 10 → 9']);
  await service.db.execute(sql`update balance_deductions set segment_id = invoice_id, amount = 4`);
  expect((await check()).differences).toEqual(['deduction value 10 → none', 'deduction value none → 4']);
  await service.db.execute(sql`delete from balance_deductions`);
  expect((await check()).differences).toEqual(['deduction value 10 → none']);
});

test('a segment from which invoices took more than it has is named', async () => {
  await contract({ credits: [balance(10, { applicable_product_ids: [scenario.tokensProductId] })] });
  await useOnThreeDays();
  await issue();
  await service.db.execute(sql`update access_segments set amount = 8`);
  expect((await check()).differences).toEqual(['balance value 8 → 10']);
});

test('a rollover from which invoices took more than has arrived in it is named, also the second of a chain', async () => {
  const commit = balance(70, {
    ...{ type: 'PREPAID', rollover_fraction: 0.5, applicable_product_ids: [scenario.tokensProductId] },
    access_schedule: {
      schedule_items: [{ amount: 70, ...NOVEMBER, ending_before: '2027-11-01T00:00:00Z' }],
    },
  });
  let newest = await contract({ commits: [commit] });
  for (const starting_at of ['2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z']) {
    newest = await contract({ starting_at, transition: { type: 'RENEWAL', from_contract_id: newest } });
  }
  // 56 of 70 are used, so 14 arrive in December; 4.2 of them are used, and half of the 14 arrives in January.
  const events = [
    completion('ada', { id: 'november', at: '2026-11-03T10:30:00Z', tokens: 80 }),
    completion('ada', { id: 'december', at: '2026-12-03T10:30:00Z', tokens: 6 }),
    completion('ada', { id: 'january', at: '2027-01-03T10:30:00Z', tokens: 10 }),
  ];
  for (const [index, event] of events.entries()) {
    await service.moveClock(new Date(Date.UTC(2026, 10 + index, 10)).toISOString());
    await service.api.post('/v1/ingest', [event]);
  }
  await service.moveClock('2027-02-03T00:00:00Z');
  const all = () =>
    reconcile(service.api, { ...RANGE, ending_before: '2027-03-01T00:00:00Z', customer_id: customerId });
  expect(await all()).toMatchObject(NOTHING);
  const take = (before: number, amount: number) =>
    service.db.execute(sql`update balance_deductions set amount = ${amount} where amount = ${before}`);
  await take(7, 8);
  expect((await all()).differences).toContain('balance value 7 → 8');
  await take(8, 7);
  await take(4.2, 15);
  expect((await all()).differences).toEqual(
    expect.arrayContaining(['balance value 14 → 15', 'balance value 0 → 7']),
  );
});

test('a covered line and an applied line that were changed are named', async () => {
  await contract({ credits: [balance(14, { applicable_product_ids: [scenario.tokensProductId] })] });
  await useOnThreeDays();
  await issue();
  await service.db.execute(sql`update invoice_line_items set total = total - 1 where name = 'Trial applied'`);
  expect((await check()).differences).toEqual(
    expect.arrayContaining(['applied total -14 → -15, line 2 "Trial applied"', 'deduction value 15 → 14']),
  );
  await service.db.execute(sql`update invoice_line_items set total = total + 1 where name = 'Trial applied'`);
  await service.db.execute(sql`
    update invoice_line_items set quantity = quantity + 1, total = total + 0.7 where name = 'Tokens' and position = 2`);
  expect((await check()).differences).toContain('recomputed_line quantity 70 → 71, line 3 "Tokens"');
});

/** Usage of which a commit pays half at its commit rate, which is not the price of the rest. */
async function paidAtCommitRate(): Promise<void> {
  const { api } = service;
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      {
        ...{ product_id: scenario.tokensProductId, starting_at: NOVEMBER.starting_at, entitled: true },
        ...{ rate_type: 'FLAT', price: 2, commit_rate: { rate_type: 'FLAT', price: 1 } },
      },
    ],
  });
  await contract({ commits: [balance(45, { type: 'PREPAID', name: 'Bought', rate_type: 'COMMIT_RATE' })] });
  await useOnThreeDays();
}

test('a total at a commit rate is compared with the events, whatever its quantity', async () => {
  await paidAtCommitRate();
  expect(await check()).toMatchObject(NOTHING);
  await issue();
  expect(await check()).toMatchObject(NOTHING);
  await service.db.execute(
    sql`update invoice_line_items set unit_price = 1.5, total = 67.5 where unit_price = 1`,
  );
  expect((await check()).differences).toEqual(
    expect.arrayContaining([
      'recomputed_line unit_price 1 → 1.5, line 1 "Tokens"',
      'recomputed_line total 45 → 67.5, line 1 "Tokens"',
    ]),
  );
});

test('a covered line that was split otherwise is named, though quantities and total of the invoice stay', async () => {
  await paidAtCommitRate();
  await issue();
  await service.db.execute(sql`
    update invoice_line_items set quantity = quantity + 1, total = total + 2 where unit_price = 2`);
  await service.db.execute(sql`
    update invoice_line_items set quantity = quantity - 1, total = total - 1 where unit_price = 1`);
  expect((await check()).differences).toEqual(
    expect.arrayContaining([
      'recomputed_line quantity 45 → 44, line 1 "Tokens"',
      'recomputed_line quantity 45 → 46, line 3 "Tokens"',
    ]),
  );
});

test('a conversion of which a balance pays a part is compared with the events', async () => {
  await contract(everyBalance());
  await useOnThreeDays();
  await issue();
  await service.db.execute(sql`
    update invoice_line_items set quantity = quantity + 1, total = total + 2.5
    where type = 'cpu_conversion' and position = (
      select max(position) from invoice_line_items where type = 'cpu_conversion')`);
  expect((await check()).differences).toEqual(
    expect.arrayContaining([expect.stringMatching(/^recomputed_line quantity .* "Conversion of Points"$/)]),
  );
});

test('a true-up that is not what usage left of the commitment is named', async () => {
  await contract({ commits: [balance(100, { type: 'POSTPAID', name: 'Minimum', ...purchase(100) })] });
  await service.api.post('/v1/ingest', [
    completion('ada', { id: 'e1', at: '2026-11-05T10:30:00Z', tokens: 10 }),
  ]);
  const both = () =>
    reconcile(service.api, { ...RANGE, ending_before: '2027-01-01T00:00:00Z', customer_id: customerId });
  await issue();
  expect(await both()).toMatchObject(NOTHING);
  const billed = await service.db.execute(
    sql`select total::float from invoice_line_items where type = 'true_up'`,
  );
  // 10 tokens at 0.7, and a request of 3 points at 2.5.
  expect(billed).toEqual([{ total: 85.5 }]);
  await service.db.execute(sql`
    update invoice_line_items set total = 90, unit_price = 90 where type = 'true_up'`);
  await service.db.execute(sql`update invoices set total = 90 where type = 'SCHEDULED'`);
  expect((await both()).differences).toEqual(['true_up total 85.5 → 90, line 1 "Minimum"']);
});

test('charges and discounts on a usage invoice that balances pay for are compared with their schedules', async () => {
  const scheduled = (name: string, amount: number) => ({
    ...{ product_id: fixedProductId, name },
    schedule: { schedule_items: [{ amount, timestamp: '2026-11-30T00:00:00Z' }] },
  });
  await contract({
    scheduled_charges_on_usage_invoices: 'ALL',
    ...{ scheduled_charges: [scheduled('Fee', 40)], discounts: [scheduled('Thanks', 15)] },
    ...everyBalance(),
  });
  await useOnThreeDays();
  expect(await check()).toMatchObject(NOTHING);
  await issue();
  expect(await check()).toMatchObject(NOTHING);
  await service.db.execute(sql`
    update invoice_line_items set total = -16, unit_price = -16 where name = 'Thanks'`);
  expect((await check()).differences).toEqual(
    expect.arrayContaining([
      'scheduled_amount unit_price -15 → -16, line 2 "Thanks"',
      'scheduled_amount total -15 → -16, line 2 "Thanks"',
    ]),
  );
});

test('an invoice whose balances are not known is not recomputed, and says so', async () => {
  await contract(everyBalance());
  await useOnThreeDays();
  await issue();
  await service.db.execute(sql`update invoices set balances_id = null`);
  expect(await check()).toMatchObject({
    differences: [],
    unchecked: [expect.stringContaining('did not keep the balances that it found')],
  });
});
