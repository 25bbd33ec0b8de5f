/** Issued invoices reach Stripe once, to the cent, and come back paid. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { learnDefaultAccount } from '../../src/billing/billing-providers/stripe-accounts.ts';
import { type Fault, STAND_IN_KEY, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { createStripeAccounts } from '../../src/payments/accounts.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  usage: 'naive',
  sandboxNow: '2026-03-10T00:00:00Z',
  ...connectedTo(stripe),
});
const { api } = service;
const hook = `${service.url}/v1/providers/stripe/webhook/default`;
let minutes = 0;

/** Lets the time of every retry come. */
async function later(by = 20): Promise<void> {
  minutes += by;
  await service.moveClock(Date.UTC(2026, 2, 10) + minutes * 60_000);
}

const externalOf = ({ body }: ApiAnswer) =>
  (body as { data: { external_invoice: Record<string, unknown> | null } }).data.external_invoice;

async function stateOf(customer: BilledCustomer, id: string) {
  return externalOf(await customer.invoice(id));
}

async function eventually(customer: BilledCustomer, id: string, expected: Record<string, unknown>) {
  await vi.waitFor(async () => expect(await stateOf(customer, id)).toMatchObject(expected), {
    timeout: 20_000,
  });
}

function one(id: string) {
  const live = stripe.state.liveOf(id);
  expect(live).toHaveLength(1);
  const [invoice] = live;
  if (invoice === undefined) throw new Error('there is one');
  return invoice;
}

/** The next request whose operation ends so misbehaves, once. */
function once(ends: string, fault: Fault) {
  let isDone = false;
  stripe.misbehave = ({ method, path }) => {
    if (isDone || !`${method} ${path}`.endsWith(ends)) return null;
    isDone = true;
    return fault;
  };
}

afterAll(() => stripe.close());
beforeEach(() => {
  stripe.misbehave = () => null;
});

