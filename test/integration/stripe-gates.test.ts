/** Purchases that Stripe collects: paid before their balance can be used, once, whatever fails. */
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Fault, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { connectedTo } from '../support/stripe/billed-customer.ts';
import { createKiller } from '../support/stripe/delivery-schedules.ts';
import { buyGated, type GatedPurchase, PRICE } from '../support/stripe/gated-purchases.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

/** Longer than a request is waited for, as in a real service. After each kill this passes before another process continues. */
const LEASE_MS = 1_500;

const stripe = await startStripeStandIn();
const killer = createKiller();
const service = await serviceForFile({
  sandboxNow: '2026-03-10T00:00:00Z',
  paymentProvider: 'stripe',
  ...connectedTo(stripe),
  deliveryHooks: { betweenSteps: killer.betweenSteps, leaseMs: LEASE_MS },
  log: pino({ level: 'silent' }),
});
const { api } = service;
const hook = `${service.url}/v1/providers/stripe/webhook/default`;
const receiver = await startWebhookReceiver();
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
let minutes = 0;

async function later(by: number): Promise<void> {
  minutes += by;
  await service.moveClock(Date.UTC(2026, 2, 10) + minutes * 60_000);
}

const DAY = 24 * 60;
/** All steps of a charge, and some moments after the last one; every third of them in most runs. */
const KILLED_AT = Array.from({ length: runs(24) }, (_, index) => 1 + index * Math.floor(24 / runs(24)));

/** The kinds of payment, and the request that pays or is refused. */
const TYPES = [
  { type: 'INVOICE', pays: '/pay' },
  { type: 'PAYMENT_INTENT', pays: '/confirm' },
] as const;

const gate = (type: string, change: object = {}) => ({
  stripe_config: { payment_type: type, invoice_metadata: { order: 'o-1' } },
  ...change,
});

/** The purchase at Stripe: an invoice, or a payment without one. */
async function there(purchase: GatedPurchase) {
  const { id } = await purchase.invoice();
  const [invoice] = [...stripe.state.invoices.values()].filter(
    (one) => one.metadata.tallyhouse_invoice_id === id,
  );
  const intents = [...stripe.state.intents.values()].filter(
    (one) => one.metadata.tallyhouse_invoice_id === id || one.id === invoice?.intent,
  );
  expect(intents.length).toBeLessThanOrEqual(1);
  return { invoice, intent: intents[0] };
}

const messagesOf = ({ commitId, customerId }: GatedPurchase) =>
  receiver.received
    .map(({ message: { type, properties } }) => ({ type, properties: properties as Record<string, unknown> }))
    .filter(({ type, properties }) => {
      const text = JSON.stringify(properties);
      return type.startsWith('payment_gate.') && (text.includes(commitId) || text.includes(customerId));
    });

function once(ends: string, fault: Fault) {
  let isDone = false;
  stripe.misbehave = ({ path }) => {
    if (isDone || !path.endsWith(ends)) return null;
    isDone = true;
    return fault;
  };
}

async function eventually(
  purchase: GatedPurchase,
  expected: { balance: string; status: string },
): Promise<void> {
  await vi.waitFor(
    async () =>
      expect({
        balance: await purchase.balance(),
        status: (await purchase.invoice()).external.external_status,
      }).toEqual(expected),
    { timeout: 20_000 },
  );
}

beforeEach(() => {
  stripe.misbehave = () => null;
  killer.begin([]);
});

afterAll(async () => {
  await receiver.close();
  await stripe.close();
});

