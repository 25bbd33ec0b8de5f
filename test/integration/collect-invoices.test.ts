/** Collecting open invoices on request: once at a time, with the reason of a refusal, and only what is open. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) });
const { api } = service;

afterAll(() => stripe.close());
beforeEach(() => {
  stripe.misbehave = () => null;
  stripe.delayMs = 0;
});

const externalOf = async (customer: BilledCustomer, id: string) =>
  (await customer.invoice(id)).at('data.external_invoice') as Record<string, unknown>;

async function billed(customer: BilledCustomer, amount = 700): Promise<string> {
  const id = await customer.bill(amount);
  await vi.waitFor(
    async () => expect(await externalOf(customer, id)).toMatchObject({ external_status: 'FINALIZED' }),
    { timeout: 10_000 },
  );
  return id;
}

function there(id: string) {
  const [invoice] = stripe.state.liveOf(id);
  if (invoice === undefined) throw new Error('it is there');
  return invoice;
}

const collect = (invoice_id: string) => api.send('POST', '/v1/invoices/collect', { invoice_id });
const payments = () => stripe.requests.filter(({ path }) => path.endsWith('/pay')).length;

test('an open invoice is collected on request, and is paid at once', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await billed(customer);
  const answer = await collect(id);
  expect(answer.status).toBe(200);
  expect(answer.at('data')).toEqual({ invoice_id: id, external_status: 'PAID', payment_error: null });
  expect(there(id)).toMatchObject({ status: 'paid', attemptCount: 1 });
  expect(await externalOf(customer, id)).toMatchObject({ external_status: 'PAID', amount_paid: 700 });
});

test('a refused payment answers with the reason of the bank, and the invoice is collected once the card pays', async () => {
  const stripeId = stripe.state.addCustomer('declined');
  const customer = await billedCustomer(service, stripeId);
  const id = await billed(customer);
  const reason = 'Your card was declined: insufficient funds';
  expect((await collect(id)).at('data')).toEqual({
    invoice_id: id,
    external_status: 'PAYMENT_FAILED',
    payment_error: reason,
  });
  expect(await externalOf(customer, id)).toMatchObject({
    external_status: 'PAYMENT_FAILED',
    payment_error: reason,
  });
  stripe.state.customer(stripeId).card = 'none';
  expect((await collect(id)).text('data.payment_error')).toContain('no default payment method');
  stripe.state.customer(stripeId).card = 'pays';
  expect((await collect(id)).at('data')).toMatchObject({ external_status: 'PAID', payment_error: null });
});

test('an invoice is collected once by many requests at a time: the others are refused with 409', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await billed(customer);
  const before = payments();
  stripe.delayMs = 100;
  const answers = await Promise.all(Array.from({ length: 5 }, () => collect(id)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409, 409, 409, 409]);
  expect(payments() - before).toBe(1);
});

test('an invoice whose bank debit is under way is not collected again', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer('processes'));
  const id = await billed(customer);
  expect((await collect(id)).at('data')).toMatchObject({ external_status: 'FINALIZED', payment_error: null });
  const before = payments();
  const again = await collect(id);
  expect(again.status).toBe(409);
  expect(again.text('message')).toContain('is under way');
  expect(payments()).toBe(before);
});

test('an invoice whose collection has no answer is unknown until it is read, and is paid once', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await billed(customer);
  const charges = stripe.state.charges;
  stripe.misbehave = ({ path }) => (path.endsWith('/pay') ? 'error_after' : null);
  const unknown = await collect(id);
  expect(unknown.status).toBe(503);
  expect(unknown.text('message')).toContain('not known yet');
  stripe.misbehave = () => null;
  const again = await collect(id);
  expect([200, 400, 409]).toContain(again.status);
  await service.moveClock('2026-03-10T02:00:00Z');
  await vi.waitFor(
    async () => expect(await externalOf(customer, id)).toMatchObject({ external_status: 'PAID' }),
    { timeout: 10_000 },
  );
  expect(stripe.state.charges - charges).toBe(1);
});

test('an invoice that is not open is refused with its state, and nothing is asked of the provider', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const [paid, uncollectible, voided] = [
    await billed(customer, 701),
    await billed(customer, 702),
    await billed(customer, 703),
  ];
  await collect(paid ?? '');
  there(uncollectible ?? '').status = 'uncollectible';
  await api.post('/v1/invoices/void', { id: voided });
  const draft = await billedCustomer(service, stripe.state.addCustomer(), {
    configuration: { leave_stripe_invoices_in_draft: true },
  });
  const left = await draft.bill(704);
  await vi.waitFor(
    async () => expect(await externalOf(draft, left)).toMatchObject({ external_status: 'DRAFT' }),
    { timeout: 10_000 },
  );
  const intent = await billedCustomer(service, stripe.state.addCustomer('processes'), {
    configuration: { stripe_collection_method: 'auto_charge_payment_intent' },
  });
  const byIntent = await intent.bill(705);
  await vi.waitFor(
    async () => expect(await externalOf(intent, byIntent)).toMatchObject({ external_status: 'FINALIZED' }),
    { timeout: 10_000 },
  );
  const before = payments();
  for (const [id, status, words] of [
    [paid, 400, 'is paid'],
    [uncollectible, 400, 'is uncollectible'],
    [voided, 400, 'is VOID'],
    [left, 400, 'is a draft'],
    [byIntent, 400, 'is not an invoice at a provider that collects'],
    [randomUUID(), 404, 'not found'],
  ] as const) {
    const refused = await collect(id ?? '');
    expect([refused.status, refused.text('message')]).toEqual([status, expect.stringContaining(words)]);
  }
  expect(payments()).toBe(before);
});

test('an invoice that was paid at its provider meanwhile is read and not collected again', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await billed(customer);
  stripe.state.collect(there(id).id);
  const before = payments();
  expect((await collect(id)).at('data')).toEqual({
    invoice_id: id,
    external_status: 'PAID',
    payment_error: null,
  });
  expect(payments()).toBe(before);
  expect(await externalOf(customer, id)).toMatchObject({ external_status: 'PAID' });
});
