/** Messages of payment gates, from the usage that crosses a threshold to the release of what was paid. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
  topUp,
} from '../support/thresholds.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:30:00Z';
const service = await serviceForFile({ sandboxNow: NOW, paymentProvider: 'simulated' });
const { api } = service;
const catalogue = await createThresholdCatalogue(api);

let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
});

afterAll(async () => {
  await receiver.close();
});

function customerWith(payment_gate_type: string, change: object = {}): Promise<ThresholdCustomer> {
  const terms = topUp(catalogue, { payment_gate_config: { payment_gate_type }, ...change });
  return createThresholdCustomer(api, catalogue, { prepaid_balance_threshold_configuration: terms });
}

const textOf = (properties: unknown) => JSON.stringify(properties);

/** The messages of payment gates that the customer's systems got, in their order. */
function gateMessages({ customerId }: ThresholdCustomer): ({ type: string } & Record<string, unknown>)[] {
  return receiver.received
    .map(({ message }) => message)
    .filter(
      ({ type, properties }) => type.startsWith('payment_gate.') && textOf(properties).includes(customerId),
    )
    .map(({ type, properties }) => ({ type, ...(properties as Record<string, unknown>) }));
}

function typesOf(customer: ThresholdCustomer): string[] {
  return gateMessages(customer).map(({ type }) => type);
}

/** Everything is evaluated, and the jobs that became due by it are done. */
async function settled(): Promise<void> {
  await service.moveClock(NOW);
  await service.moveClock(NOW);
}

async function invoiceIdOf({ customerId }: ThresholdCustomer): Promise<string> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { type: 'SCHEDULED' } });
  return answer.text('data[0].id');
}

test('a payment that is collected elsewhere is asked for once, and its release is reported once', async () => {
  const customer = await customerWith('EXTERNAL');
  await settled();
  const told = ['payment_gate.threshold_reached', 'payment_gate.external_initiate'];
  await expect.poll(() => typesOf(customer)).toEqual(told);
  const about = {
    workflow_type: 'prepaid_balance',
    customer_id: customer.customerId,
    contract_id: customer.contractId,
  };
  const [reached, request] = gateMessages(customer);
  expect(reached).toEqual({ type: told[0], ...about, timestamp: '2026-11-10T12:30:00.000Z' });
  const invoice_id = await invoiceIdOf(customer);
  expect(request).toEqual({
    type: told[1],
    ...about,
    workflow_id: expect.any(String),
    invoice_id,
    invoice_total: 5000,
    invoice_currency: 'USD',
  });
  const release = { workflow_id: request?.workflow_id, outcome: 'paid' };
  await api.post('/v1/contracts/commits/threshold-billing/release', release);
  await api.post('/v1/contracts/commits/threshold-billing/release', release);
  await settled();
  await expect.poll(() => typesOf(customer)).toEqual([...told, 'payment_gate.payment_status']);
  expect(gateMessages(customer)[2]).toMatchObject({
    ...about,
    invoice_id,
    payment_status: 'paid',
    error_message: null,
  });
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '5000' });
});

test('a payment that fails is reported with the reason; without a gate nothing is paid', async () => {
  const failing = await customerWith('STRIPE', { recharge_to_amount: 5002 });
  const ungated = await customerWith('NONE');
  await settled();
  await expect
    .poll(() => typesOf(failing))
    .toEqual(['payment_gate.threshold_reached', 'payment_gate.payment_status']);
  expect(gateMessages(failing)[1]).toMatchObject({
    invoice_id: await invoiceIdOf(failing),
    payment_status: 'failed',
    error_message: 'the simulated payment provider refuses this amount',
  });
  await expect.poll(() => typesOf(ungated)).toEqual(['payment_gate.threshold_reached']);
});

test('a commit with a gate that was agreed by hand is a separate workflow', async () => {
  const customer = await createThresholdCustomer(api, catalogue, {});
  const until = { ending_before: '2027-01-01T00:00:00Z' };
  await customer.edit({
    add_commits: [
      {
        product_id: catalogue.fee,
        type: 'PREPAID',
        access_schedule: { schedule_items: [{ amount: 700, starting_at: '2026-11-01T00:00:00Z', ...until }] },
        invoice_schedule: { schedule_items: [{ amount: 650.5, timestamp: '2026-11-05T00:00:00Z' }] },
        payment_gate_config: { payment_gate_type: 'EXTERNAL' },
      },
    ],
  });
  await settled();
  await expect.poll(() => typesOf(customer)).toEqual(['payment_gate.external_initiate']);
  expect(gateMessages(customer)).toMatchObject([{ workflow_type: 'manual_commit', invoice_total: 650.5 }]);
});
