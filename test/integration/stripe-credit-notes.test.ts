/** Credit notes reach Stripe once, to the cent, after their invoice (docs/explanation/credit-notes.md, "At the provider"). */
import { pino } from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { createNote, notesOf, voidNote } from '../../src/demo/stripe/stand-in-credit-notes.ts';
import type { StandInInvoice, StandInNote } from '../../src/demo/stripe/stand-in-objects.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  usage: 'naive',
  sandboxNow: '2026-03-10T00:00:00Z',
  ...connectedTo(stripe),
  log: pino({ level: 'silent' }),
});
const { api } = service;
const fixed = await createdId(api, PRODUCTS, { name: 'Goodwill', type: 'FIXED' });
let now = Date.UTC(2026, 2, 10);
afterAll(() => stripe.close());
beforeEach(() => {
  stripe.misbehave = () => null;
});

const CREATE = '/v1/invoices/creditNotes/create';
const HOOK = `${service.url}/v1/providers/stripe/webhook/default`;

async function later(minutes: number): Promise<void> {
  now += minutes * 60_000;
  await service.moveClock(now);
}

interface Sold {
  readonly customer: BilledCustomer;
  readonly id: string;
  readonly there: StandInInvoice;
}

async function sold(
  amounts: readonly number[],
  options: Parameters<typeof billedCustomer>[2] = {},
): Promise<Sold> {
  const customer = await billedCustomer(service, stripe.state.addCustomer(), options);
  const id = await customer.bill(...amounts);
  const there = await vi.waitFor(
    () => {
      const [one] = stripe.state.liveOf(id);
      if (one === undefined) throw new Error('it is not there yet');
      return one;
    },
    { timeout: 20_000 },
  );
  return { customer, id, there };
}

async function tell(): Promise<void> {
  await stripe.deliver(HOOK, stripe.state.events);
}

async function shown({ customer, id }: Sold): Promise<Record<string, unknown>> {
  const { body } = await customer.invoice(id);
  return (body as { data: { external_invoice: Record<string, unknown> } }).data.external_invoice;
}

async function pay(one: Sold): Promise<void> {
  stripe.state.collect(one.there.id);
  await tell();
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ external_status: 'PAID' }), {
    timeout: 20_000,
  });
}

async function lineIds({ customer, id }: Sold): Promise<string[]> {
  const { body } = await customer.invoice(id);
  return (body as { data: { line_items: { id: string }[] } }).data.line_items.map((line) => line.id);
}

/** Credits amounts of its lines, by position; the id of the note. */
async function credit(one: Sold, amounts: readonly number[], more: object = {}): Promise<string> {
  const ids = await lineIds(one);
  const lines = amounts.flatMap((amount, at) => (amount === 0 ? [] : [{ line_item_id: ids[at], amount }]));
  const settlement = 'offset_unpaid';
  return createdId(api, CREATE, { invoice_id: one.id, reason: 'service_issue', settlement, lines, ...more });
}

async function externalOf(id: string): Promise<Record<string, unknown>> {
  const { body } = await api.get(`/v1/invoices/creditNotes/${id}`);
  return (
    (body as { data: { external_credit_note?: Record<string, unknown> } }).data.external_credit_note ?? {}
  );
}

async function arrived(id: string, status = 'ISSUED'): Promise<StandInNote> {
  await vi.waitFor(async () => expect(await externalOf(id)).toMatchObject({ external_status: status }), {
    timeout: 20_000,
  });
  const there = [...stripe.state.creditNotes.values()].filter(
    ({ metadata }) => metadata.tallyhouse_credit_note_id === id,
  );
  expect(there).toHaveLength(status === 'ISSUED' || status === 'VOID' ? 1 : 0);
  return there[0] as StandInNote;
}

const creditHere = {
  settlement: 'credit_balance',
  credit_product_id: fixed,
  credit_ending_before: '2027-01-01T00:00:00Z',
};

