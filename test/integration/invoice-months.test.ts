/** Months of invoices: lists by month are the whole list, cut so that each invoice is in one of them. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import { invoiceMonth, invoices } from '../../src/store/invoices/invoices.tables.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { monthsOfYears, naiveMonth } from '../support/naive/months.ts';
import { completion, createScenarioCatalogue, type ScenarioCatalogue } from '../support/scenario.ts';

const NOW = '2026-12-20T00:00:00Z';
const service = await serviceForFile({ usage: 'naive', sandboxNow: NOW });
const { api } = service;
const MONTHS = monthsOfYears(2026, 2028);
const PAGE = 7;

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly issued_at: string;
  readonly end_timestamp?: string;
  readonly total: string;
}

async function list(query: Record<string, string | number>, path = '/v1/invoices'): Promise<Listed[]> {
  const found: Listed[] = [];
  let next_page: string | undefined;
  do {
    const page = await api.get(path, { query: { limit: PAGE, ...query, next_page } });
    page.list('data').forEach((item, index) => {
      found.push({ ...(item as Omit<Listed, 'total'>), total: page.digits(`data[${index}].total`) });
    });
    next_page = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next_page !== undefined);
  return found;
}

/** Issued ones, voided ones and drafts. */
async function both(query: Record<string, string | number>): Promise<Listed[]> {
  return [...(await list(query)), ...(await list({ ...query, status: 'DRAFT' }))];
}

async function csvIds(query: Record<string, string>): Promise<string[]> {
  const response = await fetch(`${service.url}/v1/invoices?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${service.token}`, accept: 'text/csv' },
  });
  return [...new Set(csvRows(await response.text()).map((row) => row.invoice_id ?? ''))];
}

const hour = (at: number) => `${new Date(at).toISOString().slice(0, 13)}:00:00Z`;
const HOUR_MS = 3_600_000;
const starts = fc.oneof(
  fc.nat({ max: 300 * 24 }).map((hours) => hour(Date.parse('2026-01-05') + hours * HOUR_MS)),
  fc.integer({ min: 1, max: 11 }).map((month) => `2026-${String(month).padStart(2, '0')}-01T00:00:00Z`),
  fc.integer({ min: 1, max: 11 }).map((month) => `2026-${String(month).padStart(2, '0')}-15T00:00:00Z`),
);
const schedules = fc.oneof(
  fc.record({
    frequency: fc.constantFrom('MONTHLY', 'QUARTERLY', 'ANNUAL', 'WEEKLY'),
    day: fc.constantFrom('FIRST_OF_MONTH', 'CONTRACT_START'),
  }),
  fc.record({
    frequency: fc.constantFrom('MONTHLY', 'QUARTERLY', 'ANNUAL', 'WEEKLY'),
    day: fc.constant('CUSTOM_DATE'),
    billing_anchor_date: starts,
  }),
);
/** At midnight of the first, an hour beside it, or anywhere. */
const charges = fc.oneof(
  fc
    .tuple(fc.nat({ max: 14 }), fc.integer({ min: -1, max: 1 }))
    .map(([months, off]) => hour(Date.UTC(2026, months, 1) + off * HOUR_MS)),
  fc.nat({ max: 400 * 24 }).map((hours) => hour(Date.parse('2026-01-01') + hours * HOUR_MS)),
);
const contracts = fc.record({
  starting_at: starts,
  usage_statement_schedule: schedules,
  daysUntilEnd: fc.option(fc.integer({ min: 1, max: 200 })),
  charges: fc.uniqueArray(charges, { maxLength: 3 }),
  isVoided: fc.boolean(),
});
type RandomContract = typeof contracts extends fc.Arbitrary<infer Value> ? Value : never;

let catalogue: ScenarioCatalogue;
let fee: string;
let customers = 0;
beforeAll(async () => {
  catalogue = await createScenarioCatalogue(api);
  fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
});

