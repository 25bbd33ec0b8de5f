/** Charges of subscriptions, one of them in a custom unit, wherever an invoice is shown: they are the same everywhere. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { readPdf } from '../support/pdf.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-10T00:00:00Z' });
const { api } = service;

let customer: string;
let contract: string;

/** Three seats of 2,000 cents, and two licences of 50 coins, of which one is 2 cents. */
const LINES = ['Licences 100', 'Seats 6000'];
const TOTAL = '6200';

beforeAll(async () => {
  const catalogue = await createTermsCatalogue(api);
  const licences = await createdId(api, PRODUCTS, { name: 'Licences', type: 'SUBSCRIPTION' });
  await api.post(ADD_RATES, {
    rate_card_id: catalogue.card,
    rates: [
      {
        ...{ product_id: licences, billing_frequency: 'MONTHLY', rate_type: 'FLAT', price: 50 },
        ...{ starting_at: '2026-01-01T00:00:00Z', entitled: true, credit_type_id: catalogue.unit },
      },
    ],
  });
  customer = await createdId(api, '/v1/customers', { name: 'Customer', ingest_aliases: ['customer'] });
  const subscription = (product_id: string, initial_quantity: number) => ({
    subscription_rate: { billing_frequency: 'MONTHLY', product_id },
    ...{ collection_schedule: 'ARREARS', initial_quantity },
    proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
  });
  contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customer, rate_card_id: catalogue.card, starting_at: '2026-10-01T00:00:00Z' },
    usage_statement_schedule: { frequency: 'MONTHLY' },
    subscriptions: [subscription(catalogue.seats, 3), subscription(licences, 2)],
  });
});

/** `name total` of the lines of subscriptions at a place of the answer. */
function subscriptionLines(answer: ApiAnswer, path: string): string[] {
  return answer
    .list(`${path}.line_items`)
    .flatMap((_, index) => {
      const line = `${path}.line_items[${index}]`;
      const isOne = answer.at(`${line}.type`) === 'subscription';
      return isOne ? [`${answer.text(`${line}.name`)} ${answer.digits(`${line}.total`)}`] : [];
    })
    .toSorted();
}

const firstInvoice = (status: string) =>
  api.get(`/v1/customers/${customer}/invoices`, { query: { status, type: 'USAGE', limit: 1 } });

describe('of a draft', () => {
  test('charges of a subscription are on a draft', async () => {
    const draft = await firstInvoice('DRAFT');
    expect([subscriptionLines(draft, 'data[0]'), draft.digits('data[0].total')]).toEqual([LINES, TOTAL]);
  });

  test('charges of a subscription are in a preview of events', async () => {
    const answer = await api.post(`/v1/customers/${customer}/previewEvents`, {
      events: [{ event_type: 'other', properties: {} }],
    });
    expect([subscriptionLines(answer, 'data[0]'), answer.digits('data[0].total')]).toEqual([LINES, TOTAL]);
  });

  test('charges of a subscription are in a preview of a change, as the change would create them', async () => {
    const state = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
    const subscription_id = state.text('data.subscriptions[0].id');
    const quantity_updates = [{ starting_at: '2026-10-01T00:00:00Z', quantity: 5 }];
    const answer = await api.post('/v1/invoices/preview', {
      edit: {
        ...{ customer_id: customer, contract_id: contract },
        update_subscriptions: [{ subscription_id, quantity_updates }],
      },
    });
    const totals = ['current_total', 'preview_total'].map((name) =>
      answer.digits(`data[0].invoices[0].${name}`),
    );
    expect(totals).toEqual([TOTAL, '10200']);
    const draft = await firstInvoice('DRAFT');
    expect(draft.digits('data[0].total')).toBe(TOTAL);
  });
});

describe('of an issued invoice', () => {
  let invoice: string;
  beforeAll(async () => {
    await service.moveClock('2026-11-03T00:00:00Z');
    invoice = (await firstInvoice('FINALIZED')).text('data[0].id');
  });

  test.each([
    ['DAY', '2026-10-31T00:00:00Z'],
    ['HOUR', '2026-10-31T23:00:00Z'],
  ])(
    'charges of a subscription are in the last window of the breakdown of an issued invoice by %s',
    async (window_size, starting_on) => {
      const answer = await api.get(`/v1/customers/${customer}/invoices/breakdowns`, {
        query: { window_size, starting_on, ending_before: '2026-11-01T00:00:00Z', limit: 24 },
      });
      expect(answer.list('data').flatMap((_, index) => subscriptionLines(answer, `data[${index}]`))).toEqual(
        LINES,
      );
    },
  );

  test('each of them is explained', async () => {
    const answer = await api.get(`/v1/customers/${customer}/invoices/${invoice}/explain`);
    const explained = answer.list('data').flatMap((_, index) => {
      const line = `data[${index}].line_item`;
      const isOne = answer.at(`${line}.type`) === 'subscription';
      return isOne ? [`${answer.text(`${line}.name`)} ${answer.digits(`${line}.total`)}`] : [];
    });
    expect(explained.toSorted()).toEqual(LINES);
  });

  test('charges of a subscription are in the CSV and the PDF of an issued invoice', async () => {
    const csv = await api.get(`/v1/customers/${customer}/invoices`, {
      ...{ headers: { accept: 'text/csv' }, query: { status: 'FINALIZED' } },
    });
    const rows = csvRows(csv.body).filter(({ line_type }) => line_type === 'subscription');
    expect(rows.map(({ line_name, line_total }) => `${line_name} ${line_total}`).toSorted()).toEqual(LINES);
    const response = await fetch(`${service.url}/v1/customers/${customer}/invoices/${invoice}/pdf`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()));
    expect(pages.join(' ')).toMatch(/Seats.*60\.00/);
    expect(pages.join(' ')).toMatch(/Licences.*62\.00/);
  });
});
