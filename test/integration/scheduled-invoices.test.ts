/** Scheduled charges and commit purchases: on separate invoices, or on the usage invoice of their day. */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const fee = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Platform fee',
  type: 'FIXED',
});
const setup = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Set-up', type: 'FIXED' });

let customer = '';
let people = 0;
beforeEach(async () => {
  people += 1;
  customer = await createdId(api, '/v1/customers', { name: `Customer ${people}` });
});

const now = () => api.get('/v1/sandbox/clock').then((answer) => answer.text('data.now'));
/** The jobs that are due without a move of the clock are done. */
const settle = async () => service.moveClock(await now());

function contractWith(terms: object): Promise<string> {
  return createdId(api, '/v1/contracts/create', {
    customer_id: customer,
    starting_at: '2026-01-01T00:00:00Z',
    ...terms,
  });
}

const at = (timestamp: string, amount: number) => ({ timestamp, amount });
const charge = (items: readonly object[], change: object = {}) => ({
  product_id: fee,
  schedule: { schedule_items: items },
  ...change,
});

interface Shown {
  readonly id: string;
  readonly text: string;
}

/** `2026-02-01 DRAFT 500: Platform fee 1 × 500 = 500` */
async function invoices(query = ''): Promise<Shown[]> {
  const answer = await api.get(`/v1/customers/${customer}/invoices?limit=100${query}`);
  return answer.list('data').map((_, index) => {
    const one = `data[${index}]`;
    const lines = answer.list(`${one}.line_items`).map((_line, position) => {
      const line = `${one}.line_items[${position}]`;
      const [quantity, price, total] = ['quantity', 'unit_price', 'total'].map((name) =>
        answer.digits(`${line}.${name}`),
      );
      return `${answer.text(`${line}.name`)} ${quantity} × ${price} = ${total}`;
    });
    const day = answer.text(`${one}.issued_at`).slice(0, 10);
    const head = `${day} ${answer.text(`${one}.status`)} ${answer.digits(`${one}.total`)}`;
    return { id: answer.text(`${one}.id`), text: [head, lines.join(', ')].join(': ') };
  });
}
const texts = async (query?: string) => (await invoices(query)).map(({ text }) => text);