describe('an issued invoice', () => {
  test('an invoice is delivered, finalized, and its state there is on it', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(1250, 50.4, 0.4);
    const there = one(id);
    expect(there.lines.map(({ amount, description }) => [amount, description])).toEqual([
      [1250, 'Charge 1'],
      [51, 'Charge 2'],
    ]);
    expect(there).toMatchObject({ status: 'open', autoAdvance: true });
    expect(there.params).toMatchObject({ pending_invoice_items_behavior: 'exclude', auto_advance: 'false' });
    expect(there.metadata).toMatchObject({
      metronome_id: id,
      metronome_invoice_id: id,
      metronome_customer_id: customer.customerId,
    });
    expect(await stateOf(customer, id)).toMatchObject({
      billing_provider_type: 'stripe',
      invoice_id: there.id,
      external_status: 'FINALIZED',
      invoiced_sub_total: 1301,
      invoiced_total: 1301,
      pdf_url: `https://pay.example/${there.id}/pdf`,
    });
  });

  test('an issued invoice is sent where the customer pays by itself, with the days of its payment terms and our number', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer(), {
      configuration: { stripe_collection_method: 'send_invoice', use_invoice_number: true },
      contract: { net_payment_terms_days: 30 },
    });
    const id = await customer.bill(700);
    const there = one(id);
    expect(there).toMatchObject({ sent: 1, autoAdvance: true });
    expect(there.params.days_until_due).toBe('30');
    expect(there.number).toBe((await customer.invoice(id)).text('data.invoice_number'));
    expect(await stateOf(customer, id)).toMatchObject({ external_status: 'SENT' });
  });

  test('an issued invoice of nothing is skipped, and one that is left as a draft stays as finance edits it', async () => {
    const skipping = await billedCustomer(service, stripe.state.addCustomer());
    const nothing = await skipping.bill(100, -100);
    expect(await stateOf(skipping, nothing)).toMatchObject({ external_status: 'SKIPPED' });
    expect(stripe.state.liveOf(nothing)).toHaveLength(0);
    const customer = await billedCustomer(service, stripe.state.addCustomer(), {
      configuration: { leave_stripe_invoices_in_draft: true },
    });
    const id = await customer.bill(800);
    expect(await stateOf(customer, id)).toMatchObject({ external_status: 'DRAFT' });
    const [line] = one(id).lines;
    if (line !== undefined) line.description = 'Edited by finance';
    await later(70);
    expect(one(id).lines.map(({ description }) => description)).toEqual(['Edited by finance']);
  });

  test('an issued invoice of a customer that is not billable, or without a configuration, goes nowhere', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    await api.post('/v1/customers/setBillableStatus', {
      customer_id: customer.customerId,
      billable_status: 'unbillable',
    });
    const id = await customer.bill(100);
    expect(await stateOf(customer, id)).toBeNull();
    const refused = await api.send('POST', '/v1/invoices/deliver', { invoice_ids: [id] });
    expect(refused.status).toBe(400);
    await api.post('/v1/customers/setBillableStatus', {
      customer_id: customer.customerId,
      billable_status: 'billable',
    });
    await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
    await eventually(customer, id, { external_status: 'FINALIZED' });
  });

  test('an issued invoice with tax has the tax there on it', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer(), {
      configuration: { automatic_tax: true },
    });
    const id = await customer.bill(1000);
    expect(await stateOf(customer, id)).toMatchObject({
      invoiced_sub_total: 1000,
      invoiced_total: 1100,
      tax: { total_tax_amount: 100, total_taxable_amount: 1000 },
    });
  });

  test('an issued invoice has its lines of products that Stripe knows with quantity and price', async () => {
    await api.send('POST', '/v1/customFields/addKey', {
      entity: 'contract_product',
      key: 'stripe_product_id',
      enforce_uniqueness: false,
    });
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const product = await createdId(api, '/v1/contract-pricing/products/create', {
      name: 'Seats',
      type: 'FIXED',
      custom_fields: { stripe_product_id: 'prod_seats' },
    });
    await api.post('/v2/contracts/edit', {
      customer_id: customer.customerId,
      contract_id: customer.contractId,
      add_scheduled_charges: [
        {
          product_id: product,
          name: 'Seats',
          schedule: {
            schedule_items: [{ timestamp: '2026-02-20T00:00:00Z', unit_price: 1500, quantity: 3 }],
          },
        },
      ],
    });
    await later();
    const there = [...stripe.state.invoices.values()].find(({ customer: id }) => id === customer.stripeId);
    expect(there?.lines).toMatchObject([
      { amount: 4500, product: 'prod_seats', quantity: 3, unitAmount: '1500' },
    ]);
  });

  test('an issued invoice of more than 250 lines is one invoice, grouped by product', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(...Array.from({ length: 260 }, (_, index) => index + 0.5));
    const there = one(id);
    expect(there.lines).toHaveLength(1);
    expect(there.lines[0]?.amount).toBe((260 * 259) / 2 + 130);
    expect(String(there.params.footer)).toContain('has every line');
  });

  test('an issued invoice of more than a page of lines is read back whole', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(...Array.from({ length: 120 }, (_, index) => 100 + index));
    expect(one(id).lines).toHaveLength(120);
    expect(await stateOf(customer, id)).toMatchObject({ external_status: 'FINALIZED' });
  });
});