describe.each(TYPES)('a gate of type STRIPE, $type', ({ type, pays }) => {
  test('a gate of type STRIPE is paid before its balance can be used, with metadata that lead back', async () => {
    once(pays, 'error_before');
    const purchase = await buyGated(service, stripe.state.addCustomer('pays'), gate(type));
    expect(await purchase.balance()).toBe('0');
    await later(5);
    await eventually(purchase, { balance: '500', status: 'PAID' });
    const { id, external } = await purchase.invoice();
    const { invoice, intent } = await there(purchase);
    expect((type === 'INVOICE' ? invoice : intent)?.metadata).toMatchObject({
      order: 'o-1',
      metronome_id: id,
      metronome_invoice_id: id,
      metronome_customer_id: purchase.customerId,
      tallyhouse_invoice_id: id,
      tallyhouse_contract_id: purchase.contractId,
      metronome_commit_id: purchase.commitId,
    });
    expect(external).toMatchObject({ external_payment_id: intent?.id, invoiced_sub_total: PRICE });
    expect(intent).toMatchObject({ amount: PRICE, currency: 'usd', status: 'succeeded' });
    if (type === 'INVOICE') expect(invoice).toMatchObject({ status: 'paid', autoAdvance: false });
    await vi.waitFor(
      () => expect(messagesOf(purchase).map((one) => one.type)).toEqual(['payment_gate.payment_status']),
      {
        timeout: 20_000,
      },
    );
    expect(messagesOf(purchase)[0]?.properties).toMatchObject({
      payment_status: 'paid',
      invoice_id: id,
      billing_provider: { type: 'stripe', stripe: { payment_intent_id: intent?.id } },
    });
  });

  test('a payment that its customer has to confirm is reported once, and its balance can be used when that is done', async () => {
    const purchase = await buyGated(service, stripe.state.addCustomer('needs_action'), gate(type));
    const { intent } = await there(purchase);
    const told = () => messagesOf(purchase).filter((one) => one.type.endsWith('pending_action_required'));
    await vi.waitFor(() => expect(told()).toHaveLength(1), { timeout: 20_000 });
    expect(told()[0]?.properties).toMatchObject({
      payment_intent_id: intent?.id,
      workflow_id: purchase.commitId,
      invoice_id: (await purchase.invoice()).id,
      billing_provider: { type: 'stripe', stripe: { payment_intent_id: intent?.id } },
    });
    // The events of Stripe about the refusal change nothing.
    await stripe.deliver(hook, stripe.state.events.slice(-3));
    await later(120);
    expect(await purchase.balance()).toBe('0');
    expect((await purchase.invoice()).status).toBe('FINALIZED');
    if (intent !== undefined) stripe.state.succeed(intent);
    await stripe.deliver(hook, stripe.state.events.slice(-1));
    await later(65);
    await eventually(purchase, { balance: '500', status: 'PAID' });
    expect(told()).toHaveLength(1);
  });

  test('a gate of type STRIPE that nobody confirms within a day fails, and cannot be paid any more', async () => {
    const purchase = await buyGated(service, stripe.state.addCustomer('needs_action'), gate(type));
    await later(DAY + 120);
    await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), { timeout: 20_000 });
    const { invoice, intent } = await there(purchase);
    expect(type === 'INVOICE' ? invoice?.status : intent?.status).toMatch(/^(void|canceled)$/);
    expect(await purchase.balance()).toBe('0');
  });

  test('a gate of type STRIPE that is declined voids the invoice here and there, says why, and is not tried again', async () => {
    const purchase = await buyGated(service, stripe.state.addCustomer('declined'), gate(type));
    await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), { timeout: 20_000 });
    await later(DAY);
    const { invoice, intent } = await there(purchase);
    expect(type === 'INVOICE' ? invoice?.status : intent?.status).toMatch(/^(void|canceled)$/);
    expect(await purchase.balance()).toBe('0');
    await vi.waitFor(() => expect(messagesOf(purchase)).toHaveLength(1), { timeout: 20_000 });
    expect(messagesOf(purchase)[0]?.properties).toMatchObject({
      payment_status: 'failed',
      error_message: expect.stringContaining('declined'),
      billing_provider: {
        type: 'stripe',
        stripe: {
          payment_intent_id: intent?.id,
          error: {
            type: 'card_error',
            code: 'card_declined',
            decline_code: 'insufficient_funds',
            message: expect.stringContaining('declined'),
          },
        },
      },
    });
  });

  test('a gate of type STRIPE from a bank account is waited for, for longer than a confirmation', async () => {
    const purchase = await buyGated(service, stripe.state.addCustomer('processes'), gate(type));
    await later(4 * DAY);
    await later(2 * DAY);
    expect(await purchase.balance()).toBe('0');
    expect((await purchase.invoice()).status).toBe('FINALIZED');
    const { intent } = await there(purchase);
    if (intent !== undefined) stripe.state.succeed(intent);
    await later(65);
    await eventually(purchase, { balance: '500', status: 'PAID' });
  });

  test.each([
    ['NONE', {}, 0],
    ['STRIPE', {}, PRICE / 10],
    ['PRECALCULATED', { precalculated_tax_config: { tax_amount: 76, tax_name: 'VAT' } }, 76],
  ])(
    'a gate of type STRIPE with tax %s is paid with its tax, beside the sub-total',
    async (tax_type, config, tax) => {
      const purchase = await buyGated(
        service,
        stripe.state.addCustomer('pays'),
        gate(type, { tax_type, ...config }),
      );
      await eventually(purchase, { balance: '500', status: 'PAID' });
      const { external } = await purchase.invoice();
      expect(external).toMatchObject({ invoiced_sub_total: PRICE, invoiced_total: PRICE + tax });
      if (tax > 0) expect(external.tax).toMatchObject({ total_tax_amount: tax, total_taxable_amount: PRICE });
      expect((await there(purchase)).intent?.amount).toBe(PRICE + tax);
    },
  );

  test('a gate of type STRIPE of a location that Stripe Tax does not know fails with its sentence', async () => {
    const customer = stripe.state.addCustomer('pays', false);
    const purchase = await buyGated(service, customer, gate(type, { tax_type: 'STRIPE' }));
    await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), { timeout: 20_000 });
    expect(await purchase.balance()).toBe('0');
    await vi.waitFor(
      () =>
        expect(messagesOf(purchase)[0]?.properties.error_message).toEqual(
          expect.stringContaining('location'),
        ),
      { timeout: 20_000 },
    );
  });

  test.each(['lost', 'error_after', 'hang', 'slow', 'lock_timeout', 'cut'] as const)(
    'a gate of type STRIPE is charged once when its answer is: %s',
    async (fault) => {
      const before = stripe.state.charges;
      once(pays, fault);
      const purchase = await buyGated(service, stripe.state.addCustomer('pays'), gate(type));
      await later(5);
      await eventually(purchase, { balance: '500', status: 'PAID' });
      expect(stripe.state.charges).toBe(before + 1);
      await there(purchase);
    },
  );

  test('a gate of type STRIPE is charged once wherever its process is killed', async () => {
    const before = stripe.state.charges;
    for (const [index, step] of KILLED_AT.entries()) {
      killer.begin([step]);
      const purchase = await buyGated(service, stripe.state.addCustomer('pays'), gate(type));
      await later(5);
      await eventually(purchase, { balance: '500', status: 'PAID' });
      expect(stripe.state.charges, `killed at step ${step}`).toBe(before + index + 1);
    }
  });

  test('a gate of type STRIPE that is declined is declined wherever its process is killed', async () => {
    for (const step of KILLED_AT.filter((_, index) => index % 2 === 0)) {
      killer.begin([step]);
      const purchase = await buyGated(service, stripe.state.addCustomer('declined'), gate(type));
      await later(5);
      await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), {
        timeout: 20_000,
      });
      await later(65);
      expect(await purchase.balance()).toBe('0');
      const { invoice, intent } = await there(purchase);
      expect(type === 'INVOICE' ? invoice?.status : intent?.status).toMatch(/^(void|canceled)$/);
    }
  });
});

