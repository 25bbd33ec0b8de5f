/**
 * Other changes to a customer while one of its invoices is being delivered to Stripe: the invoice arrives once, or is
 * refused with a sentence.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) });
const { api } = service;
let minutes = 0;

afterAll(() => stripe.close());
beforeEach(() => {
  stripe.misbehave = () => null;
});

/** An invoice whose first attempt has met an error of Stripe, before anything was there. */
async function onItsWay(configuration: object = {}): Promise<{ customer: BilledCustomer; id: string }> {
  const customer = await billedCustomer(service, stripe.state.addCustomer(), { configuration });
  stripe.misbehave = ({ method }) => (method === 'POST' ? 'error_before' : null);
  const id = await customer.bill(1_250);
  expect(await externalOf(customer, id)).toMatchObject({ external_status: 'QUEUED' });
  stripe.misbehave = () => null;
  return { customer, id };
}

async function externalOf(customer: BilledCustomer, id: string) {
  const { body } = await customer.invoice(id);
  return (body as { data: { external_invoice: Record<string, unknown> | null } }).data.external_invoice;
}

/** Lets the next attempt come, and waits for what it ends with. */
async function ends(customer: BilledCustomer, id: string, expected: Record<string, unknown>): Promise<void> {
  minutes += 20;
  await service.moveClock(Date.UTC(2026, 2, 10) + minutes * 60_000);
  await vi.waitFor(async () => expect(await externalOf(customer, id)).toMatchObject(expected), {
    timeout: 20_000,
  });
}

test('one that was issued while its customer was billable is delivered, whatever the customer is now', async () => {
  const { customer, id } = await onItsWay();
  await api.post('/v1/customers/setBillableStatus', {
    customer_id: customer.customerId,
    billable_status: 'unbillable',
  });
  await ends(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: 1_250 });
  expect(stripe.state.liveOf(id)).toHaveLength(1);
});

test('archiving the customer of an invoice on its way voids it: it never arrives at Stripe', async () => {
  const { customer, id } = await onItsWay();
  await api.post('/v1/customers/archive', { id: customer.customerId });
  await ends(customer, id, { external_status: 'VOID' });
  expect(stripe.state.liveOf(id)).toHaveLength(0);
});

test('the customer of an invoice on its way cannot be erased before it has arrived', async () => {
  const { customer, id } = await onItsWay();
  const { customerId: customer_id, contractId: contract_id } = customer;
  await api.post('/v1/contracts/updateEndDate', {
    customer_id,
    contract_id,
    ending_before: '2026-03-01T00:00:00Z',
  });
  const erase = () => api.send('POST', `/v1/customers/${customer_id}/erase`, {});
  const refused = await erase();
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toContain(`invoice ${id} is on its way`);
  await ends(customer, id, { external_status: 'FINALIZED' });
  expect((await erase()).status).toBe(400);
  // As if an hour of real time had passed: it is looked at once more, and is in doubt no longer.
  await service.db.execute(sql`
    update invoice_deliveries set delivered_at = delivered_at - interval '1 hour' where invoice_id = ${id}`);
  minutes += 65;
  await service.moveClock(Date.UTC(2026, 2, 10) + minutes * 60_000);
  await vi.waitFor(async () => expect((await erase()).status).toBe(200), { timeout: 20_000 });
  expect(stripe.state.liveOf(id)).toHaveLength(1);
});

test('one that is voided before anything is there never gets there', async () => {
  const { customer, id } = await onItsWay();
  await api.post('/v1/invoices/void', { id });
  await ends(customer, id, { external_status: 'VOID' });
  expect(stripe.state.liveOf(id)).toHaveLength(0);
});

test.each([
  [[0.4], 'SKIPPED', 'it rounds to nothing'],
  [[900, -1_000], 'SKIPPED', 'it is below zero'],
])('%s cents: %s, for %s', async (amounts, status) => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await customer.bill(...amounts);
  await ends(customer, id, { external_status: status });
  expect(stripe.state.liveOf(id)).toHaveLength(0);
});

test('one below zero that is not to be skipped arrives with its amount', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer(), {
    configuration: { skip_zero_dollar_invoices: false },
  });
  const id = await customer.bill(900, -1_000);
  await ends(customer, id, { invoiced_sub_total: -100 });
  expect(stripe.state.liveOf(id).map((there) => stripe.state.subtotal(there))).toEqual([-100]);
});

test.each([250, 251])('%i lines are one invoice of the whole sum', async (count) => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const id = await customer.bill(...Array.from({ length: count }, (_, index) => index + 1));
  await ends(customer, id, { external_status: 'FINALIZED', invoiced_sub_total: (count * (count + 1)) / 2 });
  const [there, ...others] = stripe.state.liveOf(id);
  expect(others).toEqual([]);
  expect(there?.lines).toHaveLength(count <= 250 ? count : 1);
});