describe('whatever fails', () => {
  const steps = ['POST /v1/invoices', '/add_lines', '/finalize'];
  const faults = ['lost', 'cut', 'error_before', 'error_after', 'too_many', 'lock_timeout', 'hang'] as const;

  test.each(steps.flatMap((step) => faults.map((fault) => [fault, step] as const)))(
    '%s at %s: one invoice there, to the cent',
    async (fault, step) => {
      const customer = await billedCustomer(service, stripe.state.addCustomer());
      once(step, fault);
      const id = await customer.bill(1999, 1);
      await later();
      await eventually(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: 2000 });
      const there = one(id);
      expect(stripe.state.subtotal(there)).toBe(2000);
      expect(await stateOf(customer, id)).toMatchObject({ invoice_id: there.id });
    },
    40_000,
  );

  test.each(['too_many', 'lock_timeout'] as const)(
    '%s was not done, and is sent again within the attempt: the clock need not move',
    async (fault) => {
      const customer = await billedCustomer(service, stripe.state.addCustomer());
      once('/add_lines', fault);
      const id = await customer.bill(1999, 1);
      await eventually(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: 2000 });
      expect(one(id).status).toBe('open');
    },
  );

  test('every request that creates something has a separate key, which only a closed connection repeats', () => {
    const making = stripe.requests.filter(({ method }) => method === 'POST');
    const keys = making.flatMap(({ key }) => key ?? []);
    expect(keys).toHaveLength(making.length);
    const repeated = keys.filter((key, index) => keys.indexOf(key) !== index);
    expect(new Set(repeated).size).toBe(repeated.length);
  });

  test('a customer that does not exist is reported, listed, and delivered when that is corrected', async () => {
    const receiver = await startWebhookReceiver();
    await api.post('/v1/webhooks/create', {
      name: 'Errors',
      url: receiver.url,
      event_types: ['invoice.billing_provider_error'],
    });
    const customer = await billedCustomer(service, 'cus_unknown');
    const id = await customer.bill(500);
    expect(await stateOf(customer, id)).toMatchObject({
      external_status: 'INVALID_REQUEST_ERROR',
      billing_provider_error: expect.stringContaining('No such customer'),
    });
    const listed = await api.get('/v1/invoices?external_status=INVALID_REQUEST_ERROR');
    expect(listed.list('data').map((_, index) => listed.text(`data[${index}].id`))).toContain(id);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 20_000 });
    expect(receiver.received[0]?.message).toMatchObject({
      type: 'invoice.billing_provider_error',
      properties: { invoice_id: id, billing_provider_error: expect.stringContaining('cus_unknown') },
    });
    stripe.state.customers.set('cus_unknown', {
      id: 'cus_unknown',
      card: 'pays',
      hasAddress: true,
      balance: 0,
      deleted: false,
    });
    const queued = await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
    expect(queued.body).toMatchObject({ data: [{ invoice_id: id, external_status: 'QUEUED' }] });
    await eventually(customer, id, { external_status: 'FINALIZED' });
    await receiver.close();
  });

  test('a draft that was changed there is corrected', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    let isDone = false;
    stripe.misbehave = ({ path }) => {
      if (!path.endsWith('/finalize') || isDone) return null;
      isDone = true;
      return 'error_before';
    };
    const id = await customer.bill(300);
    const draft = one(id);
    stripe.state.addLines(draft.id, [
      { amount: '77', description: 'slipped in', period: { start: '1', end: '1' } },
    ]);
    await later();
    await eventually(customer, id, { external_status: 'FINALIZED' });
    expect(one(id).lines.map(({ amount }) => amount)).toEqual([300]);
  });

  test.each(['/add_lines', '/finalize'])(
    'a draft that is deleted there just before %s is DELETED, and created again on request',
    async (step) => {
      const customer = await billedCustomer(service, stripe.state.addCustomer());
      stripe.misbehave = ({ path }) => {
        if (!path.endsWith(step)) return null;
        stripe.misbehave = () => null;
        const ours = [...stripe.state.invoices.values()].filter((own) => own.customer === customer.stripeId);
        for (const draft of ours) stripe.state.deleteInvoice(draft.id);
        return null;
      };
      const id = await customer.bill(300);
      await eventually(customer, id, { external_status: 'DELETED' });
      await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
      await eventually(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: 300 });
      expect(one(id).status).toBe('open');
    },
  );

  test('one whose sum there is not ours is not finalized, and the error names both', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    // Whatever is sent, the sub-total there is another one.
    const subtotal = stripe.state.subtotal.bind(stripe.state);
    stripe.state.subtotal = (invoice) => subtotal(invoice) + 7;
    const id = await customer.bill(300);
    const state = await stateOf(customer, id);
    stripe.state.subtotal = subtotal;
    expect(state).toMatchObject({ external_status: 'INVALID_REQUEST_ERROR' });
    const { number, id: there, status } = one(id);
    expect([number, status]).toEqual([null, 'draft']);
    const ours = (await customer.invoice(id)).text('data.invoice_number');
    expect(state?.billing_provider_error).toBe(
      `Stripe: the sub-total of ${there} is 3.07 USD, that of invoice ${ours} is 3 USD`,
    );
    await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
    await eventually(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: 300 });
    expect(one(id).id).toBe(there);
  });

  test('an invoice that Stripe finalized with a different total stays in error until it is voided in Stripe', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    stripe.misbehave = ({ path }) => {
      // A hand between our last look and the call.
      if (path.endsWith('/finalize')) for (const line of one(idThere()).lines) line.amount += 1;
      return null;
    };
    const idThere = () =>
      [...stripe.state.invoices.values()].find((invoice) => invoice.customer === customer.stripeId)?.metadata
        .tallyhouse_invoice_id ?? '';
    const id = await customer.bill(300);
    expect(await stateOf(customer, id)).toMatchObject({
      external_status: 'INVALID_REQUEST_ERROR',
      billing_provider_error: expect.stringContaining('3.01 USD'),
    });
    stripe.state.voidInvoice(one(id).id);
    await stripe.deliver(hook, stripe.state.events.slice(-1));
    await eventually(customer, id, { external_status: 'VOID' });
  });

  test('a line below zero of a product that Stripe knows has its amount', async () => {
    await api.send('POST', '/v1/customFields/addKey', {
      entity: 'contract_product',
      key: 'stripe_product_id',
      enforce_uniqueness: false,
    });
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const product = await createdId(api, '/v1/contract-pricing/products/create', {
      name: 'Refunds',
      type: 'FIXED',
      custom_fields: { stripe_product_id: 'prod_refunds' },
    });
    await api.post('/v2/contracts/edit', {
      customer_id: customer.customerId,
      contract_id: customer.contractId,
      add_scheduled_charges: [900, -200].map((unit_price) => ({
        product_id: product,
        name: `Of ${unit_price}`,
        schedule: { schedule_items: [{ timestamp: '2026-02-21T00:00:00Z', unit_price, quantity: 1 }] },
      })),
    });
    await later();
    const there = [...stripe.state.invoices.values()].find(({ customer: id }) => id === customer.stripeId);
    expect(there).toMatchObject({ status: 'open' });
    expect(there?.lines.map(({ amount, product: own }) => [amount, own])).toEqual([
      [900, 'prod_refunds'],
      [-200, null],
    ]);
  });

  test('a location that Stripe Tax does not know is reported', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer('pays', false), {
      configuration: { automatic_tax: true },
    });
    const id = await customer.bill(1000);
    expect(await stateOf(customer, id)).toMatchObject({
      external_status: 'INVALID_REQUEST_ERROR',
      billing_provider_error: expect.stringContaining('location'),
    });
  });
});

