/** Webhooks from the change to the receiver: a real HTTP server, and the signatures as receivers verify them. */
import Metronome from '@metronome/sdk';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { publishFinalized } from '../../src/notifications/invoice-messages.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { signatureHeaders } from '../../src/notifications/webhooks/signature.ts';
import { jobsContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api, db } = service;

let receiver: WebhookReceiver;
let others: WebhookReceiver[] = [];
let webhook: { readonly id: string; readonly secret: string };

beforeEach(async () => {
  receiver = await startWebhookReceiver();
  webhook = await createWebhook(receiver.url);
});

afterEach(async () => {
  const { body } = await api.get('/v1/webhooks?limit=100');
  for (const { id } of (body as { data: { id: string }[] }).data)
    await api.post('/v1/webhooks/archive', { id });
  for (const one of [receiver, ...others]) await one.close();
  others = [];
});

async function otherReceiver(): Promise<WebhookReceiver> {
  const other = await startWebhookReceiver();
  others.push(other);
  return other;
}

async function createWebhook(url: string, more: object = {}) {
  const made = await api.post('/v1/webhooks/create', { name: 'receiver', url, ...more });
  return { id: made.text('data.id'), secret: made.text('data.secret') };
}

const test = async (id = webhook.id) => (await api.post('/v1/webhooks/test', { id })).text('data.message_id');
const deliveries = (id = webhook.id, query = '') => api.get(`/v1/webhooks/${id}/deliveries${query}`);
const idsAt = ({ received }: WebhookReceiver) => received.map(({ message }) => message.id);
const statusOf = async (id = webhook.id) => (await deliveries(id)).at('data[0].status');

const finalized = (customerId: string, count = 1) =>
  Array.from({ length: count }, (_, index) => ({
    id: newId(),
    customerId,
    issuedAt: Date.UTC(2026, 0, 1) + index,
    status: 'FINALIZED' as const,
  }));
const invoicesAt = ({ received }: WebhookReceiver, customerId: string) =>
  received.flatMap(({ message: { properties } }) => {
    const { invoice_id, customer_id } = properties as { invoice_id: string; customer_id: string };
    return customer_id === customerId ? [invoice_id] : [];
  });

