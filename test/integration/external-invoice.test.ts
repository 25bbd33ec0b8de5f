/** The state of an invoice at Stripe is the same wherever the invoice is read: lists, CSV, SQL, webhooks and PDF. */
import { afterAll, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { readPdf } from '../support/pdf.ts';
import { billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) });
const { api, url, token } = service;
const receiver = await startWebhookReceiver();
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });

afterAll(async () => {
  await receiver.close();
  await stripe.close();
});

type External = Record<string, unknown> & { tax?: Record<string, unknown> };
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as External;

test('a paid invoice with tax has all of it, everywhere', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer(), {
    configuration: { automatic_tax: true },
  });
  const id = await customer.bill(1_000);
  const [there] = stripe.state.liveOf(id);
  if (there === undefined) throw new Error('it is there');
  stripe.state.collect(there.id);
  await stripe.deliver(`${url}/v1/providers/stripe/webhook/default`, stripe.state.events.slice(-1));
  const read = async () => {
    const { body } = await customer.invoice(id);
    return plain((body as { data: { external_invoice: External } }).data.external_invoice);
  };
  await vi.waitFor(async () => expect((await read()).external_status).toBe('PAID'), { timeout: 20_000 });
  const external = await read();
  expect(external).toEqual({
    billing_provider_type: 'stripe',
    invoice_id: there.id,
    invoice_number: there.number,
    issued_at_timestamp: new Date((there.finalizedAt ?? 0) * 1_000).toISOString(),
    paid_at: new Date((there.paidAt ?? 0) * 1_000).toISOString(),
    external_status: 'PAID',
    pdf_url: `https://pay.example/${there.id}/pdf`,
    payment_url: `https://invoice.example/${there.id}`,
    tax: { total_tax_amount: 100, total_taxable_amount: 1_000 },
    invoiced_sub_total: 1_000,
    invoiced_total: 1_100,
    amount_paid: 1_100,
    external_payment_id: there.intent,
  });

  for (const list of [`/v1/customers/${customer.customerId}/invoices`, '/v1/invoices?external_status=PAID']) {
    const { body } = await api.get(list);
    const found = (body as { data: { id: string; external_invoice: External }[] }).data.find(
      (one) => one.id === id,
    );
    expect(plain(found?.external_invoice), list).toEqual(external);
  }

  const expectedCells = {
    billing_provider: 'stripe',
    external_invoice_id: there.id,
    external_status: 'PAID',
    external_issued_at: external.issued_at_timestamp,
    external_paid_at: external.paid_at,
    external_payment_id: there.intent,
    external_pdf_url: external.pdf_url,
    tax_transaction_id: '',
    billing_provider_error: '',
  };
  const csv = await api.get(`/v1/customers/${customer.customerId}/invoices/${id}`, {
    headers: { accept: 'text/csv' },
  });
  const [row] = csvRows(csv.body);
  expect(row).toMatchObject(expectedCells);
  expect(
    [row?.invoiced_sub_total, row?.invoiced_total, row?.invoiced_tax, row?.invoiced_taxable].map(Number),
  ).toEqual([1_000, 1_100, 100, 1_000]);

  const report = await api.post('/v1/sql', {
    sql: `SELECT billing_provider, external_invoice_id, external_status, external_issued_at, external_paid_at,
            external_payment_id, external_pdf_url, invoiced_sub_total, invoiced_total, invoiced_tax, invoiced_taxable
          FROM invoices WHERE invoice_id = '${id}'`,
  });
  const reported = plain(report.list('data')[0]);
  expect(reported).toMatchObject({
    billing_provider: 'stripe',
    external_invoice_id: there.id,
    external_status: 'PAID',
    external_payment_id: there.intent,
    external_pdf_url: external.pdf_url,
    invoiced_sub_total: 1_000,
    invoiced_total: 1_100,
    invoiced_tax: 100,
    invoiced_taxable: 1_000,
  });
  const instants = [reported.external_issued_at, reported.external_paid_at].map(
    (at) => Date.parse(String(at)) / 1_000,
  );
  expect(instants).toEqual([there.finalizedAt, there.paidAt]);

  const told = () =>
    receiver.received.filter(({ message }) => message.type === 'invoice.external_status_changed');
  await vi.waitFor(
    () =>
      expect(told().map(({ message }) => JSON.stringify(message.properties))).toContainEqual(
        expect.stringContaining('"PAID"'),
      ),
    { timeout: 20_000 },
  );
  const last = told().findLast(({ message }) => JSON.stringify(message.properties).includes('"PAID"'));
  const { external_invoice, ...about } = plain(last?.message.properties);
  expect(about).toMatchObject({
    invoice_id: id,
    customer_id: customer.customerId,
    billing_provider: 'stripe',
  });
  expect(external_invoice).toEqual(external);

  const answer = await fetch(`${url}/v1/customers/${customer.customerId}/invoices/${id}/pdf`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { pages } = await readPdf(new Uint8Array(await answer.arrayBuffer()));
  const day = (there.paidAt ?? 0) * 1_000;
  expect(pages.join(' ')).toMatch(/Paid on/);
  expect(pages.join(' ')).toContain(new Date(day).toISOString().slice(0, 4));
});

test('an invoice that goes nowhere has none', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  await api.post('/v1/customers/setBillableStatus', {
    customer_id: customer.customerId,
    billable_status: 'unbillable',
  });
  const id = await customer.bill(500);
  const { body } = await customer.invoice(id);
  expect(plain((body as { data: object }).data)).toMatchObject({ external_invoice: null });
});