test('a tax that nobody computes is refused with a sentence', async () => {
  const refused = buyGated(service, stripe.state.addCustomer(), gate('INVOICE', { tax_type: 'ANROK' }));
  await expect(refused).rejects.toThrow(/ANROK needs a tax provider, and none is connected/);
});

test('a purchase below what Stripe charges fails, with nothing moved to the balance there', async () => {
  const stripeId = stripe.state.addCustomer('pays');
  const purchase = await buyGated(service, stripeId, gate('INVOICE'), 30);
  await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), { timeout: 20_000 });
  expect(await purchase.balance()).toBe('0');
  expect(stripe.state.customer(stripeId).balance).toBe(0);
});

test('a purchase that Stripe calls paid without money releases nothing', async () => {
  const stripeId = stripe.state.addCustomer('pays');
  // The credit is given between our look and the finalization.
  stripe.misbehave = ({ path, customer }) => {
    if (customer === stripeId && path.endsWith('/finalize'))
      stripe.state.customer(stripeId).balance = 20 - PRICE;
    return null;
  };
  const purchase = await buyGated(service, stripeId, gate('INVOICE'));
  await vi.waitFor(async () => expect((await purchase.invoice()).status).toBe('VOID'), { timeout: 20_000 });
  expect(await purchase.balance()).toBe('0');
  expect((await purchase.invoice()).external).toMatchObject({ amount_paid: PRICE - 20 });
});

test('a purchase that a credit of the customer at Stripe covers is paid, and takes no money', async () => {
  const stripeId = stripe.state.addCustomer('declined');
  stripe.state.customer(stripeId).balance = -PRICE;
  const purchase = await buyGated(service, stripeId, gate('INVOICE'));
  await eventually(purchase, { balance: '500', status: 'PAID' });
  expect((await purchase.invoice()).external).toMatchObject({ amount_paid: PRICE });
});

