/** Invoices reach any other system, once, by a signed message. */
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { signatureHeaders } from '../../src/notifications/webhooks/signature.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type ReceiverFault, startInvoiceReceiver } from '../support/invoice-receiver.ts';
import { createKiller } from '../support/stripe/delivery-schedules.ts';

const receiver = await startInvoiceReceiver();
const killer = createKiller();
const service = await serviceForFile({
  usage: 'naive',
  sandboxNow: '2026-03-10T00:00:00Z',
  deliveryHooks: { betweenSteps: killer.betweenSteps, leaseMs: 2_000 },
  log: pino({ level: 'silent' }),
});
const { api } = service;
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const provider = { billing_provider: 'custom', delivery_method: 'webhook' };
const configured = { ...provider, configuration: { url: receiver.url, signing_secret: SECRET } };
const product = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
let minutes = 0;
let bills = 0;

async function later(by: number): Promise<void> {
  minutes += by;
  await service.moveClock(Date.UTC(2026, 2, 10) + minutes * 60_000);
}

async function customerOf(configuration: object = configured): Promise<string> {
  return createdId(api, '/v1/customers', {
    name: 'Acme',
    customer_billing_provider_configurations: [configuration],
  });
}

/** An invoice of 12.34 dollars of this customer, issued now; its id. */
async function bill(customer_id: string, contract: object = { billing_provider_configuration: provider }) {
  bills += 1;
  const timestamp = new Date(Date.UTC(2026, 1, 1) + bills * 60_000).toISOString();
  await createdId(api, '/v1/contracts/create', {
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
    scheduled_charges: [
      { product_id: product, schedule: { schedule_items: [{ timestamp, amount: 1_234 }] } },
    ],
    ...contract,
  });
  await later(1);
  const list = await api.get(`/v1/customers/${customer_id}/invoices`);
  return list.text('data[0].id');
}

async function externalOf(customer: string, id: string) {
  const { body } = await api.get(`/v1/customers/${customer}/invoices/${id}`);
  return (body as { data: { external_invoice: Record<string, unknown> | null } }).data.external_invoice;
}

async function eventually(customer: string, id: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect(await externalOf(customer, id)).toMatchObject(expected), {
    timeout: 20_000,
  });
}

const sentOf = (id: string) => receiver.messages.filter(({ invoice }) => invoice?.id === id);

function once(fault: ReceiverFault): void {
  let isDone = false;
  receiver.misbehave = () => {
    if (isDone) return null;
    isDone = true;
    return fault;
  };
}

beforeEach(() => {
  receiver.misbehave = () => null;
  receiver.answers = {};
  receiver.onTaken = async () => {};
  killer.begin([]);
});

afterAll(() => receiver.close());

test('the whole invoice is sent, signed, and what is answered is on it', async () => {
  receiver.answers = { number: 'NS-17', status: 'FINALIZED', pdf_url: 'https://erp.example/17.pdf' };
  const customer = await customerOf();
  const id = await bill(customer);
  await eventually(customer, id, {
    billing_provider_type: 'custom',
    external_status: 'FINALIZED',
    invoice_number: 'NS-17',
    pdf_url: 'https://erp.example/17.pdf',
    invoice_id: expect.stringMatching(/^ext-/),
    invoiced_total: 1_234,
  });
  const [sent] = sentOf(id);
  expect(sent).toMatchObject({ type: 'invoice.finalized' });
  const shown = await api.get(`/v1/customers/${customer}/invoices/${id}`);
  const { external_invoice: _, ...invoice } = (shown.body as { data: Record<string, unknown> }).data;
  expect(sent?.invoice).toMatchObject(
    JSON.parse(JSON.stringify({ id, line_items: invoice.line_items, total: 1_234 })),
  );
  const at = Number(sent?.headers['webhook-timestamp']) * 1_000;
  const expected = signatureHeaders([SECRET], { id: sent?.id ?? '', body: sent?.body ?? '' }, at);
  expect(sent?.headers['webhook-signature']).toBe(expected['webhook-signature']);
  expect(sent?.headers['webhook-id']).toBe(sent?.id);
});