describe('the state that Stripe reports', () => {
  test('the state of an invoice is read when an event arrives, in any order, twice, or signed wrongly', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(900);
    const there = one(id);
    stripe.state.collect(there.id);
    const events = stripe.state.events.filter(({ object }) => object.id === there.id).toReversed();
    expect(await stripe.deliver(hook, [...events, ...events])).toEqual(Array(events.length * 2).fill(200));
    await eventually(customer, id, { external_status: 'PAID', external_payment_id: there.intent });
    const old = Math.floor(Date.now() / 1000) - 400;
    expect(await stripe.deliver(hook, events.slice(0, 1), old)).toEqual([400]);
    const forged = await fetch(hook, {
      method: 'POST',
      body: '{}',
      headers: { 'stripe-signature': 't=1,v1=00' },
    });
    expect(forged.status).toBe(400);
    const unknown = await fetch(hook.replace('default', 'other'), { method: 'POST', body: '{}' });
    expect(unknown.status).toBe(404);
  });

  test('an event with a character that cannot be stored is refused, also when its signature is right', async () => {
    const events = [
      { id: 'evt_\u0000', type: 'invoice.paid', object: {} },
      { id: 'evt_1', type: 'invoice.paid', object: { id: 'in_\u0000' } },
      { id: 'evt_2', type: 'invoice.paid', object: { id: 'in_1', invoice: '\ud800' } },
    ];
    expect(await stripe.deliver(hook, events)).toEqual([400, 400, 400]);
  });

  test('the state of an invoice is read after an event that only names it, and a ping changes nothing', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(900);
    stripe.state.collect(one(id).id);
    const destination = { id: 'ed_test_1', object: 'v2.core.event_destination' };
    const ping = { id: 'evt_ping', type: 'v2.core.event_destination.ping', object: destination };
    expect(await stripe.deliverThin(hook, [ping])).toEqual([200]);
    expect(await stateOf(customer, id)).toMatchObject({ external_status: 'FINALIZED' });
    const events = stripe.state.events.filter(({ object }) => object.id === one(id).id);
    expect(await stripe.deliverThin(hook, events.slice(-1))).toEqual([200]);
    await eventually(customer, id, { external_status: 'PAID' });
  });

  test('the state that Stripe reports is asked for every hour without any event', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer('declined'));
    const id = await customer.bill(900);
    stripe.state.collect(one(id).id);
    await later(61);
    await eventually(customer, id, { external_status: 'PAYMENT_FAILED' });
    stripe.state.markPaid(one(id));
    await later(61);
    await eventually(customer, id, { external_status: 'PAID' });
    const csv = await api.get(`/v1/customers/${customer.customerId}/invoices/${id}`, {
      headers: { accept: 'text/csv' },
    });
    expect(String(csv.body)).toContain(',PAID,');
  });

  test('a deletion there is reported, and the invoice is created again on request', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer(), {
      configuration: { leave_stripe_invoices_in_draft: true },
    });
    const id = await customer.bill(900);
    stripe.state.deleteInvoice(one(id).id);
    await stripe.deliver(hook, stripe.state.events.slice(-1));
    await eventually(customer, id, { external_status: 'DELETED' });
    await api.post('/v1/invoices/deliver', { invoice_ids: [id] });
    await eventually(customer, id, { external_status: 'DRAFT' });
    await vi.waitFor(() => expect(one(id).lines).toHaveLength(1), { timeout: 20_000 });
  });
});