test('an account that taxes by default takes no tax for a gate without one', async () => {
  stripe.state.taxesByDefault = true;
  const purchase = await buyGated(service, stripe.state.addCustomer('pays'), gate('INVOICE'));
  await eventually(purchase, { balance: '500', status: 'PAID' });
  stripe.state.taxesByDefault = false;
  expect((await purchase.invoice()).external).toMatchObject({ invoiced_total: PRICE, amount_paid: PRICE });
});

test('a purchase of nothing is paid', async () => {
  const purchase = await buyGated(service, stripe.state.addCustomer(), gate('PAYMENT_INTENT'), 0.2);
  await eventually(purchase, { balance: '500', status: 'SKIPPED' });
});

test('a declined recharge disables its threshold, and one that is paid can be used', async () => {
  const rate_card_id = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Top-up',
    type: 'FIXED',
  });
  const provider = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
  const recharged = async (card: 'pays' | 'declined') => {
    const configuration = { stripe_customer_id: stripe.state.addCustomer(card) };
    const customer_id = await createdId(api, '/v1/customers', {
      name: 'Recharged',
      customer_billing_provider_configurations: [{ ...provider, configuration }],
    });
    const contract_id = await createdId(api, '/v1/contracts/create', {
      customer_id,
      rate_card_id,
      starting_at: '2026-03-01T00:00:00Z',
      billing_provider_configuration: provider,
      prepaid_balance_threshold_configuration: {
        is_enabled: true,
        threshold_amount: 1_000,
        recharge_to_amount: 5_000,
        commit: { product_id },
        payment_gate_config: { payment_gate_type: 'STRIPE', ...gate('PAYMENT_INTENT') },
      },
    });
    await later(1);
    await later(1);
    const contract = async () => {
      const { body } = await api.post('/v2/contracts/get', {
        customer_id,
        contract_id,
        include_balance: true,
      });
      const { data } = JSON.parse(JSON.stringify(body)) as {
        data: {
          prepaid_balance_threshold_configuration: { is_enabled: boolean };
          commits: { balance: number }[];
        };
      };
      return [data.prepaid_balance_threshold_configuration.is_enabled, data.commits[0]?.balance];
    };
    return contract;
  };
  const [paid, declined] = [await recharged('pays'), await recharged('declined')];
  await vi.waitFor(async () => expect(await paid()).toEqual([true, 5_000]), { timeout: 20_000 });
  await vi.waitFor(async () => expect(await declined()).toEqual([false, 0]), { timeout: 20_000 });
});

test.each<[string, object, string]>([
  [
    '42 keys',
    { invoice_metadata: Object.fromEntries(Array.from({ length: 42 }, (_, at) => [`k${at}`, 'v'])) },
    'invoice_metadata',
  ],
  ['a key of 41 characters', { invoice_metadata: { ['k'.repeat(41)]: 'v' } }, 'invoice_metadata'],
  ['a key with brackets', { invoice_metadata: { 'a[b]': 'v' } }, 'invoice_metadata'],
  ['a value of 501 characters', { invoice_metadata: { k: 'v'.repeat(501) } }, 'invoice_metadata'],
])(
  'metadata that Stripe would refuse, %s, is refused when the purchase is agreed',
  async (_, config, field) => {
    const refused = await buyGated(service, stripe.state.addCustomer('pays'), {
      stripe_config: { payment_type: 'INVOICE', ...config },
    }).catch((error: unknown) => String(error));
    expect(refused).toContain('400');
    expect(refused).toContain(field);
  },
);

test('metadata and the name of a tax at the limits of Stripe are taken, and a longer name is refused', async () => {
  const invoice_metadata = Object.fromEntries(
    Array.from({ length: 41 }, (_, at) => [`${'k'.repeat(38)}${at + 10}`, 'v'.repeat(500)]),
  );
  const config = (tax_name: string) => ({
    stripe_config: { payment_type: 'INVOICE', invoice_metadata },
    tax_type: 'PRECALCULATED',
    precalculated_tax_config: { tax_amount: 76, tax_name },
  });
  const purchase = await buyGated(service, stripe.state.addCustomer('pays'), config('V'.repeat(200)));
  await eventually(purchase, { balance: '500', status: 'PAID' });
  expect((await there(purchase)).invoice?.metadata).toMatchObject(invoice_metadata);
  const refused = buyGated(service, stripe.state.addCustomer('pays'), config('V'.repeat(201)));
  await expect(refused).rejects.toThrow('tax_name');
});
