/** Money that a customer has paid for an invoice that is voided here is not collected twice. */
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, invoiceId, request } from '../support/hierarchies.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  usage: 'naive',
  sandboxNow: '2026-03-10T00:00:00Z',
  ...connectedTo(stripe),
});
const { api } = service;
const hook = `${service.url}/v1/providers/stripe/webhook/default`;
let clock = Date.UTC(2026, 2, 10);

afterAll(() => stripe.close());

type External = Record<string, unknown> | null;

const externalOf = ({ body }: ApiAnswer) =>
  (body as { data: { external_invoice: External } }).data.external_invoice;

async function stateOf(customerId: string, id: string): Promise<External> {
  return externalOf(await api.get(`/v1/customers/${customerId}/invoices/${id}`));
}

async function eventually(customerId: string, id: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect(await stateOf(customerId, id)).toMatchObject(expected), {
    timeout: 20_000,
  });
}

/** Lets the time of every retry come. */
async function later(): Promise<void> {
  clock += 20 * 60_000;
  await service.moveClock(clock);
}

function there(id: string) {
  const [invoice] = stripe.state.liveOf(id);
  if (invoice === undefined) throw new Error('it is there');
  return invoice;
}

const postStatus = async (path: string, body: object) => (await api.send('POST', path, body)).status;

const due = async () =>
  (await api.get('/v1/invoices?refund_due=true&limit=100'))
    .list('data')
    .map((one) => (one as { id: string }).id);

const oneCustomer = () => billedCustomer(service, stripe.state.addCustomer());

const PAYMENTS: Record<string, (id: string) => void> = {
  'is paid': (id) => stripe.state.collect(there(id).id),
  'is paid out of band': (id) => stripe.state.markPaid(there(id)),
  'is partly paid': (id) => {
    there(id).amountPaid = 100;
    stripe.state.tell('invoice.updated', {
      id: there(id).id,
      object: 'invoice',
      metadata: there(id).metadata,
    });
  },
};

/** An invoice of 6 dollars for which its customer has paid, as the service knows. */
async function paidInvoice(customer: BilledCustomer, pay: (id: string) => void): Promise<string> {
  const id = await customer.bill(600);
  const before = stripe.state.events.length;
  pay(id);
  await stripe.deliver(hook, stripe.state.events.slice(before));
  await vi.waitFor(
    async () => expect((await stateOf(customer.customerId, id))?.external_status).toMatch(/PAID/),
    { timeout: 20_000 },
  );
  return id;
}

describe.each(Object.keys(PAYMENTS))('an invoice that %s at its provider', (name) => {
  test('a voided invoice whose customer has paid is refused to be regenerated until the payment is given back', async () => {
    const customer = await oneCustomer();
    const id = await paidInvoice(customer, PAYMENTS[name] ?? (() => {}));
    expect(await stateOf(customer.customerId, id)).not.toHaveProperty('refund_due');
    const voided = await api.post('/v1/invoices/void', { id, reason: 'ignored' });
    expect(voided.body).toMatchObject({ data: { id }, warnings: [{ code: 'refund_due' }] });
    expect(voided.headers.get('x-ignored-fields')).toBe('reason');
    const refused = await api.send('POST', '/v1/invoices/regenerate', { id });
    expect(refused.status).toBe(409);
    expect(refused.text('message')).toContain('collect_again');
    // The void at Stripe changes nothing of it.
    await later();
    expect(await stateOf(customer.customerId, id)).toMatchObject({ refund_due: true });
    expect(await due()).toContain(id);
    expect(await postStatus('/v1/invoices/regenerate', { id })).toBe(409);
    await api.post('/v1/invoices/refunded', { id });
    await api.post('/v1/invoices/refunded', { id });
    expect(await stateOf(customer.customerId, id)).not.toHaveProperty('refund_due');
    expect(await due()).not.toContain(id);
    const again = await createdId(api, '/v1/invoices/regenerate', { id });
    await eventually(customer.customerId, again, { external_status: 'FINALIZED' });
  });
});

