/** The questions of a new installation (docs/reference/sql.md) and what is unpaid, against the invoices of the API. */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { giveQuestions, QUESTIONS } from '../../src/billing/sql/questions.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-12T00:00:00Z' });
const { api, db } = service;
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

type Row = Readonly<Record<string, unknown>>;
type Question = (typeof QUESTIONS)[number]['name'];

let first: Scenario;
let second: Scenario;
let issued: Row[];
let drafts: Row[];

async function answerOf(question: Question): Promise<Row[]> {
  const text = QUESTIONS.find(({ name }) => name === question)?.sql ?? '';
  return (await api.post('/v1/sql', { sql: text })).list('data') as Row[];
}

const sumOf = (rows: readonly Row[]) =>
  Number(rows.reduce((total, row) => total + Number(row.total), 0).toFixed(6));

beforeAll(async () => {
  first = await createScenario(api, { alias: 'first' });
  second = await createScenario(api, { alias: 'second' });
  await api.post(`/v1/customers/${second.customerId}/updateConfig`, { billing_address: { country: 'PL' } });
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Balance',
    type: 'FIXED',
  });
  const access = (amount: number) => ({
    credit_type_id: USD,
    schedule_items: [{ amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-15T00:00:00Z' }],
  });
  const common = { customer_id: first.customerId, priority: 1, product_id };
  await api.post('/v1/contracts/customerCredits/create', {
    ...common,
    name: 'Credit',
    access_schedule: access(10),
  });
  await api.post('/v1/contracts/customerCommits/create', {
    ...{ ...common, priority: 2, type: 'PREPAID', name: 'Commit' },
    access_schedule: access(25),
  });
  await api.post('/v1/ingest', [
    completion('first', { id: '1', at: '2026-11-02T10:00:00Z', tokens: 1000 }),
    completion('second', { id: '2', at: '2026-11-03T11:00:00Z', tokens: 70 }),
  ]);
  await service.moveClock('2026-12-05T00:00:00Z');
  await api.post('/v1/ingest', [
    completion('first', { id: '3', at: '2026-12-02T10:00:00Z', tokens: 500 }),
    completion('second', { id: '4', at: '2026-12-03T11:00:00Z', tokens: 300 }),
  ]);
  await service.moveClock('2027-01-11T00:00:00Z');
  await api.post('/v1/ingest', [
    completion('second', { id: '5', at: '2027-01-03T11:00:00Z', tokens: 1_000 }),
  ]);
  issued = (await api.get('/v1/invoices', { query: { status: 'FINALIZED' } })).list('data') as Row[];
  drafts = (await api.get('/v1/invoices', { query: { status: 'DRAFT' } })).list('data') as Row[];
});

const inMonth = (month: string) =>
  issued.filter(({ start_timestamp: start }) => String(start).startsWith(month));
const ofCustomer = (rows: readonly Row[], { customerId }: Scenario) =>
  rows.filter(({ customer_id }) => customer_id === customerId);

test('recurring revenue by month is the sum of the usage invoices of the month', async () => {
  expect(await answerOf('Recurring revenue by month')).toEqual(
    ['2026-11', '2026-12'].map((month) => ({
      ...{ month: `${month}-01T00:00:00.000Z`, credit_type: 'USD (cents)' },
      revenue: sumOf(inMonth(month)),
    })),
  );
  expect(sumOf(inMonth('2026-12'))).toBeGreaterThan(0);
});

test('growth of the largest customers compares the last two months of invoices', async () => {
  const expected = [
    { customer: 'first', scenario: first },
    { customer: 'second', scenario: second },
  ].map(({ customer, scenario }) => {
    const [last, before] = ['2026-12', '2026-11'].map((month) => sumOf(ofCustomer(inMonth(month), scenario)));
    const growth = Number(((last ?? 0) - (before ?? 0)).toFixed(6));
    return { customer, credit_type: 'USD (cents)', last_month: last, month_before: before, growth };
  });
  expect(await answerOf('Growth of the largest customers')).toEqual(
    expected.toSorted((a, b) => (b.last_month ?? 0) - (a.last_month ?? 0)),
  );
});

test('cohorts have all customers by the month of their first invoice', async () => {
  const common = { cohort: '2026-11-01T00:00:00.000Z', credit_type: 'USD (cents)', customers: 2 };
  expect(await answerOf('Cohorts by month of the first invoice')).toEqual(
    ['2026-11', '2026-12'].map((month) => ({
      ...{ ...common, month: `${month}-01T00:00:00.000Z` },
      revenue: sumOf(inMonth(month)),
    })),
  );
});

