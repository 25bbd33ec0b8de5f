/**
 * The properties of Stripe that the service relies on. They are tried with the stand-in in every run, and with a real
 * test account where STRIPE_CONTRACT_KEY has its secret key, which is the only test that leaves the machine.
 */
import Stripe from 'stripe';
import { afterAll, describe, expect, test } from 'vitest';
import { STAND_IN_KEY, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';

interface Target {
  readonly name: string;
  readonly client: Stripe;
  customer(card: 'pays' | 'needs_action'): Promise<string>;
}

const VERSION = '2026-10-28.endive';
const standIn = await startStripeStandIn();
const { hostname: host, port } = new URL(standIn.url);
const targets: Target[] = [
  {
    name: 'the stand-in',
    client: new Stripe(STAND_IN_KEY, { apiVersion: VERSION, host, port, protocol: 'http', telemetry: false }),
    customer: async (card) => standIn.state.addCustomer(card),
  },
];
const key = process.env.STRIPE_CONTRACT_KEY;
if (key !== undefined) {
  // Real money never takes part.
  if (!key.includes('_test_')) throw new Error('STRIPE_CONTRACT_KEY must be the key of a test account');
  const client = new Stripe(key, { apiVersion: VERSION, telemetry: false });
  targets.push({
    name: 'Stripe',
    client,
    async customer(card) {
      const payment_method = card === 'pays' ? 'pm_card_visa' : 'pm_card_authenticationRequired';
      const { id } = await client.customers.create({ name: 'Contract test', payment_method });
      const [method] = (await client.customers.listPaymentMethods(id)).data;
      if (method === undefined) throw new Error('it has a card');
      await client.customers.update(id, { invoice_settings: { default_payment_method: method.id } });
      return id;
    },
  });
}

afterAll(() => standIn.close());

const PERIOD = { start: 1_770_000_000, end: 1_772_000_000 };

function lines(count: number, from = 0): Stripe.InvoiceAddLinesParams.Line[] {
  return Array.from({ length: count }, (_, index) => ({
    amount: 100 + index,
    description: `Line ${from + index}`,
    period: PERIOD,
    discountable: false,
    metadata: { tallyhouse_line_id: `line-${from + index}` },
  }));
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: string }).code;
  }
  throw new Error('it is refused');
}

