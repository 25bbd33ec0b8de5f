/** The drafts of all customers: each once, as its customer's own list shows it, and compared with the invoice before. */
import { beforeAll, describe, expect, test } from 'vitest';
import { listDrafts } from '../../src/billing/invoices/read/list-drafts.ts';
import { Refusal } from '../../src/core/errors.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenarioCatalogue, type ScenarioCatalogue } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

interface Draft {
  readonly id: string;
  readonly customerId: string;
  readonly total: string;
  readonly whole: unknown;
}

async function draftsOf(
  query: Record<string, string | number> = {},
  path = '/v1/invoices',
): Promise<Draft[]> {
  const drafts: Draft[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.get(path, { query: { status: 'DRAFT', ...query, next_page: cursor } });
    page.list('data').forEach((whole, index) => {
      drafts.push({
        id: page.text(`data[${index}].id`),
        customerId: page.text(`data[${index}].customer_id`),
        total: page.digits(`data[${index}].total`),
        whole,
      });
    });
    cursor = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (cursor !== undefined);
  return drafts;
}

let catalogue: ScenarioCatalogue;
/** In the order of their creation. */
const customers: string[] = [];
const contracts: string[] = [];

beforeAll(async () => {
  catalogue = await createScenarioCatalogue(api);
  const fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  for (let index = 0; index < 7; index++) {
    const alias = `customer-${index}`;
    const id = await createdId(api, '/v1/customers', { name: `Customer ${index}`, ingest_aliases: [alias] });
    customers.push(id);
    // The fourth customer has no contract, and the fifth an archived one.
    if (index === 3) continue;
    contracts[index] = await createdId(api, '/v1/contracts/create', {
      customer_id: id,
      rate_card_id: catalogue.rateCardId,
      starting_at: '2026-11-01T00:00:00Z',
      ...(index === 1
        ? { scheduled_charges: [{ product_id: fee, schedule: { schedule_items: threeCharges() } }] }
        : {}),
    });
    if (index === 4)
      await api.post('/v1/contracts/archive', {
        customer_id: id,
        contract_id: contracts[index],
        void_invoices: false,
      });
    await api.post('/v1/ingest', [
      completion(alias, { id: `${alias}-1`, at: '2026-11-05T10:00:00Z', tokens: 100 * (index + 1) }),
      // The sixth customer has usage without a rate.
      ...(index === 5
        ? [completion(alias, { id: `${alias}-2`, at: '2026-11-05T10:00:00Z', tokens: 1, model: 'unpriced' })]
        : []),
    ]);
    await service.moveClock(Date.parse('2026-11-10T00:00:00Z') + (index + 1) * 1_000);
  }
});

function threeCharges() {
  return [1, 2, 3].map((month) => ({ timestamp: `2027-0${month}-01T00:00:00Z`, amount: month }));
}

describe('the list', () => {
  test('the list of drafts has each draft of each customer once, customer by customer, as the customer’s own list has it', async () => {
    const own = [];
    for (const id of customers) own.push(...(await draftsOf({}, `/v1/customers/${id}/invoices`)));
    expect(own).toHaveLength(5 + 3);
    expect(own.map(({ total }) => total)).toEqual(['5', '8', '1', '2', '3', '11', '22', '23']);
    for (const limit of [1, 2, 3, 100]) expect(await draftsOf({ limit }), `limit ${limit}`).toEqual(own);
  });

  test('orders the drafts of one customer as `sort` says', async () => {
    const totals = (await draftsOf({ limit: 2, sort: 'date_desc' })).map(({ total }) => total);
    expect(totals).toEqual(['5', '3', '2', '1', '8', '11', '22', '23']);
  });

  test('the list of drafts is filtered by type, customer, contract, time and warnings', async () => {
    const [first = '', second = ''] = customers;
    expect(await draftsOf({ type: 'SCHEDULED', limit: 1 })).toHaveLength(3);
    expect(await draftsOf({ type: 'USAGE_CONSOLIDATED' })).toEqual([]);
    expect((await draftsOf({ customer_id: second })).map(({ customerId }) => customerId)).toEqual(
      Array.from({ length: 4 }, () => second),
    );
    expect(await draftsOf({ contract_id: contracts[0] ?? '' })).toHaveLength(1);
    expect(await draftsOf({ contract_id: contracts[0] ?? '', customer_id: second })).toEqual([]);
    expect(await draftsOf({ contract_id: first })).toEqual([]);
    expect(await draftsOf({ starting_on: '2027-02-01T00:00:00Z' })).toHaveLength(2);
    const warned = await draftsOf({ has_warnings: 'true', limit: 1 });
    expect(warned.map(({ customerId }) => customerId)).toEqual([customers[5]]);
    expect(await draftsOf({ has_warnings: 'false' })).toHaveLength(7);
  });

  test('the list of drafts is not among issued invoices, and a cursor belongs to one of the two lists', async () => {
    expect((await api.get('/v1/invoices')).at('data')).toEqual([]);
    const page = await api.get('/v1/invoices', { query: { status: 'DRAFT', limit: 1 } });
    const other = `/v1/invoices?next_page=${page.text('next_page')}`;
    const refused = await api.send('GET', other);
    expect([refused.status, refused.text('message')]).toEqual([
      400,
      'next_page: must be the next_page of an earlier answer with the same status',
    ]);
    const issued = Buffer.from(JSON.stringify({ at: 0, id: customers[0] })).toString('base64url');
    expect((await api.send('GET', `/v1/invoices?status=DRAFT&next_page=${issued}`)).status).toBe(400);
  });

  test('the CSV list has all drafts', async () => {
    const response = await fetch(`${service.url}/v1/invoices?status=DRAFT&type=USAGE`, {
      headers: { authorization: `Bearer ${service.token}`, accept: 'text/csv' },
    });
    const ids = csvRows(await response.text()).map((row) => row.invoice_id);
    expect([...new Set(ids)]).toEqual((await draftsOf({ type: 'USAGE' })).map(({ id }) => id));
  });
});

describe('a page that may not continue', () => {
  const endless = {
    ...{ pageMsMax: 60_000, customersPerPage: 1_000, linesPerPage: 1_000 },
    ...{ draftsPerStep: 2, customersPerStep: 2 },
  };
  const context = billingContext({
    db: service.db,
    clickhouse: service.clickhouse,
    clock: { now: () => Date.parse('2026-11-10T00:01:00Z') },
  });

  test.each([
    ['has taken its time', { pageMsMax: 0 }, 6],
    ['has read its customers', { customersPerPage: 2 }, 4],
    ['has its lines', { linesPerPage: 1 }, 6],
    ['(no: it may go on)', {}, 1],
  ])(
    'a page that may not continue because it %s is short, and the next ones have the rest',
    async (_, limits, expected) => {
      const ids: string[] = [];
      let after: Parameters<typeof listDrafts>[2]['after'] = null;
      let pages = 0;
      do {
        const request = { after, limit: 100, order: 'ascending' } as const;
        const page: Awaited<ReturnType<typeof listDrafts>> = await listDrafts(context, {}, request, {
          ...endless,
          ...limits,
        });
        ids.push(...page.rows.map(({ id }) => id));
        after = page.next;
        pages += 1;
      } while (after !== null);
      expect(ids).toEqual((await draftsOf()).map(({ id }) => id));
      expect(pages).toBe(expected);
    },
  );

  test('more than two pages at a time wait, and more than ten waiting ones are refused', async () => {
    const request = { after: null, limit: 1, order: 'ascending' } as const;
    const asked = await Promise.allSettled(
      Array.from({ length: 13 }, () => listDrafts(context, {}, request)),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(12);
    const [refused] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused.kind).toBe('overloaded');
  });
});

describe('the comparison with the invoice before', () => {
  const DECEMBER = '2026-12-10T00:00:00Z';

  test('the comparison with the invoice before is with the last finalized one of the contract in the same currency, exact', async () => {
    expect((await draftsOf({ type: 'USAGE' })).map(({ whole }) => whole)).not.toContainEqual(
      expect.objectContaining({ previous_invoice: expect.anything() }),
    );
    await service.moveClock(DECEMBER);
    await api.post('/v1/ingest', [
      completion('customer-0', { id: 'december', at: '2026-12-05T00:00:00Z', tokens: '10.5' }),
    ]);
    const [customer = ''] = customers;
    const issued = await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'FINALIZED' } });
    const page = await api.get('/v1/invoices', { query: { status: 'DRAFT', customer_id: customer } });
    expect(page.digits('data[0].total')).toBe('2.315');
    expect(page.at('data[0].previous_invoice')).toMatchObject({
      id: issued.text('data[0].id'),
      start_timestamp: '2026-11-01T00:00:00.000Z',
      end_timestamp: '2026-12-01T00:00:00.000Z',
      issued_at: issued.text('data[0].issued_at'),
    });
    expect(page.digits('data[0].previous_invoice.total')).toBe('5');
    expect(page.digits('data[0].previous_invoice.change')).toBe('-2.685');
    const draft = await api.get(`/v1/customers/${customer}/invoices/${page.text('data[0].id')}`);
    expect(draft.at('data.previous_invoice')).toEqual(page.at('data[0].previous_invoice'));
    expect(issued.at('data[0].previous_invoice')).toBeUndefined();
  });

  test('the comparison with the invoice before leaves out a voided invoice, and continues with the contract that was renewed', async () => {
    const customer = customers[2] ?? '';
    const renewal = await createdId(api, '/v1/contracts/create', {
      customer_id: customer,
      rate_card_id: catalogue.rateCardId,
      starting_at: '2026-12-08T00:00:00Z',
      transition: { from_contract_id: contracts[2], type: 'RENEWAL' },
    });
    const ofRenewal = async () =>
      (await api.get('/v1/invoices', { query: { status: 'DRAFT', contract_id: renewal } })).at(
        'data[0].previous_invoice.id',
      );
    // The contract that was renewed ends with a week of December, which is finalized too.
    const finalized = async () =>
      (await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'FINALIZED' } }))
        .list('data')
        .map((one) => one as { readonly id: string; readonly start_timestamp: string });
    await expect.poll(async () => (await finalized()).length).toBe(2);
    const ids = new Map(
      (await finalized()).map(({ start_timestamp, id }) => [start_timestamp.slice(0, 7), id]),
    );
    for (const month of ['2026-12', '2026-11']) {
      expect(await ofRenewal()).toBe(ids.get(month));
      await api.post('/v1/invoices/void', { id: ids.get(month) });
    }
    expect(await ofRenewal()).toBeUndefined();
  });
});
