/** A process that is killed between writing the state of an alert and its message: both are undone, and another tells. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { jobsContext } from '../support/billing-context.ts';
import { type BillingProcess, created, moveClock } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const NOW = '2026-11-10T12:30:00Z';
/** Slow work is waited for; this only ends a test that hangs. */
const COMES = { timeout: 120_000 };

let stores: SharedStores;

beforeAll(async () => {
  stores = await createSharedStores(NOW);
});
afterAll(() => stores.close());

/** At one cent a token, with an alert of spend of 1,000. */
async function createWatchedCustomer(service: BillingProcess) {
  const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [{ name: 'tokens', exists: true }],
    event_type_filter: { in_values: ['use'] },
  });
  const product = { name: 'Tokens', type: 'USAGE', billable_metric_id };
  const product_id = await created(service, '/v1/contract-pricing/products/create', product);
  const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await service.call('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id }],
  });
  const customer_id = await created(service, '/v1/customers', { name: 'Acme' });
  const contract = { customer_id, rate_card_id, starting_at: '2026-11-01T00:00:00Z' };
  await created(service, '/v1/contracts/create', contract);
  const alert = { alert_type: 'spend_threshold_reached', name: 'Spend', threshold: 1000, customer_id };
  return { customer_id, alert_id: await created(service, '/v1/alerts/create', alert) };
}

test('the writes of a killed process about an alarm are rolled back, and the next process notifies once', async () => {
  const { db } = stores.database;
  const killed = await stores.start('killed');
  const context = jobsContext({ db, allowPrivate: true });
  // The processes reach no private addresses: messages are written, and not delivered.
  await createEndpoint(context, { name: 'receiver', url: 'http://127.0.0.1:9/', eventTypes: null });
  const watched = await createWatchedCustomer(killed);
  const { customer_id } = watched;
  const stateFrom = async (service: BillingProcess) =>
    JSON.parse((await service.call('/v1/customer-alerts/get', watched)).body).data.customer_status as string;
  const messages = async () =>
    (await db.execute(sql`select id from webhook_messages where customer_id = ${customer_id}`)).length;
  const isTelling = async () =>
    (
      await db.execute(sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ilike 'insert into "webhook_messages"%'`)
    ).length;
  await expect.poll(() => stateFrom(killed), COMES).toBe('ok');
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table webhook_messages in share mode`);
    const event = { transaction_id: 'crosses', customer_id, event_type: 'use', timestamp: NOW };
    const answer = await killed.call('/v1/ingest', [{ ...event, properties: { tokens: 2000 } }]);
    expect(answer.status).toBe(200);
    // The state is written in its transaction, and the message waits.
    await expect.poll(isTelling, COMES).toBe(1);
    await killed.kill();
  });
  const next = await stores.start('next');
  await expect.poll(() => stateFrom(next), COMES).toBe('in_alarm');
  expect(await messages()).toBe(1);
  await moveClock(next, '2026-11-10T12:31:00Z');
  expect(await messages()).toBe(1);
}, 300_000);