describe('an invoice that was paid and is voided', () => {
  test('a payment is collected again where the request says so, also by several requests at once, and once', async () => {
    const customer = await oneCustomer();
    const id = await paidInvoice(customer, (paid) => stripe.state.collect(there(paid).id));
    await api.post('/v1/invoices/void', { id });
    const statuses = await Promise.all(
      [true, false, true, false].map((collect_again) =>
        postStatus('/v1/invoices/regenerate', { id, collect_again }),
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const list = await api.get(`/v1/customers/${customer.customerId}/invoices?status=FINALIZED`);
    const again = list.text('data[0].id');
    await eventually(customer.customerId, again, { external_status: 'FINALIZED' });
    expect(await stateOf(customer.customerId, id)).toMatchObject({ refund_due: true });
    // The one that was regenerated is not paid, so the next one collects nothing twice.
    await api.post('/v1/invoices/void', { id: again });
    expect(await postStatus('/v1/invoices/regenerate', { id: again })).toBe(200);
  });

  test('a payment that the service does not know of yet is not collected again by the regenerated invoice', async () => {
    const customer = await oneCustomer();
    const id = await customer.bill(600);
    stripe.state.collect(there(id).id);
    const voided = await api.post('/v1/invoices/void', { id });
    expect(voided.body).toEqual({ data: { id } });
    const again = await createdId(api, '/v1/invoices/regenerate', { id });
    await eventually(customer.customerId, again, {
      external_status: 'INVALID_REQUEST_ERROR',
      billing_provider_error: expect.stringContaining('has paid'),
    });
    expect(stripe.state.liveOf(again)).toEqual([]);
    expect(await stateOf(customer.customerId, id)).toMatchObject({ refund_due: true });
    // One that replaces the replacement would collect it just as well.
    await api.post('/v1/invoices/void', { id: again });
    expect(await postStatus('/v1/invoices/regenerate', { id: again })).toBe(409);
    await api.post('/v1/invoices/refunded', { id });
    const last = await createdId(api, '/v1/invoices/regenerate', { id: again });
    await eventually(customer.customerId, last, { external_status: 'FINALIZED' });
  });

  test('a refund is reported only of a voided invoice that was paid', async () => {
    const customer = await oneCustomer();
    const id = await customer.bill(600);
    expect(await postStatus('/v1/invoices/refunded', { id })).toBe(400);
    await api.post('/v1/invoices/void', { id });
    await eventually(customer.customerId, id, { external_status: 'VOID' });
    expect(await postStatus('/v1/invoices/refunded', { id })).toBe(400);
    expect(await postStatus('/v1/invoices/refunded', { id: customer.customerId })).toBe(404);
  });
});

test('what was paid for a consolidated invoice is collected again by neither its parts nor the one in its place', async () => {
  const stripe_customer_id = stripe.state.addCustomer();
  const provider = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
  const { parent, children } = await createHierarchy(api, {
    startingAt: '2026-03-01T00:00:00Z',
    endingBefore: '2026-04-01T00:00:00Z',
    children: { child: {} },
    customer: {
      customer_billing_provider_configurations: [{ ...provider, configuration: { stripe_customer_id } }],
    },
    parent: { billing_provider_configuration: provider },
  });
  await request(api, parent, 30, '2026-03-02T00:00:00Z');
  for (const child of Object.values(children)) await request(api, child, 50, '2026-03-03T00:00:00Z');
  clock = Date.UTC(2026, 3, 10);
  await service.moveClock(clock);
  const start = '2026-03-01';
  const whole = await invoiceId(api, parent, { type: 'USAGE_CONSOLIDATED', start });
  const part = await invoiceId(api, parent, { type: 'USAGE', start });
  await eventually(parent.customerId, whole, { external_status: 'FINALIZED' });
  stripe.state.collect(there(whole).id);
  await stripe.deliver(hook, stripe.state.events.slice(-1));
  await eventually(parent.customerId, whole, { external_status: 'PAID' });
  await api.post('/v1/invoices/void', { id: whole });
  await eventually(parent.customerId, whole, {
    billing_provider_error: expect.stringContaining('is not voided'),
  });
  await api.post('/v1/invoices/deliver', { invoice_ids: [part] });
  await eventually(parent.customerId, part, {
    external_status: 'INVALID_REQUEST_ERROR',
    billing_provider_error: expect.stringContaining('has paid'),
  });
  expect(stripe.state.liveOf(part)).toEqual([]);
  await api.post('/v1/invoices/void', { id: part });
  expect(await postStatus('/v1/invoices/regenerate', { id: part })).toBe(409);
  await api.post('/v1/invoices/refunded', { id: whole });
  expect(await postStatus('/v1/invoices/regenerate', { id: part })).toBe(200);
  expect(await postStatus('/v1/invoices/regenerate', { id: whole })).toBe(200);
});
