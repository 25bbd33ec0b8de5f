/** Processes that send webhooks and are killed in the middle: every message arrives, repeated ones with the same id. */
import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { publishFinalized } from '../../src/notifications/invoice-messages.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { runProgram } from '../support/child-process.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const { db, connection } = await databaseForFile();

const MESSAGES = 1_000;
const CUSTOMERS = 20;

const startSending = () =>
  runProgram('test/support/programs/deliver-webhooks.ts', [JSON.stringify(connection)]);
/** As if the lease of the killed process had run out. */
const endLease = () => db.execute(sql`update webhook_endpoints set lease_until = clock_timestamp()`);
const pending = async () =>
  (await db.execute(sql`select 1 from webhook_deliveries where status <> 'DELIVERED' limit 1`)).length;

it('delivers every message though two processes are killed on the way', async () => {
  const receiver = await startWebhookReceiver();
  const deps = { db, clock: { now: Date.now }, allowPrivate: true };
  await createEndpoint(deps, { name: 'r', url: receiver.url, eventTypes: null });
  const customers = Array.from({ length: CUSTOMERS }, newId);
  const invoices = Array.from({ length: MESSAGES }, (_, index) => ({
    id: newId(),
    customerId: customers[index % CUSTOMERS] ?? '',
    issuedAt: index,
    status: 'FINALIZED' as const,
  }));
  await db.transaction((tx) => publishFinalized(tx, invoices));
  for (const after of [MESSAGES * 0.2, MESSAGES * 0.6]) {
    const program = startSending();
    await expect.poll(() => receiver.received.length).toBeGreaterThan(after);
    program.child.kill('SIGKILL');
    await program.ended;
    await endLease();
  }
  const last = startSending();
  await expect.poll(pending).toBe(0);
  last.child.kill('SIGKILL');
  await last.ended;
  await receiver.close();
  const bodies = new Map<string, Set<string>>();
  for (const { message, body } of receiver.received) {
    bodies.set(message.id, (bodies.get(message.id) ?? new Set()).add(body));
  }
  expect(bodies.size).toBe(MESSAGES);
  expect([...bodies.values()].every((same) => same.size === 1)).toBe(true);
  const told = new Set(
    receiver.received.map(({ message }) => (message.properties as { invoice_id: string }).invoice_id),
  );
  expect(told).toEqual(new Set(invoices.map(({ id }) => id)));
  // Each of two killed processes had at most eight requests in progress.
  expect(receiver.received.length).toBeLessThanOrEqual(MESSAGES + 16);
});