test('a credit note is sent once, signed, after its invoice, and is not voided then', async () => {
  const customer = await customerOf();
  receiver.misbehave = () => 503;
  const id = await bill(customer);
  const { body } = await api.get(`/v1/customers/${customer}/invoices/${id}`);
  const [line] = (body as { data: { line_items: { id: string }[] } }).data.line_items;
  const lines = [{ line_item_id: line?.id, amount: 200 }];
  const settlement = 'offset_unpaid';
  const note = await createdId(api, '/v1/invoices/creditNotes/create', {
    ...{ invoice_id: id, reason: 'duplicate', lines, settlement },
  });
  const shown = async () => (await api.get(`/v1/invoices/creditNotes/${note}`)).body as { data: object };
  expect(await shown()).toMatchObject({ data: { external_credit_note: { external_status: 'QUEUED' } } });
  receiver.answers = { number: 'CR-4', pdf_url: 'https://erp.example/4.pdf' };
  receiver.misbehave = () => null;
  // Its answer is lost once, after the invoice has arrived.
  receiver.onTaken = async ({ type }) => {
    if (type === 'invoice.finalized') once('lost');
  };
  await vi.waitFor(
    async () => {
      await later(20);
      expect(await shown()).toMatchObject({
        data: {
          external_credit_note: {
            ...{ billing_provider_type: 'custom', external_status: 'ISSUED', total: 200 },
            ...{ credit_note_number: 'CR-4', pdf_url: 'https://erp.example/4.pdf' },
            credit_note_id: expect.stringMatching(/^ext-/),
          },
        },
      });
    },
    { timeout: 20_000, interval: 200 },
  );
  const sent = receiver.messages.filter(({ body: text }) => text.includes(note));
  expect(sent.map(({ type }) => type)).toEqual(['credit_note.issued', 'credit_note.issued']);
  expect(new Set(sent.map((message) => message.id)).size).toBe(1);
  expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
    credit_note: { id: note, invoice_id: id, offset_amount: 200, lines: [{ amount: 200 }] },
  });
  const at = Number(sent[0]?.headers['webhook-timestamp']) * 1_000;
  const expected = signatureHeaders([SECRET], { id: sent[0]?.id ?? '', body: sent[0]?.body ?? '' }, at);
  expect(sent[0]?.headers['webhook-signature']).toBe(expected['webhook-signature']);
  expect((await api.send('POST', '/v1/invoices/creditNotes/void', { id: note })).status).toBe(409);
});

test('a later message of the receiver is on the invoice, also while the invoice is on its way to it', async () => {
  const customer = await customerOf();
  const id = await bill(customer);
  await eventually(customer, id, { external_status: 'SENT' });
  const told = {
    invoice_id: id,
    external_status: 'PAID',
    paid_at: '2026-03-11T00:00:00Z',
    external_payment_id: 'pay-1',
  };
  await api.post('/v1/providers/custom/invoices/update', told);
  await eventually(customer, id, { external_status: 'PAID', external_payment_id: 'pay-1' });
  await later(70);
  await eventually(customer, id, { external_status: 'PAID' });
  // It pays before it answers.
  receiver.onTaken = async ({ invoice }) => {
    if (invoice === undefined) throw new Error('it is a credit note');
    receiver.onTaken = async () => {};
    await api.post('/v1/providers/custom/invoices/update', {
      invoice_id: invoice.id,
      external_status: 'PAID',
    });
  };
  const second = await customerOf();
  const paid = await bill(second);
  await eventually(second, paid, { external_status: 'PAID', invoice_id: expect.stringMatching(/^ext-/) });
  await later(70);
  expect(await externalOf(second, paid)).toMatchObject({ external_status: 'PAID' });
});

describe('exactly once', () => {
  test.each(['lost', 'cut', 500, 429, 503] as const)(
    'a delivery arrives exactly once after: %s',
    async (fault) => {
      once(fault);
      const customer = await customerOf();
      const id = await bill(customer);
      await later(20);
      await eventually(customer, id, { external_status: 'SENT' });
      expect(new Set(sentOf(id).map((message) => message.id)).size).toBe(1);
      expect(await externalOf(customer, id)).toMatchObject({
        invoice_id: receiver.invoices.get(sentOf(id)[0]?.id ?? '')?.externalId,
      });
    },
  );

  test('a delivery arrives exactly once wherever the process is killed', async () => {
    for (let step = 1; step <= 6; step += 1) {
      killer.begin([step]);
      const customer = await customerOf();
      const id = await bill(customer);
      await later(5);
      await eventually(customer, id, { external_status: 'SENT' });
      expect(new Set(sentOf(id).map((message) => message.id)).size).toBe(1);
    }
  });

  test('a void is sent, with a separate id', async () => {
    const customer = await customerOf();
    const id = await bill(customer);
    await eventually(customer, id, { external_status: 'SENT' });
    await api.post('/v1/invoices/void', { id });
    await eventually(customer, id, { external_status: 'VOID' });
    expect(sentOf(id).map(({ type }) => type)).toEqual(['invoice.finalized', 'invoice.voided']);
    expect(new Set(sentOf(id).map((message) => message.id)).size).toBe(2);
  });
});

