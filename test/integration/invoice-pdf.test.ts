/** Invoices as PDF, over HTTP and with the official client (docs/reference/exports.md). */
import Metronome from '@metronome/sdk';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { addKey, setValues } from '../support/custom-fields.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { readPdf } from '../support/pdf.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const seller = {
  name: 'Tally Ltd',
  address: ['1 High Street', 'London'],
  taxId: 'GB123',
  email: 'billing@tally.example',
  note: ['IBAN GB00 0000'],
};
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z', seller });
const REGIONS = Array.from({ length: 500 }, (_, index) => `region-${String(index).padStart(3, '0')}x`);

let client: Metronome;
let scenario: Scenario;
let contractId: string;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
  scenario = await createScenario(service.api, { alias: 'pdf' });
  await createCalls();
  contractId = await createdId(service.api, '/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    net_payment_terms_days: 14,
  });
  for (const key of ['billing_address', 'tax_id']) await addKey(service.api, 'customer', key);
  await setValues(service.api, 'customer', scenario.customerId, {
    billing_address: 'ul. Piotrkowska 1\n90-001 Łódź',
    tax_id: 'PL1',
  });
  const events = REGIONS.map((region, index) =>
    completion('pdf', { id: `pdf-${index}`, at: '2026-11-05T00:00:00Z', tokens: 1, region }),
  );
  for (let from = 0; from < events.length; from += 100) {
    await service.api.post('/v1/ingest', events.slice(from, from + 100));
  }
});

/** A product with a line per region, at 1.5 cents a call. */
async function createCalls(): Promise<void> {
  const metricId = await createdId(service.api, '/v1/billable-metrics/create', {
    name: 'Calls',
    event_type_filter: { in_values: ['completion'] },
    property_filters: [{ name: 'region', exists: true }],
    aggregation_type: 'COUNT',
    group_keys: [['region']],
  });
  const productId = await createdId(service.api, '/v1/contract-pricing/products/create', {
    name: 'Calls',
    type: 'USAGE',
    billable_metric_id: metricId,
    presentation_group_key: ['region'],
  });
  await service.api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: scenario.rateCardId,
    rates: [
      {
        product_id: productId,
        starting_at: '2026-01-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 1.5,
      },
    ],
  });
}

async function invoiceOf(contract: string, status: string) {
  const { data } = await client.v1.customers.invoices.list({ customer_id: scenario.customerId });
  const found = data.find((one) => one.contract_id === contract && one.status === status);
  if (found === undefined) throw new Error(`no ${status} invoice`);
  return found;
}

async function pdfOf(invoiceId: string) {
  const response = await client.v1.customers.invoices.retrievePdf({
    customer_id: scenario.customerId,
    invoice_id: invoiceId,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { response, bytes, ...(await readPdf(bytes)) };
}

test('a draft is marked as one', async () => {
  const draft = await invoiceOf(contractId, 'DRAFT');
  const { pages, response } = await pdfOf(draft.id);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('content-disposition')).toBe(`inline; filename="draft-${draft.id}.pdf"`);
  for (const page of pages) expect(page).toContain('DRAFT');
  expect(pages[0]).toContain('assigned when it is issued');
});

describe('a finalized invoice', () => {
  beforeAll(() => service.moveClock('2026-12-10T00:00:00Z'));

  test('a finalized invoice has parties, dates, number, all 500 lines and the amount due', async () => {
    const invoice = await invoiceOf(contractId, 'FINALIZED');
    const { pages, response } = await pdfOf(invoice.id);
    const [first = ''] = pages;
    const number = /INV-2026-00000[12]/.exec(first)?.[0];
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="${number}.pdf"`);
    for (const text of [...seller.address, 'Tally Ltd', 'Tax ID GB123', 'billing@tally.example']) {
      expect(first).toContain(text);
    }
    for (const text of ['Bill to pdf', 'ul. Piotrkowska 1', '90-001 Łódź', 'Tax ID PL1'])
      expect(first).toContain(text);
    for (const text of [
      'Issue date 2 Dec 2026',
      'Due date 16 Dec 2026',
      'Billing period 1 Nov – 30 Nov 2026',
    ]) {
      expect(first).toContain(text);
    }
    const all = pages.join(' ');
    for (const region of REGIONS) expect(all).toContain(`region: ${region}`);
    expect(all).not.toContain('DRAFT');
    // 500 calls at 1.5 cents and 500 requests at 2 cents.
    expect(invoice.total).toBe(1750);
    expect(all).toContain('Amount due 17.50 USD');
    expect(all).toContain('IBAN GB00 0000');
    for (const [index, page] of pages.entries())
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
  });

  test('a finalized invoice has the same bytes every time', async () => {
    const { id } = await invoiceOf(contractId, 'FINALIZED');
    expect(Buffer.compare((await pdfOf(id)).bytes, (await pdfOf(id)).bytes)).toBe(0);
  });

  test('a finalized invoice is not handed out before it has its number', async () => {
    const { id } = await invoiceOf(scenario.contractId, 'FINALIZED');
    await service.db.execute(sql`
      create table kept as select * from invoice_numbers where invoice_id = ${id};`);
    await service.db.execute(sql`delete from invoice_numbers where invoice_id = ${id}`);
    const path = `/v1/customers/${scenario.customerId}/invoices/${id}/pdf`;
    const answer = await service.api.send('GET', path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    await service.db.execute(sql`insert into invoice_numbers select * from kept`);
    expect((await pdfOf(id)).pages[0]).toContain('INV-2026-00000');
  });

  test('a finalized invoice is marked when it is voided, and keeps its number', async () => {
    const { id } = await invoiceOf(contractId, 'FINALIZED');
    const before = (await pdfOf(id)).pages[0]?.match(/INV-\d+-\d+/)?.[0];
    await service.api.post('/v1/contracts/archive', {
      customer_id: scenario.customerId,
      contract_id: contractId,
      void_invoices: true,
    });
    const { pages } = await pdfOf(id);
    for (const page of pages) expect(page).toContain('VOID');
    expect(pages[0]).toContain(before);
    expect(pages.at(-1)).toContain('Void, not payable 17.50 USD');
  });
});

test('an unknown invoice is answered with 404 in JSON', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const path of [`${scenario.customerId}/invoices/${unknown}`, `${unknown}/invoices/${unknown}`]) {
    const answer = await service.api.send('GET', `/v1/customers/${path}/pdf`);
    expect(answer.status).toBe(404);
  }
});