test('a credit note takes from the amount due of an open invoice, line by line', async () => {
  const one = await sold([1_000, 500]);
  const there = await arrived(await credit(one, [0, 200], { memo: 'Slow in March' }));
  expect(there).toMatchObject({ total: 200, prePayment: 200, refund: 0, credit: 0, outOfBand: 0 });
  expect(there.lines).toMatchObject([{ invoiceLine: one.there.lines[1]?.id, amount: 200 }]);
  expect(there.memo).toMatch(/^Credit note CN-2026-\d+ for invoice INV-.*: Slow in March$/);
  expect(one.there.amountDue).toBe(1_300);
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ amount_paid: 200 }), {
    timeout: 20_000,
  });
  // The rest is paid, and no more than that is refunded.
  await pay(one);
  const refunded = await arrived(await credit(one, [1_000, 300], { settlement: 'refund' }));
  expect(refunded).toMatchObject({ total: 1_300, prePayment: 0, refund: 1_300 });
  expect(await externalOf(String(refunded.metadata.tallyhouse_credit_note_id))).toMatchObject({
    billing_provider_type: 'stripe',
    credit_note_id: refunded.id,
    credit_note_number: refunded.number,
    total: 1_300,
    refund_amount: 1_300,
    pre_payment_amount: 0,
  });
});

test('a credit note counts as deducted once: the unpaid sum is the amount that the customer owes', async () => {
  const one = await sold([1_000]);
  const sums = async () => {
    const answer = await api.get('/v1/invoices/sums', { query: { customer_id: one.customer.customerId } });
    return answer.digits('data[0].unpaid');
  };
  const id = await credit(one, [400], { deliver_after: new Date(now + 3_600_000).toISOString() });
  expect(await sums()).toBe('600');
  await later(61);
  await arrived(id);
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ amount_paid: 400 }), {
    timeout: 20_000,
  });
  expect(await sums()).toBe('600');
  await credit(one, [600]);
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ external_status: 'PAID' }), {
    timeout: 20_000,
  });
});

test('a credit note is out of band where the credit is given here', async () => {
  const one = await sold([1_000]);
  await pay(one);
  const there = await arrived(await credit(one, [250], creditHere));
  expect(there).toMatchObject({ prePayment: 0, refund: 0, credit: 0, outOfBand: 250 });
  expect(stripe.state.customer(one.there.customer).balance).toBe(0);
});

test('a credit note goes to the balance there where the invoice was paid before it arrived', async () => {
  const one = await sold([1_000]);
  const id = await credit(one, [300], { deliver_after: new Date(now + 3_600_000).toISOString() });
  await pay(one);
  await later(61);
  expect(await arrived(id)).toMatchObject({ prePayment: 0, refund: 0, credit: 300, outOfBand: 0 });
  expect(stripe.state.customer(one.there.customer).balance).toBe(-300);
  expect(await externalOf(id)).toMatchObject({ customer_balance_amount: 300 });
});

test('a credit note credits the line there that has the lines of the invoice in it, and never more than Stripe has left', async () => {
  const one = await sold([1_000, 600], { configuration: { invoice_layout: 'by_product' } });
  expect(one.there.lines).toHaveLength(1);
  const there = await arrived(await credit(one, [700, 50]));
  expect(there.lines).toMatchObject([{ invoiceLine: one.there.lines[0]?.id, amount: 750 }]);
  // Somebody has credited there what is left of it here.
  createNote(stripe.state, {
    invoice: one.there.id,
    lines: [{ type: 'invoice_line_item', invoice_line_item: String(one.there.lines[0]?.id), amount: '800' }],
  });
  const refused = await credit(one, [0, 100]);
  await arrived(refused, 'INVALID_REQUEST_ERROR');
  expect(String((await externalOf(refused)).billing_provider_error)).toContain('creditable amount of 50');
});

test('credit notes have the tax that Stripe computes', async () => {
  const one = await sold([1_005, 500], { configuration: { automatic_tax: true } });
  expect(stripe.state.total(one.there)).toBe(1_656);
  const there = await arrived(await credit(one, [105, 0]));
  expect(there).toMatchObject({ tax: 11, total: 116, prePayment: 116 });
  const rest = await arrived(await credit(one, [900, 500]));
  expect(one.there.amountDue).toBe(0);
  expect(rest.total + there.total).toBe(1_656);
});

