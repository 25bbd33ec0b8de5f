/** Webhooks that are archived or get another secret, and customers that are erased, while their messages are sent. */
import type { ServerResponse } from 'node:http';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { publishFinalized } from '../../src/notifications/invoice-messages.ts';
import { signatureHeaders } from '../../src/notifications/webhooks/signature.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api, db } = service;

let receiver: WebhookReceiver;
let webhook: { readonly id: string; readonly secret: string };
let customerId: string;
/** The answers that the receiver holds back. */
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  receiver = await startWebhookReceiver();
  receiver.answerWith((response) => held.push(response));
  const made = await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
  webhook = { id: made.text('data.id'), secret: made.text('data.secret') };
  customerId = await createdId(api, '/v1/customers', { name: 'Customer' });
});

afterEach(async () => {
  await api.post('/v1/webhooks/archive', { id: webhook.id });
  await receiver.close();
});

/** Messages of one customer, which are sent one after the other in one round. The first is being sent. */
async function sendInOneRound(count: number): Promise<string[]> {
  const invoices = Array.from({ length: count }, () => ({
    ...{ id: newId(), customerId, issuedAt: Date.UTC(2026, 0, 1), status: 'FINALIZED' as const },
  }));
  await db.transaction((tx) => publishFinalized(tx, invoices));
  await expect.poll(() => held.length).toBe(1);
  return invoices.map(({ id }) => id);
}

function answerHeld(): void {
  receiver.answerWith((response) => response.end());
  for (const response of held) response.end();
}

/** Resolves when no process sends to the webhook. */
async function roundEnded(): Promise<void> {
  const leased = async () =>
    (
      await db.execute(
        sql`select 1 from webhook_endpoints where id = ${webhook.id} and lease_owner is not null`,
      )
    ).length;
  await expect.poll(leased).toBe(0);
}

const invoicesAtReceiver = () =>
  receiver.received.map(({ message }) => (message.properties as { invoice_id: string }).invoice_id);

test('a webhook that is archived gets nothing more of the round that is under way', async () => {
  const [first] = await sendInOneRound(3);
  await api.post('/v1/webhooks/archive', { id: webhook.id });
  answerHeld();
  await roundEnded();
  expect(invoicesAtReceiver()).toEqual([first]);
  const deliveries = (await api.get(`/v1/webhooks/${webhook.id}/deliveries`)).list('data');
  expect(deliveries.map((one) => (one as { status: string }).status)).toEqual([
    'CANCELED',
    'CANCELED',
    'CANCELED',
  ]);
});

test('a new secret signs the next message of the round that is under way', async () => {
  const sent = await sendInOneRound(2);
  const rotated = (await api.post('/v1/webhooks/rotateSecret', { id: webhook.id })).text('data.secret');
  answerHeld();
  await expect.poll(() => invoicesAtReceiver()).toEqual(sent);
  const [before, after] = receiver.received.map(({ headers, body, message: { id } }) => {
    const at = Number(headers['webhook-timestamp']) * 1_000;
    const signedWith = (...secrets: [string, ...string[]]) => signatureHeaders(secrets, { id, body }, at);
    return { headers, signedWith };
  });
  expect(before?.headers).toMatchObject(before?.signedWith(webhook.secret) ?? {});
  expect(after?.headers).toMatchObject(after?.signedWith(rotated, webhook.secret) ?? {});
});

test('nothing more is sent about a customer that is erased', async () => {
  const [first] = await sendInOneRound(3);
  await api.post(`/v1/customers/${customerId}/erase`, {});
  answerHeld();
  await roundEnded();
  expect(invoicesAtReceiver()).toEqual([first]);
});