describe('a scheduled charge', () => {
  test('a scheduled charge is a draft from the moment its schedule exists, and is issued on its date under the same id', async () => {
    await contractWith({
      net_payment_terms_days: 30,
      scheduled_charges: [
        charge([], {
          name: 'Fee of the month',
          schedule: {
            recurring_schedule: {
              starting_at: '2026-02-01T00:00:00Z',
              ending_before: '2026-05-01T00:00:00Z',
              frequency: 'MONTHLY',
              amount_distribution: 'DIVIDED_ROUNDED',
              unit_price: 100,
              quantity: 2,
            },
          },
        }),
      ],
    });
    const drafts = await invoices();
    expect(drafts.map(({ text }) => text)).toEqual([
      '2026-02-01 DRAFT 66: Fee of the month 2 × 33 = 66',
      '2026-03-01 DRAFT 66: Fee of the month 2 × 33 = 66',
      '2026-04-01 DRAFT 68: Fee of the month 2 × 34 = 68',
    ]);
    await service.moveClock('2026-03-01T00:00:00Z');
    const later = await invoices();
    expect(later.map(({ text }) => text.slice(0, 20))).toEqual([
      '2026-02-01 FINALIZED',
      '2026-03-01 FINALIZED',
      '2026-04-01 DRAFT 68:',
    ]);
    expect(later.map(({ id }) => id)).toEqual(drafts.map(({ id }) => id));
    const one = await api.get(`/v1/customers/${customer}/invoices/${later[0]?.id}`);
    expect(one.body).toMatchObject({
      data: {
        type: 'SCHEDULED',
        net_payment_terms_days: 30,
        line_items: [
          {
            type: 'scheduled',
            product_type: 'FixedProductListItem',
            product_id: fee,
            scheduled_charge_id: expect.any(String),
          },
        ],
      },
    });
    expect(Object.keys(one.body && Object(one.body).data)).not.toContain('start_timestamp');
  });

  test('a scheduled charge of the past is issued at once, each date on a separate invoice', async () => {
    await contractWith({
      scheduled_charges: [charge([at('2026-01-02T00:00:00Z', 10), at('2026-01-03T12:00:00Z', 20)])],
    });
    await settle();
    expect(await texts()).toEqual([
      '2026-01-02 FINALIZED 10: Platform fee 1 × 10 = 10',
      '2026-01-03 FINALIZED 20: Platform fee 1 × 20 = 20',
    ]);
  });

  test('shares the invoice of its date and currency with other charges and with commit purchases', async () => {
    await contractWith({
      scheduled_charges: [
        charge([at('2027-02-01T00:00:00Z', 10)]),
        charge([at('2027-02-01T00:00:00Z', 5)], { product_id: setup }),
      ],
      commits: [
        {
          type: 'PREPAID',
          product_id: fee,
          name: 'Commit',
          access_schedule: {
            schedule_items: [
              { amount: 900, starting_at: '2026-02-01T00:00:00Z', ending_before: '2028-02-01T00:00:00Z' },
            ],
          },
          invoice_schedule: {
            schedule_items: [at('2027-02-01T00:00:00Z', 800), at('2027-02-01T01:00:00Z', 1)],
          },
        },
      ],
    });
    expect(await texts('&type=SCHEDULED')).toEqual([
      '2027-02-01 DRAFT 815: Platform fee 1 × 10 = 10, Set-up 1 × 5 = 5, Commit 1 × 800 = 800',
      '2027-02-01 DRAFT 1: Commit 1 × 1 = 1',
    ]);
    expect(await texts('&type=USAGE')).toEqual([]);
  });

  test('a scheduled charge joins the usage invoice of the period that ends on its day where the contract says so', async () => {
    const scenario = await createScenario(api, { alias: `u${people}` });
    customer = scenario.customerId;
    await contractWith({
      rate_card_id: scenario.rateCardId,
      starting_at: '2026-06-01T00:00:00Z',
      scheduled_charges_on_usage_invoices: 'ALL',
      scheduled_charges: [
        charge([at('2026-06-01T00:00:00Z', 1), at('2026-07-01T09:00:00Z', 2), at('2026-07-15T00:00:00Z', 4)]),
      ],
    });
    await service.moveClock('2026-06-20T00:00:00Z');
    await api.post('/v1/ingest', [
      completion(`u${people}`, { id: `u${people}`, at: '2026-06-19T10:00:00Z', tokens: 100 }),
    ]);
    const own = (text: string) => text.includes('Platform fee');
    const draft = (await invoices('&type=USAGE')).find(({ text }) => own(text));
    expect(draft?.text).toContain('Platform fee 1 × 2 = 2');
    expect((await texts('&type=SCHEDULED')).filter(own)).toEqual([
      '2026-06-01 FINALIZED 1: Platform fee 1 × 1 = 1',
      '2026-07-15 DRAFT 4: Platform fee 1 × 4 = 4',
    ]);
    await service.moveClock('2026-07-03T00:00:00Z');
    const issued = (await invoices('&type=USAGE&status=FINALIZED')).find(({ id }) => id === draft?.id);
    expect(issued?.text.replace('FINALIZED', 'DRAFT')).toBe(draft?.text);
    const days = await api.get(
      `/v1/customers/${customer}/invoices/breakdowns?window_size=DAY&starting_on=2026-06-01T00:00:00Z&ending_before=2026-07-01T00:00:00Z`,
    );
    const charged = days
      .list('data')
      .map((day) => Object(day))
      .filter(
        ({ id, line_items }) =>
          id === draft?.id && line_items.some((line: { name: string }) => line.name === 'Platform fee'),
      );
    expect(charged.map(({ breakdown_start_timestamp }) => breakdown_start_timestamp)).toEqual([
      '2026-06-30T00:00:00.000Z',
    ]);
  });

  test('a scheduled charge is in the breakdown of its day', async () => {
    await contractWith({ scheduled_charges: [charge([at('2027-03-05T10:00:00Z', 7)])] });
    const range = 'starting_on=2027-03-01T00:00:00Z&ending_before=2027-04-01T00:00:00Z';
    const drafts = await api.get(`/v1/customers/${customer}/invoices/breakdowns?window_size=DAY&${range}`);
    expect(drafts.body).toMatchObject({
      data: [
        {
          type: 'SCHEDULED',
          total: expect.anything(),
          breakdown_start_timestamp: '2027-03-05T00:00:00.000Z',
        },
      ],
    });
  });
});