test('a refused invoice is reported, and delivered when its cause is corrected; an answer without an id, or with a PDF at no link, is refused', async () => {
  receiver.misbehave = () => 422;
  const customer = await customerOf();
  const id = await bill(customer);
  await eventually(customer, id, {
    external_status: 'INVALID_REQUEST_ERROR',
    billing_provider_error: expect.stringContaining('422'),
  });
  receiver.misbehave = () => null;
  receiver.answers = { external_id: '' };
  await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
  await eventually(customer, id, {
    external_status: 'INVALID_REQUEST_ERROR',
    billing_provider_error: expect.stringContaining('external_id'),
  });
  for (const pdf_url of ['javascript:alert(1)', 'https://erp.example/\u0000']) {
    receiver.answers = { pdf_url };
    await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
    await eventually(customer, id, {
      external_status: 'INVALID_REQUEST_ERROR',
      billing_provider_error: expect.stringContaining('pdf_url'),
    });
  }
  receiver.answers = {};
  await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
  await eventually(customer, id, { external_status: 'SENT' });
  const told = { invoice_id: id, pdf_url: 'javascript:alert(1)' };
  const refused = await api.send('POST', '/v1/providers/custom/invoices/update', told);
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toContain('pdf_url');
  expect(await externalOf(customer, id)).not.toHaveProperty('pdf_url');
  expect(new Set(sentOf(id).map((message) => message.id)).size).toBe(1);
});

test('contracts and packages name it as any other provider', async () => {
  const customer = await customerOf();
  const listed = await api.post('/v1/getCustomerBillingProviderConfigurations', { customer_id: customer });
  expect(listed.body).toMatchObject({ data: [{ ...provider, configuration: { url: receiver.url } }] });
  expect(JSON.stringify(listed.body)).not.toContain('whsec_');
  const byId = await bill(customer, {
    billing_provider_configuration: { billing_provider_configuration_id: listed.text('data[0].id') },
  });
  await eventually(customer, byId, { external_status: 'SENT' });
  const package_id = await createdId(api, '/v1/packages/create', {
    name: 'Start',
    billing_provider: 'custom',
    delivery_method: 'webhook',
    scheduled_charges: [
      {
        product_id: product,
        schedule: {
          schedule_items: [{ date_offset: { unit: 'DAYS', value: 0 }, unit_price: 100, quantity: 1 }],
        },
      },
    ],
  });
  const other = await customerOf();
  await createdId(api, '/v1/contracts/create', {
    customer_id: other,
    package_id,
    starting_at: '2026-02-01T00:00:00Z',
  });
  await later(1);
  const { body } = await api.get(`/v1/customers/${other}/invoices`);
  const [invoice] = (body as { data: { id: string }[] }).data;
  await eventually(other, invoice?.id ?? '', { external_status: 'SENT' });
});

test.each([
  [{ ...provider }, 'configuration.url'],
  [{ ...provider, configuration: { url: 'ftp://x', signing_secret: SECRET } }, 'configuration.url'],
  [
    { ...provider, configuration: { url: 'https://a:b@x.example', signing_secret: SECRET } },
    'configuration.url',
  ],
  [{ ...provider, configuration: { url: receiver.url } }, 'configuration.signing_secret'],
  [
    { ...provider, configuration: { url: receiver.url, signing_secret: 'short' } },
    'configuration.signing_secret',
  ],
  [{ ...configured, billing_provider: 'stripe' }, 'delivery_method'],
  ...[
    { leave_stripe_invoices_in_draft: 'yes' },
    { invoice_layout: 'pretty' },
    { effective_at: 'tomorrow' },
    { automatic_tax: 1 },
    { skip_zero_dollar_invoices: 'no' },
    { skip_invoices_below_minimum: 0 },
    { use_invoice_number: 'ours' },
  ].map((configuration): [object, string] => [
    { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider', configuration },
    `configuration.${Object.keys(configuration)[0]}`,
  ]),
])('the configuration %j is refused, naming %s, and nothing is stored', async (wrong, member) => {
  const customer_id = await createdId(api, '/v1/customers', { name: 'Acme' });
  const refused = await api.send('POST', '/v1/setCustomerBillingProviderConfigurations', {
    data: [{ customer_id, ...wrong }],
  });
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toContain(member);
  const kept = await api.post('/v1/getCustomerBillingProviderConfigurations', { customer_id });
  expect(kept.list('data')).toEqual([]);
});

test.each([true, false])(
  'a payment that another system reports before the void: %s, or after it, is not collected again',
  async (isBefore) => {
    const customer = await customerOf();
    const id = await bill(customer);
    await eventually(customer, id, { external_status: 'SENT' });
    const paid = { invoice_id: id, external_status: 'PAID', paid_at: '2026-03-10T00:00:00Z' };
    if (isBefore) await api.post('/v1/providers/custom/invoices/update', paid);
    await api.post('/v1/invoices/void', { id });
    await eventually(customer, id, { external_status: 'VOID' });
    if (!isBefore) await api.post('/v1/providers/custom/invoices/update', paid);
    expect(await externalOf(customer, id)).toMatchObject({ refund_due: true });
    expect((await api.send('POST', '/v1/invoices/regenerate', { id })).status).toBe(409);
  },
);