describe.each(targets)('$name', ({ client, customer }) => {
  const draft = async (id: string, invoiceId: string) =>
    client.invoices.create({
      customer: id,
      currency: 'usd',
      auto_advance: false,
      collection_method: 'charge_automatically',
      pending_invoice_items_behavior: 'exclude',
      metadata: { tallyhouse_invoice_id: invoiceId },
    });

  test('a draft has the lines that are added, in pages, each with our id, and is listed at once', async () => {
    const id = await customer('pays');
    const invoice = await draft(id, 'ours-1');
    expect([invoice.status, invoice.lines.data.length]).toEqual(['draft', 0]);
    await client.invoices.addLines(invoice.id, { lines: lines(100) });
    await client.invoices.addLines(invoice.id, { lines: lines(30, 100) });
    const read = await client.invoices.retrieve(invoice.id);
    expect(read.lines).toMatchObject({ has_more: true });
    expect(read.subtotal).toBe((199 * 200) / 2 - (99 * 100) / 2 + (129 * 130) / 2 - (99 * 100) / 2);
    const all: Stripe.InvoiceLineItem[] = [];
    for await (const line of client.invoices.listLineItems(invoice.id, { limit: 100 })) all.push(line);
    expect(all).toHaveLength(130);
    expect(new Set(all.map(({ metadata }) => metadata.tallyhouse_line_id)).size).toBe(130);
    const since = Math.floor(Date.now() / 1000) - 3_600;
    const listed = await client.invoices.list({ customer: id, created: { gte: since }, limit: 100 });
    expect(listed.data.map(({ metadata }) => metadata?.tallyhouse_invoice_id)).toEqual(['ours-1']);
    await client.invoices.del(invoice.id);
    expect(await codeOf(client.invoices.retrieve(invoice.id))).toBe('resource_missing');
    expect(await codeOf(client.invoices.del(invoice.id))).toBe('resource_missing');
  });

  test('lines are changed and removed, may be below zero, and carry given taxes beside the sub-total', async () => {
    const invoice = await draft(await customer('pays'), 'ours-2');
    const [first, second] = lines(2);
    const tax = {
      amount: 8,
      taxable_amount: 100,
      tax_rate_data: { display_name: 'VAT', inclusive: false, percentage: 8 },
    };
    const added = await client.invoices.addLines(invoice.id, {
      lines: [
        { ...first, tax_amounts: [tax] },
        { ...second, amount: -30 },
      ],
    });
    expect([added.subtotal, added.total]).toEqual([70, 78]);
    const [one, other] = added.lines.data.toSorted((a, b) => b.amount - a.amount);
    const changed = await client.invoices.updateLines(invoice.id, {
      lines: [{ id: one?.id ?? '', ...first, amount: 150, tax_amounts: [tax] }],
    });
    expect(changed.subtotal).toBe(120);
    const removed = await client.invoices.removeLines(invoice.id, {
      lines: [{ id: other?.id ?? '', behavior: 'delete' }],
    });
    expect([removed.subtotal, removed.total]).toEqual([150, 158]);
  });

  test('an invoice is finalized once, paid once, and then neither voided nor changed', async () => {
    const invoice = await draft(await customer('pays'), 'ours-3');
    await client.invoices.addLines(invoice.id, { lines: lines(1) });
    const final = await client.invoices.finalizeInvoice(invoice.id, { auto_advance: false });
    expect(final).toMatchObject({ status: 'open', subtotal: 100, amount_paid: 0 });
    expect(await codeOf(client.invoices.finalizeInvoice(invoice.id))).toBe('invoice_not_editable');
    expect(await codeOf(client.invoices.addLines(invoice.id, { lines: lines(1) }))).toBe(
      'invoice_not_editable',
    );
    const paid = await client.invoices.pay(invoice.id, { off_session: true, expand: ['payments'] });
    expect(paid).toMatchObject({ status: 'paid', amount_paid: 100 });
    expect(paid.payments?.data[0]?.payment.payment_intent).toEqual(expect.stringMatching(/^pi_/));
    await expect(client.invoices.pay(invoice.id)).rejects.toThrow(/already paid/);
    await expect(client.invoices.voidInvoice(invoice.id)).rejects.toThrow();
  });

  test('an open one is voided, and is listed as such', async () => {
    const id = await customer('pays');
    const invoice = await draft(id, 'ours-4');
    await client.invoices.addLines(invoice.id, { lines: lines(1) });
    await client.invoices.finalizeInvoice(invoice.id, { auto_advance: false });
    expect((await client.invoices.voidInvoice(invoice.id)).status).toBe('void');
    const listed = await client.invoices.list({ customer: id });
    expect(listed.data.map(({ status }) => status)).toEqual(['void']);
  });

  test('a payment off session that needs its customer is refused as such, and can be canceled', async () => {
    const id = await customer('needs_action');
    const intent = await client.paymentIntents.create({
      amount: 4_000,
      currency: 'usd',
      customer: id,
      metadata: { tallyhouse_invoice_id: 'ours-5' },
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });
    const known = await client.customers.retrieve(id);
    if (known.deleted) throw new Error('it is there');
    const method = String(known.invoice_settings.default_payment_method);
    const confirm = client.paymentIntents.confirm(intent.id, { payment_method: method, off_session: true });
    expect(await codeOf(confirm)).toBe('authentication_required');
    const read = await client.paymentIntents.retrieve(intent.id);
    expect(read.status).toBe('requires_payment_method');
    expect(read.last_payment_error?.code).toBe('authentication_required');
    expect((await client.paymentIntents.cancel(intent.id)).status).toBe('canceled');
    const listed = await client.paymentIntents.list({ customer: id });
    expect(listed.data.map(({ metadata }) => metadata.tallyhouse_invoice_id)).toEqual(['ours-5']);
  });

  test('a key repeats its answer, and a customer that is not there is refused as missing', async () => {
    const id = await customer('pays');
    const idempotencyKey = `contract-${Date.now()}-${id}`;
    const params = { customer: id, currency: 'usd', auto_advance: false };
    const [first, again] = [
      await client.invoices.create(params, { idempotencyKey }),
      await client.invoices.create(params, { idempotencyKey }),
    ];
    expect(again.id).toBe(first.id);
    await client.invoices.del(first.id);
    expect(await codeOf(client.invoices.create({ ...params, customer: 'cus_nobody' }))).toBe(
      'resource_missing',
    );
  });
});
