/** Secrets of webhooks and custom receivers are sealed at rest, and sign what they signed before. */
import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { createServiceSecrets } from '../../src/app/billing/service-secrets.ts';
import { createSecrets } from '../../src/core/secrets.ts';
import { signatureHeaders } from '../../src/notifications/webhooks/signature.ts';
import { createdId } from '../support/catalogue-api.ts';
import { databaseForFile, serviceForFile } from '../support/file-fixtures.ts';
import { startInvoiceReceiver } from '../support/invoice-receiver.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
const system = await startInvoiceReceiver();
afterAll(() => Promise.all([receiver.close(), system.close()]));
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', log: pino({ level: 'silent' }) });
const { api, db } = service;

const KEY = randomBytes(32);
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const provider = { billing_provider: 'custom', delivery_method: 'webhook' };
const configured = { ...provider, configuration: { url: system.url, signing_secret: SECRET } };

/** Every secret as the rows have it. */
const stored = async () =>
  JSON.stringify(
    await db.execute(sql`
      select secret, former_secret from webhook_endpoints
      union all select configuration::text, null from customer_billing_configurations`),
  );

/** The signature with these secrets that the last message of the webhook should have. */
function signedWith(
  secrets: [string, ...string[]],
  { headers, body, message }: WebhookReceiver['received'][number],
) {
  const at = Number(headers['webhook-timestamp']) * 1_000;
  return signatureHeaders(secrets, { id: message.id, body }, at)['webhook-signature'];
}

/** Sends a test message and returns it as it arrived. */
async function arrived(id: string) {
  const before = receiver.received.length;
  await api.post('/v1/webhooks/test', { id });
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(before + 1);
  return receiver.received[before] as WebhookReceiver['received'][number];
}

/** An invoice of this customer, issued at the `count`th minute of the clock. */
async function bill(customer_id: string, product_id: string, count: number): Promise<void> {
  const timestamp = new Date(Date.UTC(2026, 1, 1)).toISOString();
  await createdId(api, '/v1/contracts/create', {
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
    scheduled_charges: [{ product_id, schedule: { schedule_items: [{ timestamp, amount: 1_234 }] } }],
    billing_provider_configuration: provider,
  });
  await service.moveClock(Date.UTC(2026, 2, 10) + count * 60_000);
}

describe('a service that has a key after its first start', async () => {
  const webhook = await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
  const id = webhook.text('data.id');
  const customer = await createdId(api, '/v1/customers', {
    name: 'Acme',
    customer_billing_provider_configurations: [configured],
  });
  const product = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const plain = await stored();
  await service.restart({ secretsKey: KEY });

  it('secrets that were stored as they are are sealed at the start', async () => {
    expect(plain).toContain(webhook.text('data.secret'));
    expect(plain).toContain(SECRET);
    expect(await stored()).not.toContain('whsec_');
  });

  it('a webhook with a sealed secret is signed as its receiver knows it, also after a rotation', async () => {
    const first = webhook.text('data.secret');
    const before = await arrived(id);
    expect(before.headers['webhook-signature']).toBe(signedWith([first], before));
    const second = (await api.post('/v1/webhooks/rotateSecret', { id })).text('data.secret');
    const after = await arrived(id);
    expect(after.headers['webhook-signature']).toBe(signedWith([second, first], after));
    expect(await stored()).not.toContain('whsec_');
  });

  it('a configuration that equals one with a sealed secret is that one', async () => {
    const path = '/v1/setCustomerBillingProviderConfigurations';
    const body = { data: [{ customer_id: customer, ...configured }] };
    expect((await api.send('POST', path, body)).status).toBe(200);
    const shown = await api.post('/v1/getCustomerBillingProviderConfigurations', { customer_id: customer });
    expect((shown.body as { data: unknown[] }).data).toHaveLength(1);
    expect(JSON.stringify(shown.body)).not.toContain('sealed');
    expect(await stored()).not.toContain('whsec_');
  });

  it('an invoice for a custom receiver is signed with its sealed secret', async () => {
    await bill(customer, product, 1);
    await expect.poll(() => system.messages.length, { timeout: 10_000 }).toBe(1);
    const [{ headers, id: messageId, body }] = system.messages as [(typeof system.messages)[number]];
    const at = Number(headers['webhook-timestamp']) * 1_000;
    const expected = signatureHeaders([SECRET], { id: messageId, body }, at);
    expect(headers['webhook-signature']).toBe(expected['webhook-signature']);
  });

  it('nothing is sent with a secret that another key has sealed, until that key is back', async () => {
    await service.restart({ secretsKey: randomBytes(32) });
    const before = receiver.received.length;
    const waiting = (await api.post('/v1/webhooks/test', { id })).text('data.message_id');
    const last = async () => (await api.get(`/v1/webhooks/${id}/deliveries`)).at('data[0].last_error');
    await expect.poll(last, { timeout: 10_000 }).toContain('SECRETS_KEY');
    await bill(customer, product, 2);
    expect([receiver.received.length, system.messages.length]).toEqual([before, 1]);
    await service.restart({ secretsKey: KEY });
    const arrivedIds = () => receiver.received.map(({ message }) => message.id);
    await expect.poll(arrivedIds, { timeout: 20_000 }).toContain(waiting);
  });
});

describe('the start of a service with a key', async () => {
  const { db: rows } = await databaseForFile();
  const log = pino({ level: 'silent' });
  const sealedBy = async (databaseUrl: string | undefined) => {
    const config = { secretsKey: KEY, databaseUrl };
    return (await createServiceSecrets({ config, db: rows, log })).seal('a secret', 'a purpose');
  };

  it('secrets on a server are sealed a day after the first start, and with an embedded database at once', async () => {
    expect(await sealedBy('postgres://server')).toBeNull();
    expect(await sealedBy('postgres://server')).toBeNull();
    expect(await sealedBy(undefined)).toMatch(/^v1[.]/);
    await rows.execute(sql`
      update service_keys set created_at = clock_timestamp() - interval '1 day'
      where purpose = 'opens_sealed_secrets'`);
    const sealed = await sealedBy('postgres://server');
    const opens = createSecrets(KEY, { seals: false });
    expect(opens.open(sealed ?? '', 'a purpose')).toBe('a secret');
    expect(opens.seal('a secret', 'a purpose')).toBeNull();
  });
});
