/** An idle process asks PostgreSQL what is due: nothing that is due waits longer than for the next question. */
import { sql } from 'drizzle-orm';
import { beforeEach, expect, test, vi } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { createChangesFeed } from '../../src/jobs/evaluations/changes-feed.ts';
import { createDueWatch, type DueCondition, pollDue } from '../../src/store/base/due-watch.ts';
import { customerChanges } from '../../src/store/customers/customer-changes.tables.ts';
import { noteCustomerChanges } from '../../src/store/customers/customer-changes.ts';
import { hasDueDelivery } from '../../src/store/invoices/delivery-work.ts';
import { invoiceDeliveries } from '../../src/store/invoices/invoice-deliveries.tables.ts';
import { hasDueJob, hasDueRetry } from '../../src/store/jobs/job-order.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { scheduledMessages } from '../../src/store/lifecycle-messages/scheduled-messages.tables.ts';
import { hasScheduled } from '../../src/store/lifecycle-messages/scheduled-messages.ts';
import { hasDueMessage } from '../../src/store/messages/webhook-endpoints.ts';
import {
  webhookDeliveries,
  webhookEndpoints,
  webhookMessages,
} from '../../src/store/messages/webhooks.tables.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

beforeEach(async () => {
  await db.execute(
    sql`truncate jobs, invoice_deliveries, scheduled_messages, customer_changes, webhook_endpoints cascade`,
  );
});

async function holds(condition: DueCondition): Promise<boolean | undefined> {
  const [row] = await db.execute<{ holds: boolean }>(sql`select ${condition} as holds`);
  return row?.holds;
}

function job(kind: string, runAt: number, failed: { attempts: number; retryAt: number } | null = null) {
  return db.insert(jobs).values({ kind, key: newId(), runAt, payload: {}, ...failed });
}

function signal() {
  let give: () => void = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

test('a job is due from its instant on, if the process knows its kind and it has not failed', async () => {
  await job('unknown', NOON);
  await job('work', NOON + HOUR);
  await job('work', NOON, { attempts: 1, retryAt: NOON });
  expect(await holds(hasDueJob(['other', 'work'], NOON))).toBe(false);
  expect(await holds(hasDueJob(['other', 'work'], NOON + HOUR))).toBe(true);
});

test('a failed job is due again after its pause', async () => {
  await job('work', NOON);
  await job('work', NOON, { attempts: 1, retryAt: NOON + HOUR });
  expect(await holds(hasDueRetry(NOON, NOON + HOUR - 1))).toBe(false);
  expect(await holds(hasDueRetry(NOON - 1, NOON + HOUR))).toBe(false);
  expect(await holds(hasDueRetry(NOON, NOON + HOUR))).toBe(true);
});

test('a scheduled message is due from its instant on', async () => {
  await db
    .insert(scheduledMessages)
    .values({ type: 'contract.end', subjectId: newId(), customerId: newId(), eventAt: NOON, fireAt: NOON });
  expect(await holds(hasScheduled(NOON - 1))).toBe(false);
  expect(await holds(hasScheduled(NOON))).toBe(true);
});

test('a webhook has a due message while one is pending whose next attempt has begun', async () => {
  const [endpointId, messageId] = [newId(), newId()];
  await db
    .insert(webhookEndpoints)
    .values({ id: endpointId, name: 'sink', url: 'http://127.0.0.1:9', secret: 's', createdAt: NOON });
  await db.insert(webhookMessages).values({ id: messageId, type: 'invoice.finalized', body: '{}' });
  const later = Date.now() + HOUR;
  await db
    .insert(webhookDeliveries)
    .values({ endpointId, messageId, status: 'PENDING', nextAttemptAt: later, retryUntil: later });
  expect(await holds(hasDueMessage())).toBe(false);
  await db.update(webhookDeliveries).set({ nextAttemptAt: Date.now() - 1_000 });
  expect(await holds(hasDueMessage())).toBe(true);
  await db.update(webhookDeliveries).set({ status: 'DELIVERED' });
  expect(await holds(hasDueMessage())).toBe(false);
});

test('the delivery of an invoice is due from its instant on, and never if nothing is left of it', async () => {
  const queue = (dueAt: number | null) =>
    db.transaction(async (tx) => {
      // Without its invoice.
      await tx.execute(sql`set local session_replication_role = replica`);
      const [invoiceId, customerId] = [newId(), newId()];
      await tx
        .insert(invoiceDeliveries)
        .values({ invoiceId, customerId, billingProvider: 'stripe', dueAt, createdAt: NOON });
    });
  await queue(null);
  await queue(NOON + HOUR);
  expect(await holds(hasDueDelivery(NOON + HOUR - 1))).toBe(false);
  expect(await holds(hasDueDelivery(NOON + HOUR))).toBe(true);
});

test('changed customers are due until they are read, also those whose transaction committed late', async () => {
  const feed = createChangesFeed(db);
  const change = (count: number) =>
    db.transaction((tx) => noteCustomerChanges(tx, Array.from({ length: count }, newId)));
  await change(3);
  expect(await holds(feed.hasNext())).toBe(true);
  await feed.skip();
  expect(await holds(feed.hasNext())).toBe(false);
  const [begun, ended] = [signal(), signal()];
  const late = db.transaction(async (tx) => {
    await noteCustomerChanges(tx, [newId()]);
    begun.give();
    await ended.given;
  });
  await begun.given;
  await change(50);
  expect(await feed.next()).toHaveLength(50);
  expect(await holds(feed.hasNext())).toBe(false);
  ended.give();
  await late;
  expect(await holds(feed.hasNext())).toBe(true);
  expect(await feed.next()).toHaveLength(1);
});

test('a poll that is watched runs when something is due, and again only if there is something else', async () => {
  const watch = createDueWatch(db);
  let runs = 0;
  const work = async () => {
    runs += 1;
    await db.delete(jobs);
  };
  const isDue = () => hasDueJob(['work'], NOON);
  const poll = pollDue(watch, { name: 'work', intervalMs: 1, isDue, work, onFailure: () => {} });
  poll.start();
  watch.start();
  await job('work', NOON);
  await vi.waitFor(() => expect(runs).toBe(1), 5_000);
  await job('work', NOON);
  await vi.waitFor(() => expect(runs).toBe(2), 5_000);
  await watch.close();
  await poll.close();
  expect(runs).toBe(2);
});

test('every queue is woken when PostgreSQL does not answer, so that each reports it', async () => {
  const watch = createDueWatch(db);
  const woken: string[] = [];
  watch.add({ isDue: () => sql`1 / 0 = 1`, wake: () => void woken.push('jobs') });
  watch.add({ isDue: () => sql`false`, wake: () => void woken.push('messages') });
  watch.start();
  await vi.waitFor(() => expect(woken).toEqual(['jobs', 'messages']), 5_000);
  await watch.close();
});

test('a deleted change is no reason to read forever', async () => {
  const feed = createChangesFeed(db);
  await db.transaction((tx) => noteCustomerChanges(tx, [newId(), newId()]));
  await feed.next();
  await db.delete(customerChanges);
  expect(await holds(feed.hasNext())).toBe(true);
  expect(await feed.next()).toEqual([]);
  expect(await holds(feed.hasNext())).toBe(false);
});
