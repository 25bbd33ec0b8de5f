/** Processes that send webhooks and are killed or paused: every message arrives, repeated ones with the same id. */
import { expect, it } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { publishFinalized } from '../../src/notifications/invoice-messages.ts';
import { createDeliverer } from '../../src/notifications/webhooks/deliverer.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { jobsContext } from '../support/billing-context.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { expectAllDelivered } from '../support/killed-webhooks.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const database = await databaseForFile();

it('delivers every message though two processes are killed on the way', async () => {
  await expect(expectAllDelivered(database, 1_000)).resolves.toBeUndefined();
});

it('the service counts attempts by their result, and what is waiting with its age', async () => {
  const { db } = database;
  const [accepts, refuses, gone] = await Promise.all([1, 2, 3].map(() => startWebhookReceiver()));
  refuses?.answerWith((response) => response.writeHead(500).end());
  await gone?.close();
  const context = jobsContext({ db, allowPrivate: true });
  for (const receiver of [accepts, refuses, gone]) {
    await createEndpoint(context, { name: 'r', url: receiver?.url ?? '', eventTypes: null });
  }
  const invoice = { id: newId(), customerId: newId(), issuedAt: 0, status: 'FINALIZED' as const };
  await db.transaction((tx) => publishFinalized(tx, [invoice]));
  const deliverer = createDeliverer(jobsContext({ db }));
  deliverer.start();
  const seen = () => Object.entries(deliverer.stats().attempts).filter(([, attempts]) => attempts > 0);
  await expect.poll(() => seen().length).toBe(3);
  await expect.poll(() => deliverer.stats().pending).toBeGreaterThanOrEqual(2);
  expect(deliverer.stats().oldestAt).toBeLessThanOrEqual(Date.now());
  expect(deliverer.stats().oldestAt).toBeGreaterThan(Date.now() - 600_000);
  expect(deliverer.stats().givenUp).toBe(0);
  await deliverer.close();
  for (const receiver of [accepts, refuses]) await receiver?.close();
});

it('a process that is paused begins no attempt, and continues afterwards', async () => {
  const { db } = database;
  const receiver = await startWebhookReceiver();
  await createEndpoint(jobsContext({ db }), { name: 'r', url: receiver.url, eventTypes: null });
  let isPaused = true;
  const paused = createDeliverer(jobsContext({ db, isPaused: () => isPaused }));
  const other = createDeliverer(jobsContext({ db }));
  const publish = async () => {
    const invoice = { id: newId(), customerId: newId(), issuedAt: 0, status: 'FINALIZED' as const };
    await db.transaction((tx) => publishFinalized(tx, [invoice]));
  };
  await publish();
  paused.start();
  other.start();
  await expect.poll(() => receiver.received.length).toBe(1);
  await other.close();
  expect(Object.values(paused.stats().attempts)).toEqual([0, 0, 0]);
  isPaused = false;
  await publish();
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(paused.stats().attempts.acknowledged).toBeGreaterThan(0);
  await paused.close();
  await receiver.close();
});