async function createRandom(given: RandomContract): Promise<string> {
  customers += 1;
  const alias = `month-${customers}`;
  const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const { starting_at, usage_statement_schedule, daysUntilEnd } = given;
  const end = daysUntilEnd === null ? null : Date.parse(starting_at) + daysUntilEnd * 24 * HOUR_MS;
  const items = given.charges.filter((at) => at >= starting_at && (end === null || Date.parse(at) <= end));
  await createdId(api, '/v1/contracts/create', {
    ...{ customer_id: customer, rate_card_id: catalogue.rateCardId, starting_at, usage_statement_schedule },
    ...(end === null ? {} : { ending_before: hour(end) }),
    scheduled_charges:
      items.length === 0
        ? []
        : [
            {
              product_id: fee,
              schedule: {
                schedule_items: items.map((timestamp, index) => ({ timestamp, amount: index + 1 })),
              },
            },
          ],
  });
  await api.post('/v1/ingest', [completion(alias, { id: alias, at: '2026-12-10T10:00:00Z', tokens: 1_000 })]);
  return customer;
}

/** Voids the first issued invoice of the customer, and computes it again. */
async function voidFirst(customer: string): Promise<void> {
  const [first] = await list({ customer_id: customer, status: 'FINALIZED', limit: 1 });
  if (first === undefined) return;
  await api.post('/v1/invoices/void', { id: first.id });
  await api.send('POST', '/v1/invoices/regenerate', { id: first.id });
}

const ids = (invoices: readonly Pick<Listed, 'id'>[]) => invoices.map(({ id }) => id);
const totalOf = (invoices: readonly Listed[]) => sum(invoices.map(({ total }) => decimal(total))).toFixed();

describe('the months of random contracts', () => {
  test('each invoice, draft and voided invoice of random contracts is in exactly one month of JSON and CSV, and twelve months are the year', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(contracts, { minLength: 4, maxLength: 6 }), async (given) => {
        const made: string[] = [];
        for (const each of given) made.push(await createRandom(each));
        await service.moveClock(NOW);
        for (const [index, each] of given.entries()) if (each.isVoided) await voidFirst(made[index] ?? '');
        const all = await both({});
        const byMonth = new Map<string, Listed[]>();
        for (const month of MONTHS) {
          const found = await both({ month, limit: 100 });
          const expected = all.filter((invoice) => naiveMonth(invoice) === month);
          expect(ids(found), month).toEqual(ids(expected));
          byMonth.set(month, found);
          if (expected.length === 0) continue;
          const csv = [...(await csvIds({ month })), ...(await csvIds({ month, status: 'DRAFT' }))];
          expect(csv, month).toEqual(ids(expected));
        }
        expect([...byMonth.values()].flat().length).toBe(all.length);
        expect(all.length).toBeGreaterThan(given.length);
        const year = all.filter((invoice) => naiveMonth(invoice).startsWith('2026-'));
        const months = monthsOfYears(2026, 2026).flatMap((month) => byMonth.get(month) ?? []);
        expect(totalOf(months)).toBe(totalOf(year));
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });

  test('the month of a customer’s own list is that of the list of all customers', async () => {
    const customer = await createRandom({
      starting_at: '2026-01-01T00:00:00Z',
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
      daysUntilEnd: null,
      charges: ['2026-12-05T00:00:00Z', '2027-01-05T00:00:00Z'],
      isVoided: false,
    });
    const own = await list({ month: '2026-12' }, `/v1/customers/${customer}/invoices`);
    const expected = await both({ month: '2026-12', customer_id: customer, limit: 100 });
    expect(own.length).toBeGreaterThan(0);
    expect(ids(own).sort()).toEqual(ids(expected).sort());
  });
});