test('the forecast is the month so far by the share of its days that have passed', async () => {
  const soFar = sumOf(drafts.filter(({ start_timestamp: start }) => String(start).startsWith('2027-01')));
  expect(await answerOf('Forecast of this month')).toEqual([
    { credit_type: 'USD (cents)', so_far: soFar, forecast: Number(((soFar * 31) / 10).toFixed(6)) },
  ]);
  expect(soFar).toBeGreaterThan(0);
});

test('unbilled amounts by customer are the drafts of the API', async () => {
  expect(await answerOf('Unbilled amounts by customer')).toEqual([
    { customer: 'second', credit_type: 'USD (cents)', unbilled: sumOf(ofCustomer(drafts, second)) },
    { customer: 'first', credit_type: 'USD (cents)', unbilled: sumOf(ofCustomer(drafts, first)) },
  ]);
});

test('the burn-down of a commit ends at its balance, and credits outstanding are the balances of credits', async () => {
  const listed = (
    await api.post('/v1/contracts/customerBalances/list', {
      ...{ customer_id: first.customerId, include_balance: true, include_contract_balances: true },
      finalized_invoices_only: true,
    })
  ).list('data') as Row[];
  const balanceOf = (type: string) => listed.find((row) => row.type === type)?.balance;
  const burned = await answerOf('Burn-down of commits');
  expect(burned.at(-1)).toMatchObject({ name: 'Commit', remaining: balanceOf('PREPAID') });
  const outstanding = await answerOf('Credits outstanding by expiry');
  const credit = balanceOf('CREDIT');
  expect(outstanding).toEqual(
    credit === 0
      ? []
      : [{ expires: '2027-11-01T00:00:00.000Z', credit_type_id: USD, outstanding: credit, credits: 1 }],
  );
});

test('revenue by product and country is the sum of all invoices, each country apart', async () => {
  const rows = await answerOf('Revenue by product and country');
  const total = (country: string | null) =>
    Number(
      rows
        .filter((row) => row.country === country)
        .reduce((sum, row) => sum + Number(row.revenue), 0)
        .toFixed(6),
    );
  expect([total('PL'), total(null)]).toEqual([
    sumOf(ofCustomer(issued, second)),
    sumOf(ofCustomer(issued, first)),
  ]);
});

test('ageing has each unpaid invoice in the bucket of its days since issue', async () => {
  const unpaid = issued.filter(({ total }) => Number(total) > 0);
  const rows = await answerOf('Ageing of unpaid invoices');
  const december = unpaid.filter(({ start_timestamp: start }) => String(start).startsWith('2026-12'));
  expect(rows).toEqual([
    { bucket: '0-30', credit_type: 'USD (cents)', invoices: december.length, unpaid: sumOf(december) },
    {
      ...{ bucket: '31-60', credit_type: 'USD (cents)', invoices: unpaid.length - december.length },
      unpaid: sumOf(unpaid.filter((row) => !december.includes(row))),
    },
  ]);
});

test('an installation gets each question once: a deleted one stays deleted, a changed one stays changed', async () => {
  const clock = { now: () => Date.parse('2027-01-11T00:00:00Z') };
  const list = async () =>
    (await api.get('/v1/sql/queries', { query: { limit: 100 } })).list('data') as Row[];
  await giveQuestions({ db, clock });
  const given = await list();
  expect(given.map(({ name }) => name)).toEqual(QUESTIONS.map(({ name }) => name).toSorted());
  await api.post('/v1/sql/queries/delete', { id: given[0]?.id });
  await api.post('/v1/sql/queries/save', { name: given[1]?.name, sql: 'SELECT 1 AS mine' });
  await Promise.all([giveQuestions({ db, clock }), giveQuestions({ db, clock })]);
  const after = await list();
  expect(after).toHaveLength(QUESTIONS.length - 1);
  expect(after.find(({ name }) => name === given[1]?.name)?.sql).toBe('SELECT 1 AS mine');
});

/** The state of an invoice at a provider, as a delivery stores it. */
async function deliver(invoice: Row, state: { status: string; amountPaid?: number; total?: number }) {
  const { status, amountPaid = null, total = null } = state;
  await db.execute(sql`insert into invoice_deliveries
    (invoice_id, customer_id, billing_provider, status, amount_paid, total, created_at)
    values (${invoice.id}, ${invoice.customer_id}, 'stripe', ${status}, ${amountPaid}, ${total}, now())`);
}

