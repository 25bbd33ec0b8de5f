/** Sends messages by processes that are killed in the middle, and says what arrived. */
import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { publishFinalized } from '../../src/notifications/invoice-messages.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { jobsContext } from './billing-context.ts';
import { runProgram } from './child-process.ts';
import type { databaseForFile } from './file-fixtures.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

type TestDatabase = Awaited<ReturnType<typeof databaseForFile>>;

const CUSTOMERS = 20;

/** A slow delivery is waited for; this only ends a test that hangs. */
const ARRIVES = { timeout: 240_000 };

/**
 * Writes messages and kills two sending processes on the way, after a fifth and after three fifths of them. Expects
 * that each arrives, and repeated ones with the same id and body.
 */
export async function expectAllDelivered({ db, connection }: TestDatabase, messages: number): Promise<void> {
  const startSending = () =>
    runProgram('test/support/programs/deliver-webhooks.ts', [JSON.stringify(connection)]);
  // As if the lease of the killed process had run out.
  const endLease = () => db.execute(sql`update webhook_endpoints set lease_until = clock_timestamp()`);
  const pending = async () =>
    (await db.execute(sql`select 1 from webhook_deliveries where status <> 'DELIVERED' limit 1`)).length;

  const receiver = await startWebhookReceiver();
  const context = jobsContext({ db, allowPrivate: true });
  await createEndpoint(context, { name: 'r', url: receiver.url, eventTypes: null });
  const customers = Array.from({ length: CUSTOMERS }, newId);
  const invoices = Array.from({ length: messages }, (_, index) => ({
    id: newId(),
    customerId: customers[index % CUSTOMERS] ?? '',
    issuedAt: index,
    status: 'FINALIZED' as const,
  }));
  await db.transaction((tx) => publishFinalized(tx, invoices));
  for (const after of [messages * 0.2, messages * 0.6]) {
    const program = startSending();
    await expect.poll(() => receiver.received.length, ARRIVES).toBeGreaterThan(after);
    program.child.kill('SIGKILL');
    await program.ended;
    await endLease();
  }
  const last = startSending();
  await expect.poll(pending, ARRIVES).toBe(0);
  last.child.kill('SIGKILL');
  await last.ended;
  await receiver.close();
  const bodies = new Map<string, Set<string>>();
  for (const { message, body } of receiver.received) {
    bodies.set(message.id, (bodies.get(message.id) ?? new Set()).add(body));
  }
  expect(bodies.size).toBe(messages);
  expect([...bodies.values()].every((same) => same.size === 1)).toBe(true);
  const told = new Set(
    receiver.received.map(({ message }) => (message.properties as { invoice_id: string }).invoice_id),
  );
  expect(told).toEqual(new Set(invoices.map(({ id }) => id)));
  // Each of two killed processes had at most eight requests in progress.
  expect(receiver.received.length).toBeLessThanOrEqual(messages + 16);
}