describe('a message', () => {
  it("a message is verified by the client's own helper and by the library of Standard Webhooks", async () => {
    const id = await test();
    await expect.poll(() => receiver.received.length).toBe(1);
    const [{ headers, body }] = receiver.received as [WebhookReceiver['received'][number]];
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const client = new Metronome({ bearerToken: 'unused' });
    expect(client.webhooks.unwrap(body, sent, webhook.secret)).toEqual({
      id,
      type: 'webhook.test',
      properties: { webhook_id: webhook.id, timestamp: '2026-01-10T00:00:00.000Z' },
    });
    expect(new Webhook(webhook.secret).verify(body, sent)).toEqual(JSON.parse(body));
    expect(sent['webhook-id']).toBe(id);
    expect([sent['user-agent'], sent['content-type']]).toEqual(['tallyhouse', 'application/json']);
    await expect.poll(() => statusOf()).toBe('DELIVERED');
  });

  it('a message tells of an invoice that is issued, to every endpoint that subscribed', async () => {
    const [same, none] = [await otherReceiver(), await otherReceiver()];
    await createWebhook(same.url, { event_types: ['invoice.finalized'] });
    await createWebhook(none.url, { event_types: ['contract.create'] });
    const product = await createdId(api, '/v1/contract-pricing/products/create', {
      name: 'Fee',
      type: 'FIXED',
    });
    const customer = await createdId(api, '/v1/customers', { name: 'Acme' });
    const items = [{ timestamp: '2026-01-05T00:00:00Z', amount: 500 }];
    await createdId(api, '/v1/contracts/create', {
      customer_id: customer,
      starting_at: '2026-01-01T00:00:00Z',
      scheduled_charges: [{ product_id: product, schedule: { schedule_items: items } }],
    });
    await service.moveClock('2026-01-10T00:00:01Z');
    const invoice = (await api.get(`/v1/customers/${customer}/invoices`)).text('data[0].id');
    await expect.poll(() => [receiver.received.length, same.received.length]).toEqual([1, 1]);
    expect(same.received[0]?.message).toEqual({
      id: expect.any(String),
      type: 'invoice.finalized',
      properties: {
        invoice_id: invoice,
        customer_id: customer,
        invoice_finalized_date: expect.stringMatching(/^2026-01-/),
      },
    });
    expect(same.received[0]?.body).toBe(receiver.received[0]?.body);
    expect(none.received).toEqual([]);
  });

  it('a message is not sent if its change is rolled back', async () => {
    const customer = newId();
    const undone = db.transaction(async (tx) => {
      await publishFinalized(tx, finalized(customer));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await test();
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(invoicesAt(receiver, customer)).toEqual([]);
  });

  it('a message is written once for many endpoints, and not at all without one', async () => {
    await api.post('/v1/webhooks/archive', { id: webhook.id });
    const customer = newId();
    await db.transaction((tx) => publishFinalized(tx, finalized(customer)));
    const late = await otherReceiver();
    const { id } = await createWebhook(late.url);
    expect((await deliveries(id)).list('data')).toEqual([]);
  });

  it('a message of one customer arrives after those before it', async () => {
    const customers = [newId(), newId(), newId()];
    const sent = customers.map((customer) => finalized(customer, 60));
    for (let index = 0; index < 60; index += 10) {
      const batch = sent.flatMap((own) => own.slice(index, index + 10));
      await db.transaction((tx) => publishFinalized(tx, batch));
    }
    await expect.poll(() => receiver.received.length).toBe(180);
    expect(customers.map((customer) => invoicesAt(receiver, customer))).toEqual(
      sent.map((own) => own.map(({ id }) => id)),
    );
  });

  it('outlives a service that stops between the commit and the acknowledgment, with the same id', async () => {
    receiver.answerWith(() => undefined);
    const id = await test();
    await expect.poll(() => idsAt(receiver)).toEqual([id]);
    await service.restart();
    expect(await statusOf()).toBe('PENDING');
    receiver.answerWith((response) => response.end());
    await expect.poll(() => statusOf()).toBe('DELIVERED');
    expect(new Set(idsAt(receiver))).toEqual(new Set([id]));
  });
});

it('the service shows its deliveries in /metrics', async () => {
  await test();
  const metrics = async () => String((await api.get('/metrics')).body);
  await expect.poll(metrics).toMatch(/^tallyhouse_webhook_attempts_total\{result="acknowledged"\} [1-9]/m);
  expect(await metrics()).toMatch(/^tallyhouse_webhook_oldest_pending_seconds \d/m);
});

describe('a receiver', () => {
  it('a receiver that hangs delays no other', async () => {
    receiver.answerWith(() => undefined);
    for (let index = 0; index < 20; index += 1) await test();
    const other = await otherReceiver();
    const { id } = await createWebhook(other.url);
    const startedAt = Date.now();
    await test(id);
    await expect.poll(() => statusOf(id)).toBe('DELIVERED');
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(await statusOf()).toBe('PENDING');
  });

  it.each([500, 302])(
    'a receiver that answers %i gets the message again, and its answer is kept',
    async (status) => {
      receiver.answerWith((response) => response.writeHead(status, { location: '/' }).end('no'));
      const id = await test();
      await expect.poll(async () => (await deliveries()).at('data[0].last_status')).toBe(status);
      const noted = await deliveries(webhook.id, '?status=PENDING');
      expect(noted.at('data[0]')).toMatchObject({ message_id: id, attempts: 1, last_answer: 'no' });
      expect(noted.text('data[0].last_error')).toContain(`status ${status}`);
      const pause =
        Date.parse(noted.text('data[0].next_attempt_at')) - Date.parse(noted.text('data[0].last_attempt_at'));
      expect(pause).toBeGreaterThanOrEqual(5_000);
      receiver.answerWith((response) => response.end());
      const asked = { id: webhook.id, failed_since: noted.text('data[0].stored_at') };
      expect((await api.post('/v1/webhooks/redeliver', asked)).at('data.messages')).toBe(1);
      await expect.poll(() => statusOf()).toBe('DELIVERED');
      expect(idsAt(receiver)).toEqual([id, id]);
    },
  );
});

describe('a webhook', () => {
  it('a webhook gets one message again on request, and refuses one that it never had', async () => {
    const id = await test();
    await expect.poll(() => statusOf()).toBe('DELIVERED');
    await api.post('/v1/webhooks/redeliver', { id: webhook.id, message_id: id });
    await expect.poll(() => idsAt(receiver)).toEqual([id, id]);
    const unknown = { id: webhook.id, message_id: newId() };
    expect((await api.send('POST', '/v1/webhooks/redeliver', unknown)).status).toBe(404);
  });

  it('a webhook is signed with the new secret after a rotation, and for a day with the former one too', async () => {
    const rotated = await api.post('/v1/webhooks/rotateSecret', { id: webhook.id });
    const id = await test();
    await expect.poll(() => receiver.received.length).toBe(1);
    const [{ headers, body }] = receiver.received as [WebhookReceiver['received'][number]];
    const at = Number(headers['webhook-timestamp']) * 1_000;
    const both = signatureHeaders([rotated.text('data.secret'), webhook.secret], { id, body }, at);
    expect(headers['webhook-signature']).toBe(both['webhook-signature']);
  });

  it('a webhook that is archived gets nothing more', async () => {
    receiver.answerWith((response) => response.writeHead(500).end());
    await test();
    await expect.poll(async () => (await deliveries()).at('data[0].attempts')).toBe(1);
    await api.post('/v1/webhooks/archive', { id: webhook.id });
    expect(await statusOf()).toBe('CANCELED');
    expect((await api.send('POST', '/v1/webhooks/test', { id: webhook.id })).status).toBe(409);
    expect((await api.get(`/v1/webhooks/${webhook.id}`)).text('data.archived_at')).toMatch(/^2026-01-1/);
  });

  it('a webhook shows its secret when it is created, and never again', async () => {
    const listed = await api.get('/v1/webhooks');
    expect(JSON.stringify(listed.body)).toContain(webhook.id);
    expect(JSON.stringify(listed.body)).not.toContain(webhook.secret);
  });

  it.each([
    'http://receiver.example/',
    'ftp://receiver.example/',
    'not a URL',
    'https://user@receiver.example/',
  ])('a webhook refuses %s', (url) => {
    const context = jobsContext({ db, allowPrivate: false });
    const create = async () => createEndpoint(context, { name: 'x', url, eventTypes: null });
    return expect(create()).rejects.toMatchObject({ kind: 'invalid', path: ['url'] });
  });
});

it('switches lifecycle events on and off, and refuses to edit what does not exist', async () => {
  const type = 'contract.create';
  const listed = async () =>
    (await api.post('/v2/notifications/system/list'))
      .list('data')
      .filter((one) => JSON.stringify(one).includes(type));
  const shown = (isEnabled: boolean) => ({
    type: 'SYSTEM_LIFECYCLE_EVENT',
    is_enabled: isEnabled,
    policy: { type },
  });
  expect(await listed()).toEqual([shown(false)]);
  const edit = { policy: { type } };
  expect((await api.post('/v2/notifications/edit', { ...edit, is_enabled: true })).at('data')).toEqual(
    shown(true),
  );
  expect((await api.post('/v2/notifications/edit', edit)).at('data')).toEqual(shown(true));
  await createdId(api, '/v1/contracts/create', {
    customer_id: await createdId(api, '/v1/customers', { name: 'Told' }),
    starting_at: '2026-01-01T00:00:00Z',
  });
  await expect.poll(() => receiver.received.map(({ message }) => message.type)).toEqual([type]);
  expect((await api.post('/v2/notifications/edit', { ...edit, is_enabled: false })).at('data')).toEqual(
    shown(false),
  );
  const unknown = await api.send('POST', '/v2/notifications/edit', { ...edit, id: newId() });
  expect([unknown.status, unknown.at('code')]).toEqual([400, 'NotificationConfigNotFound']);
});