describe('an invoice that is tried for long', () => {
  const failed = async (id: string) =>
    (await api.get('/v1/system/failedJobs'))
      .list('data')
      .filter((each) => (each as { invoice_id: string | null }).invoice_id === id);

  test('a delivery that fails for more than an hour is among the failed jobs with its reason, until it succeeds', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    stripe.misbehave = ({ method, path }) =>
      `${method} ${path}`.endsWith('POST /v1/invoices') ? 'error_before' : null;
    const id = await customer.bill(900);
    await eventually(customer, id, { external_status: 'QUEUED', billing_provider_error: expect.any(String) });
    await later(30);
    expect(await failed(id)).toEqual([]);
    const { customerId: customer_id, contractId: contract_id } = customer;
    const expected = { id: null, kind: 'deliver_invoice', customer_id, contract_id };
    await later(31);
    await vi.waitFor(async () => expect(await failed(id)).toMatchObject([expected]), { timeout: 20_000 });
    const [job] = (await failed(id)) as { last_error: string; attempts: number }[];
    expect(job?.last_error).toContain('Stripe: ');
    // The page after the first one has the jobs that follow.
    const first = await api.get('/v1/system/failedJobs', { query: { limit: 1 } });
    expect(first.list('data')).toHaveLength(1);
    const { next_page } = first.body as { next_page: string | null };
    if (next_page !== null) await api.get('/v1/system/failedJobs', { query: { limit: 1, next_page } });
    stripe.misbehave = () => null;
    await later();
    await eventually(customer, id, { external_status: 'FINALIZED' });
    expect(await failed(id)).toEqual([]);
  });
});

describe('an invoice that is voided here', () => {
  test('an invoice that is voided here is voided there, and the regenerated one is a new one that names it', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(600);
    const there = one(id);
    await api.post('/v1/invoices/void', { id });
    await eventually(customer, id, { external_status: 'VOID' });
    expect(stripe.state.liveOf(id)).toHaveLength(0);
    const again = await createdId(api, '/v1/invoices/regenerate', { id });
    await eventually(customer, again, { external_status: 'FINALIZED' });
    expect(one(again).metadata).toMatchObject({
      tallyhouse_replaces_invoice_id: id,
      tallyhouse_replaces: there.id,
    });
  });

  test('an invoice that is voided here and is paid there stays there, and says what Stripe said', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(600);
    stripe.state.collect(one(id).id);
    await api.post('/v1/invoices/void', { id });
    await eventually(customer, id, {
      external_status: 'PAID',
      billing_provider_error: expect.stringContaining("can't void"),
    });
  });

  test('an invoice that is voided here is not delivered any more, when Stripe tells of it later or a call has arrived late', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    stripe.misbehave = ({ method, path }) => (method === 'POST' && path === '/v1/invoices' ? 'cut' : null);
    const id = await customer.bill(600);
    await api.post('/v1/invoices/void', { id });
    await eventually(customer, id, { external_status: 'VOID' });
    stripe.misbehave = () => null;
    const metadata = { tallyhouse_invoice_id: id };
    const late = stripe.state.createInvoice({ customer: customer.stripeId, currency: 'usd', metadata });
    await stripe.deliver(hook, stripe.state.events.slice(-1));
    await later(65);
    await vi.waitFor(() => expect(stripe.state.invoices.has(late.id)).toBe(false), { timeout: 20_000 });
    expect(stripe.state.liveOf(id)).toEqual([]);
  });

  test('an invoice that is voided here while its delivery is on its way is voided there too', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    once('/finalize', 'error_before');
    const id = await customer.bill(600);
    await api.post('/v1/invoices/void', { id });
    await later();
    await vi.waitFor(() => expect(stripe.state.liveOf(id)).toHaveLength(0), { timeout: 20_000 });
  });
});