test('a credit note waits until its invoice is issued there', async () => {
  const one = await sold([1_000], { configuration: { leave_stripe_invoices_in_draft: true } });
  const id = await credit(one, [100]);
  await later(61);
  expect(await externalOf(id)).toMatchObject({ external_status: 'QUEUED' });
  stripe.state.finalize(one.there.id, true);
  await tell();
  expect(await arrived(id)).toMatchObject({ prePayment: 100 });
});

test('a credit note is voided only before it is sent', async () => {
  const one = await sold([1_000]);
  const early = await credit(one, [100], { deliver_after: new Date(now + 3_600_000).toISOString() });
  await api.post('/v1/invoices/creditNotes/void', { id: early });
  await later(61);
  const sent = await credit(one, [100]);
  await arrived(sent);
  expect(notesOf(stripe.state, one.there.id)).toHaveLength(1);
  const answer = await api.send('POST', '/v1/invoices/creditNotes/void', { id: sent });
  expect(`${answer.status} ${answer.text('message')}`).toMatch(/^409 .*is sent to the billing provider/);
});

test('credit notes that are refused there are listed, and voided or delivered again', async () => {
  const one = await sold([1_000]);
  const byHand = createNote(stripe.state, {
    invoice: one.there.id,
    lines: [{ type: 'custom_line_item', description: 'By hand', quantity: '1', unit_amount: '950' }],
  });
  const [first, second] = [await credit(one, [100]), await credit(one, [60])];
  await arrived(first, 'INVALID_REQUEST_ERROR');
  await arrived(second, 'INVALID_REQUEST_ERROR');
  const list = await api.get('/v1/invoices/creditNotes', {
    query: { external_status: 'INVALID_REQUEST_ERROR', invoice_id: one.id },
  });
  expect(list.list('data')).toHaveLength(2);
  await api.post('/v1/invoices/creditNotes/void', { id: second });
  voidNote(stripe.state, byHand.id);
  await api.post('/v1/invoices/deliver', { invoice_ids: [one.id] });
  expect(await arrived(first)).toMatchObject({ total: 100 });
  expect(notesOf(stripe.state, one.there.id).filter(({ status }) => status === 'issued')).toHaveLength(1);
});

test('a credit note that is voided there is shown so once Stripe tells', async () => {
  const one = await sold([1_000]);
  const id = await credit(one, [100]);
  voidNote(stripe.state, (await arrived(id)).id);
  await tell();
  await arrived(id, 'VOID');
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ amount_paid: 0 }), {
    timeout: 20_000,
  });
});

test('a credit note of a payment without an invoice is refused, with the step to take', async () => {
  const configuration = { stripe_collection_method: 'auto_charge_payment_intent' };
  const customer = await billedCustomer(service, stripe.state.addCustomer(), { configuration });
  const id = await customer.bill(1_000);
  const one = { customer, id, there: undefined as unknown as StandInInvoice };
  await vi.waitFor(async () => expect(await shown(one)).toMatchObject({ external_status: 'PAID' }), {
    timeout: 20_000,
  });
  const refused = await credit(one, [100], { settlement: 'refund' });
  await arrived(refused, 'INVALID_REQUEST_ERROR');
  expect(String((await externalOf(refused)).billing_provider_error)).toContain('refund it there');
});

test('a call for a credit note is repeated under its key while it may still arrive, so that there is one note', async () => {
  const one = await sold([1_000]);
  const faults = ['error_before', 'cut', 'lost'] as const;
  let calls = 0;
  stripe.misbehave = ({ method, path }) =>
    method === 'POST' && path === '/v1/credit_notes' ? (faults[calls++] ?? null) : null;
  const id = await credit(one, [100]);
  await vi.waitFor(
    async () => {
      await later(20);
      expect(await externalOf(id)).toMatchObject({ external_status: 'ISSUED' });
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(await arrived(id)).toMatchObject({ total: 100 });
  const keys = stripe.requests
    .filter(({ method, path }) => method === 'POST' && path === '/v1/credit_notes')
    .slice(-calls)
    .map(({ key }) => key);
  expect(new Set(keys).size).toBe(1);
});