const listOf = async (path: string, query: Record<string, string> = {}) =>
  (await api.get(path, { query })).list('data') as Row[];
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => String(id)).toSorted();

describe('unpaid invoices', () => {
  const [terms, paid, partly] = [0, 1, 2];
  let unpaid: Row[];

  beforeAll(async () => {
    unpaid = issued.filter(({ total }) => Number(total) > 0);
    await db.execute(sql`update invoices set net_payment_terms_days = 60 where id = ${unpaid[terms]?.id}`);
    await deliver(unpaid[paid] ?? {}, { status: 'PAID', amountPaid: 1 });
    await deliver(unpaid[partly] ?? {}, { status: 'PARTIALLY_PAID', amountPaid: 0.5, total: 3 });
  });

  test('ageing counts an unpaid invoice by the days since it was due or issued, and what is left of it', async () => {
    const rows = await listOf('/v1/invoices/ageing');
    expect(rows.find(({ ageing }) => ageing === 'NOT_YET_DUE')).toEqual({
      ...{ ageing: 'NOT_YET_DUE', credit_type_id: USD, count: 1 },
      ...{ total: unpaid[terms]?.total, unpaid: unpaid[terms]?.payable_amount },
    });
    const counted = rows.reduce((sum, { count }) => sum + Number(count), 0);
    expect(counted).toBe(unpaid.length - 1);
    const left = unpaid.filter((_, index) => index !== paid && index !== partly);
    const payable = left.reduce((sum, row) => sum + Number(row.payable_amount), 0);
    expect(rows.reduce((sum, row) => sum + Number(row.unpaid), 0)).toBe(payable + 2.5);
  });

  test.each(['NOT_YET_DUE', 'DAYS_0_30', 'DAYS_31_60', 'DAYS_61_90', 'ABOVE_90'])(
    'the list of the age %s has as many invoices as ageing counts, and its sums are those of ageing',
    async (ageing) => {
      const counted = (await listOf('/v1/invoices/ageing')).find((row) => row.ageing === ageing);
      const { ageing: _, ...sums } = counted ?? { ageing };
      expect(await listOf('/v1/invoices', { ageing })).toHaveLength(Number(counted?.count ?? 0));
      expect(await listOf('/v1/invoices/sums', { ageing })).toEqual(counted === undefined ? [] : [sums]);
    },
  );

  test('an invoice is overdue after its due date, and has no due date without terms', async () => {
    expect(await listOf('/v1/invoices', { overdue: 'true' })).toEqual([]);
    await db.execute(sql`update invoices set net_payment_terms_days = 20 where id = ${unpaid[terms]?.id}`);
    expect(idsOf(await listOf('/v1/invoices', { overdue: 'true' }))).toEqual([unpaid[terms]?.id]);
    expect(await listOf('/v1/invoices', { overdue: 'false' })).toHaveLength(issued.length - 1);
    expect(idsOf(await listOf('/v1/invoices', { due_from: '2026-01-01T00:00:00Z' }))).toEqual([
      unpaid[terms]?.id,
    ]);
    expect(await listOf('/v1/invoices', { due_before: '2026-01-01T00:00:00Z' })).toEqual([]);
  });

  test('lists and sums select invoices by number and by amount', async () => {
    const [one = {}] = unpaid;
    expect(idsOf(await listOf('/v1/invoices', { invoice_number: String(one.invoice_number) }))).toEqual([
      one.id,
    ]);
    const from = Number(one.total);
    const expected = issued.filter(({ total }) => Number(total) >= from);
    const query = { total_min: String(from), status: 'FINALIZED' };
    expect(idsOf(await listOf('/v1/invoices', query))).toEqual(idsOf(expected));
    expect(await listOf('/v1/invoices/sums', query)).toMatchObject([
      { count: expected.length, total: sumOf(expected) },
    ]);
    const refused = await api.send('GET', '/v1/invoices?total_min=much');
    expect([refused.status, refused.text('message')]).toEqual([400, expect.stringMatching(/^total_min: /)]);
    const drafted = await api.send('GET', '/v1/invoices?status=DRAFT&overdue=true');
    expect([drafted.status, drafted.text('message')]).toEqual([400, expect.stringMatching(/^overdue: /)]);
  });
});