describe('changes of a contract', () => {
  test('change drafts only: what is on an issued invoice is neither changed, removed nor archived', async () => {
    const contract = await contractWith({
      scheduled_charges: [charge([at('2026-01-05T00:00:00Z', 10), at('2027-06-01T00:00:00Z', 20)])],
    });
    await settle();
    const read = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
    const id = read.text('data.scheduled_charges[0].id');
    const [paid, open] = [0, 1].map((index) =>
      read.text(`data.scheduled_charges[0].schedule.schedule_items[${index}].id`),
    );
    const edit = (change: object) =>
      api.send('POST', '/v2/contracts/edit', { customer_id: customer, contract_id: contract, ...change });
    const items = (change: object) => ({
      update_scheduled_charges: [{ scheduled_charge_id: id, invoice_schedule: change }],
    });
    const before = await invoices();
    for (const change of [
      items({ update_schedule_items: [{ id: paid, amount: 11 }] }),
      items({ remove_schedule_items: [{ id: paid }] }),
      { archive_scheduled_charges: [{ id }] },
    ]) {
      const refused = await edit(change);
      expect(refused.status).toBe(400);
      expect(refused.text('message')).toContain(`is on invoice ${before[0]?.id}, which is finalized`);
    }
    expect(await invoices()).toEqual(before);
    expect((await edit(items({ update_schedule_items: [{ id: open, amount: 21 }] }))).status).toBe(200);
    expect(await texts()).toEqual([
      '2026-01-05 FINALIZED 10: Platform fee 1 × 10 = 10',
      '2027-06-01 DRAFT 21: Platform fee 1 × 21 = 21',
    ]);
  });

  test('changes of a contract that add a charge at a date whose invoice is issued make a further invoice of that date', async () => {
    const contract = await contractWith({ scheduled_charges: [charge([at('2026-01-05T00:00:00Z', 10)])] });
    await settle();
    const [first] = await invoices();
    await api.post('/v2/contracts/edit', {
      customer_id: customer,
      contract_id: contract,
      add_scheduled_charges: [charge([at('2026-01-05T00:00:00Z', 3)])],
    });
    const [draft] = (await invoices()).filter(({ id }) => id !== first?.id);
    await settle();
    const both = await invoices();
    expect(both.map(({ text }) => text).sort()).toEqual([
      '2026-01-05 FINALIZED 10: Platform fee 1 × 10 = 10',
      '2026-01-05 FINALIZED 3: Platform fee 1 × 3 = 3',
    ]);
    expect(both.map(({ id }) => id).sort()).toEqual([first?.id, draft?.id].sort());
  });

  test('changes of a contract that end it earlier remove the drafts beyond its end, and archiving removes all drafts', async () => {
    const contract = await contractWith({
      scheduled_charges: [charge([at('2027-06-01T00:00:00Z', 10), at('2027-09-01T00:00:00Z', 20)])],
    });
    await api.post('/v1/contracts/updateEndDate', {
      customer_id: customer,
      contract_id: contract,
      ending_before: '2027-08-01T00:00:00Z',
    });
    expect(await texts()).toEqual(['2027-06-01 DRAFT 10: Platform fee 1 × 10 = 10']);
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: contract,
      void_invoices: false,
    });
    expect(await texts()).toEqual([]);
  });
});

describe('an upgrade', () => {
  test('queues the invoices of contracts that an earlier version did not invoice', async () => {
    const contract = await contractWith({ scheduled_charges: [charge([at('2026-01-05T00:00:00Z', 10)])] });
    await service.db.delete(jobs).where(sql`${jobs.key} = ${contract}`);
    const migration = await readFile(
      new URL('../../drizzle/0007_scheduled_invoices.sql', import.meta.url),
      'utf8',
    );
    const [, insert = ''] = migration.split('-- Scheduled charges and purchases of earlier versions');
    await service.db.execute(sql.raw(`--${insert}`));
    await settle();
    expect(await texts()).toEqual(['2026-01-05 FINALIZED 10: Platform fee 1 × 10 = 10']);
  });
});