describe('a scheduled invoice of the first at midnight', () => {
  let customer: string;
  beforeAll(async () => {
    customer = await createdId(api, '/v1/customers', { name: 'First' });
    await createdId(api, '/v1/contracts/create', {
      customer_id: customer,
      starting_at: '2026-01-15T00:00:00Z',
      scheduled_charges: ['2026-05-01T00:00:00Z', '2027-05-01T00:00:00Z'].map((timestamp) => ({
        product_id: fee,
        schedule: { schedule_items: [{ timestamp, amount: 10 }] },
      })),
    });
    await service.moveClock(NOW);
  });

  test.each(['2026', '2027'])(
    'a scheduled invoice of the first at midnight begins its month and is not in the one before, in %s',
    async (year) => {
      const type = { customer_id: customer, type: 'SCHEDULED' };
      expect(await both({ ...type, month: `${year}-04` })).toEqual([]);
      expect(await both({ ...type, month: `${year}-05` })).toHaveLength(1);
      const [april, may] = [
        { starting_on: `${year}-04-01T00:00:00Z`, ending_before: `${year}-05-01T00:00:00Z` },
        { starting_on: `${year}-05-01T00:00:00Z`, ending_before: `${year}-06-01T00:00:00Z` },
      ];
      expect(await both({ ...type, ...april })).toEqual([]);
      expect(await both({ ...type, ...may })).toHaveLength(1);
      const own = `/v1/customers/${customer}/invoices`;
      expect(await list({ type: 'SCHEDULED', ...april }, own)).toEqual([]);
      expect(await list({ type: 'SCHEDULED', ...may }, own)).toHaveLength(1);
      expect([
        ...(await csvIds({ ...type, ...april })),
        ...(await csvIds({ ...type, ...april, status: 'DRAFT' })),
      ]).toEqual([]);
    },
  );
});

test('a scheduled invoice whose issue date was moved is in the month of its issue, in lists, revenue and reconciliation, as a draft and when it is issued', async () => {
  const customer_id = await createdId(api, '/v1/customers', { name: 'Moved' });
  await createdId(api, '/v1/contracts/create', {
    ...{ customer_id, starting_at: '2026-01-15T00:00:00Z' },
    scheduled_charges: [
      {
        product_id: fee,
        schedule: { schedule_items: [{ timestamp: '2026-12-22T00:00:00Z', amount: 10 }] },
      },
    ],
  });
  const [draft] = await list({ customer_id, status: 'DRAFT' });
  await api.post('/v1/contracts/updateInvoiceIssueDate', {
    invoice_id: draft?.id,
    issue_date: '2027-01-01T00:00:00Z',
  });
  const found = async (month: string, starting_on: string, ending_before: string) => {
    const range = { starting_on, ending_before };
    const listed = await both({ customer_id, month });
    const revenue = await api.get('/v1/revenue', { query: { customer_id, ...range } });
    const reconciled = await api.post('/v1/invoices/reconcile', { customer_id, ...range });
    const days = revenue
      .list('data[0].days')
      .map((day) => (day as { start_timestamp: string }).start_timestamp);
    return { listed: listed.length, days, reconciled: reconciled.list('data').length };
  };
  const expectMoved = async () => {
    const december = await found('2026-12', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z');
    expect(december).toEqual({ listed: 0, days: [], reconciled: 0 });
    const january = await found('2027-01', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z');
    expect(january).toEqual({ listed: 1, days: ['2027-01-01T00:00:00.000Z'], reconciled: 1 });
  };
  await expectMoved();
  await service.moveClock('2027-01-02T00:00:00Z');
  await expectMoved();
});

test.each(['2026-13', '2026', 'november', '2300-01', '1969-12'])(
  'a month "%s" is refused by name',
  async (month) => {
    for (const query of [`month=${month}`, `month=${month}&status=DRAFT`]) {
      const refused = await api.send('GET', `/v1/invoices?${query}`);
      expect([refused.status, refused.text('message')]).toEqual([
        400,
        expect.stringMatching(/^month: must /),
      ]);
    }
  },
);

test('the invoices of a month are found by their index, in the order of the list', async () => {
  await service.db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`);
    await tx.execute(sql`set local enable_sort = off`);
    const rows = await tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain select * from invoices where ${invoiceMonth(invoices)} = '2026-05-01T00:00:00'::timestamp order by issued_at, id limit 100`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using invoices_month');
    expect(plan).toContain('Index Cond: (date_trunc');
  });
});
