/**
 * Messages to webhooks and an invoice are being sent while the stores are moved. Each may arrive twice with the same id,
 * none is lost, and the old place begins nothing more.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { type BillingProcess, created, moveClock, startBillingProcess } from '../support/billing-process.ts';
import { runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type InvoiceReceiver, startInvoiceReceiver } from '../support/invoice-receiver.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const START = '2026-03-01T00:00:00Z';
/** One message is sent at a time, and given up after ten seconds: on a busy machine the move may take long to begin. */
const DAYS = Array.from({ length: 8 }, (_, day) => `2026-03-${String(day + 2).padStart(2, '0')}T00:00:00Z`);
const NOW = '2026-03-10T00:00:00Z';
const ENV = { WEBHOOK_ALLOW_PRIVATE: '1' };
const WAIT = { timeout: 120_000, interval: 20 };
const provider = { billing_provider: 'custom', delivery_method: 'webhook' };
const signing_secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

let gateway: PostgresGateway;
let front: FrontProcess;
let webhooks: WebhookReceiver;
let system: InvoiceReceiver;
const running: BillingProcess[] = [];

beforeAll(async () => {
  gateway = await startPostgresGateway();
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
  webhooks = await startWebhookReceiver();
  system = await startInvoiceReceiver();
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.kill()));
  await webhooks?.close();
  await system?.close();
  await front?.kill();
  await gateway?.close();
});

interface World {
  readonly service: BillingProcess;
  readonly webhookId: string;
  readonly customerId: string;
  readonly invoiceId: string;
}

/** A customer with an invoice for each day: the messages of the first are being sent, and so is the invoice itself. */
async function somethingInFlight(dataDir: string, held: ServerResponse[]): Promise<World> {
  webhooks.answerWith((response) => held.push(response));
  // The first attempt of each delivery, for which a move of the clock waits.
  system.misbehave = () => 500;
  const service = await startBillingProcess(null, dataDir, START, ENV);
  running.push(service);
  const webhookId = await created(service, '/v1/webhooks/create', { name: 'all', url: webhooks.url });
  const customerId = await created(service, '/v1/customers', {
    name: 'Billed',
    customer_billing_provider_configurations: [
      { ...provider, configuration: { url: system.url, signing_secret } },
    ],
  });
  const product_id = await created(service, '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const schedule_items = DAYS.map((timestamp) => ({ timestamp, amount: 1_234 }));
  await created(service, '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: START,
    billing_provider_configuration: provider,
    scheduled_charges: [{ product_id, schedule: { schedule_items } }],
  });
  await moveClock(service, NOW);
  const { data } = JSON.parse((await service.call(`/v1/customers/${customerId}/invoices`)).body);
  const invoiceId: string = data[0].id;
  system.misbehave = () => null;
  await vi.waitUntil(() => held.length > 0, WAIT);
  return { service, webhookId, customerId, invoiceId };
}

/** The messages to the webhook, and how many of them were acknowledged. */
async function deliveriesOf(service: BillingProcess, webhookId: string) {
  const { body } = await service.call(`/v1/webhooks/${webhookId}/deliveries?limit=100`);
  const data: { message_id: string; status: string }[] = JSON.parse(body).data;
  return {
    ids: data.map(({ message_id }) => message_id).sort(),
    isDelivered: data.every(({ status }) => status === 'DELIVERED'),
  };
}

const idsAtWebhook = () => [...new Set(webhooks.received.map(({ message }) => message.id))].sort();

test('messages and an invoice that are being sent when a move begins arrive, and the old place begins nothing more', async () => {
  const dataDir = await createDataDirectory();
  const held: ServerResponse[] = [];
  const { service, webhookId, customerId, invoiceId } = await somethingInFlight(dataDir, held);
  const { ids } = await deliveriesOf(service, webhookId);
  expect(ids.length).toBeGreaterThanOrEqual(DAYS.length);
  let takenAtReceiver = () => {};
  const answered = new Promise<void>((resolve) => {
    takenAtReceiver = resolve;
  });
  system.onTaken = () => answered;
  expect((await service.call('/v1/invoices/deliver', { invoice_ids: [invoiceId] })).status).toBe(200);
  await vi.waitUntil(() => system.messages.length > 0, WAIT);

  const servers = { postgres: await gateway.createDatabase(), clickhouse: frontUrl(front.port, 'flight') };
  const to = ['--to-postgres', servers.postgres, '--to-clickhouse', servers.clickhouse];
  const move = runProgram('src/app/cli/main.ts', ['move', ...to, '--no-reconcile'], {
    ...{ DATA_DIR: dataDir, SANDBOX_NOW: START },
  });
  const refusal = async () => (await service.call('/v1/customers', { name: 'refused' })).body;
  await vi.waitUntil(async () => (await refusal()).includes('are being moved'), WAIT);
  const begun = idsAtWebhook();
  expect(begun.length).toBeLessThan(ids.length);
  webhooks.answerWith((response) => response.end());
  for (const response of held) response.end();
  takenAtReceiver();
  system.onTaken = async () => {};
  expect(await move.ended, move.stderr()).toBe(0);
  await service.kill();
  expect(idsAtWebhook()).toEqual(begun);
  expect(system.invoices.size).toBe(1);

  const client = connectPostgres({ url: servers.postgres }, { max: 1 });
  // As if the time of its leases had passed, and that of the pause after an attempt that was given up: on a slow machine
  // the receiver holds the invoice for longer than an attempt lasts, and the clock of the sandbox stands still.
  await client`update webhook_endpoints set lease_until = clock_timestamp()`;
  await client`update invoice_deliveries set lease_until = clock_timestamp() where lease_until is not null`;
  await client`update invoice_deliveries set due_at = ${NOW} where due_at is not null`;
  await client.end();
  const place = await startBillingProcess(servers, await createTestDirectory(), START, ENV);
  running.push(place);
  await expect.poll(async () => (await deliveriesOf(place, webhookId)).isDelivered, WAIT).toBe(true);
  // There are others by now, such as that of the delivered invoice.
  expect(idsAtWebhook()).toEqual(expect.arrayContaining(ids));
  const bodies = new Map(webhooks.received.map(({ message, body }) => [message.id, body]));
  for (const { message, body } of webhooks.received) expect(body).toBe(bodies.get(message.id));
  const shown = async () => {
    const { body } = await place.call(`/v1/customers/${customerId}/invoices/${invoiceId}`);
    return JSON.parse(body).data.external_invoice.invoice_id;
  };
  await expect.poll(shown, WAIT).toBe('ext-1');
  const ofInvoice = system.messages.filter(({ invoice }) => invoice?.id === invoiceId);
  expect(new Set(ofInvoice.map(({ id }) => id)).size).toBe(1);
});