test('events of what an attempt has created never shorten the wait for the next one', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const from = stripe.state.events.length;
  stripe.misbehave = ({ path }) => (path.endsWith('/add_lines') ? 'error_before' : null);
  const id = await customer.bill(900);
  await later(1);
  await vi.waitFor(async () => expect(stripe.state.events.length).toBeGreaterThan(from + 1), {
    timeout: 20_000,
  });
  const requests = () => stripe.requests.filter((one) => one.customer === customer.stripeId).length;
  const due = () =>
    service.db.execute(sql`
    select due_at, failures from invoice_deliveries where invoice_id = ${id} and lease_until is null`);
  await vi.waitFor(async () => expect(await due()).toHaveLength(1), { timeout: 20_000 });
  const [before, asked] = [await due(), requests()];
  await stripe.deliver(hook, stripe.state.events.slice(from));
  expect(await due()).toEqual(before);
  expect(requests()).toBe(asked);
  stripe.misbehave = () => null;
  await later(65);
  await eventually(customer, id, { external_status: 'FINALIZED' });
  // A draft that was discarded is deleted there: the recorded one is what counts.
  const [gone] = stripe.state.deleted;
  const settled = await due();
  const object = { id: gone ?? '', object: 'invoice', metadata: { tallyhouse_invoice_id: id } };
  await stripe.deliver(hook, [{ id: 'evt_of_another', type: 'invoice.deleted', object }]);
  expect(await due()).toEqual(settled);
});

test('an issued invoice that Stripe taxes has its discount in its lines', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer(), {
    configuration: { automatic_tax: true },
  });
  const id = await customer.bill(900, -100);
  expect(one(id).lines.map(({ amount, taxBehavior }) => [amount, taxBehavior])).toEqual([[800, 'exclusive']]);
  expect(await stateOf(customer, id)).toMatchObject({ invoiced_sub_total: 800, invoiced_total: 880 });
});

test('metrics tell of deliveries, and secrets are in no answer', async () => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(/tallyhouse_delivery_attempts_total\{result="done"\} [1-9]/);
  expect(metrics).toMatch(/tallyhouse_delivery_oldest_undelivered_seconds \d/);
  const listed = await api.post('/v1/listConfiguredBillingProviders', {});
  expect(listed.list('data')).toContainEqual(
    expect.objectContaining({
      billing_provider: 'stripe',
      delivery_method: 'direct_to_billing_provider',
      delivery_method_configuration: { name: 'default', stripe_account_id: 'acct_stand_in' },
    }),
  );
  expect(JSON.stringify(listed.body)).not.toContain('sk_test');
});

test('a key of another account, or of the other mode, is reported in a sentence', async () => {
  const accounts = createStripeAccounts({
    apiKey: STAND_IN_KEY,
    webhookSecret: undefined,
    baseUrl: stripe.url,
    secretsKey: undefined,
  });
  const context = billingContext({ db: service.db, clock: { now: Date.now }, accounts });
  expect(await learnDefaultAccount(context, 'test')).toBeNull();
  expect(await learnDefaultAccount(context, 'live')).toContain(
    'another account or mode than before (acct_stand_in, test)',
  );
  expect(await learnDefaultAccount(context, 'live')).toBeNull();
  stripe.state.accountId = 'acct_other';
  expect(await learnDefaultAccount(context, 'live')).toContain('acct_stand_in, live');
  stripe.state.accountId = 'acct_stand_in';
  await learnDefaultAccount(context, 'test');
});
