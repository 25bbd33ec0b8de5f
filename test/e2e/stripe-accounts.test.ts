/** Further accounts of Stripe: connected, listed, used and archived, and their keys are nowhere to be read. */
import { sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STAND_IN_KEY, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { type BillingProcess, created } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';
import { startTraceCollector } from '../support/trace-collector.ts';

const SECRET = 'whsec_of_the_second_account';
const WRONG_KEY = 'sk_test_that_nobody_knows';
const stripe = await startStripeStandIn();
const collector = await startTraceCollector();
/** Everything that was answered. */
const answers: string[] = [];
let stores: SharedStores;
let service: BillingProcess;

beforeAll(async () => {
  stores = await createSharedStores('2026-03-10T00:00:00Z');
});

afterAll(async () => {
  await stores.close();
  await stripe.close();
  await collector.close();
});

async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await service.call(path, body, headers);
  answers.push(answer.body);
  return { status: answer.status, body: JSON.parse(answer.body) };
}

const CREATE = '/v1/providers/stripe/accounts/create';
const account = { name: 'eu', api_key: STAND_IN_KEY, webhook_secret: SECRET };

test('without SECRETS_KEY a further account is refused with a sentence', async () => {
  service = await stores.start('without', { STRIPE_API_BASE: stripe.url });
  const refused = await call(CREATE, account);
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('SECRETS_KEY is not set') },
  });
  expect((await call('/v1/providers/stripe/accounts/list', {})).body).toEqual({ data: [] });
  await service.kill();
});

test('with SECRETS_KEY invoices are delivered to the account that a configuration names, until it is archived', async () => {
  service = await stores.start('with', {
    STRIPE_API_BASE: stripe.url,
    SECRETS_KEY: 'ab'.repeat(32),
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  const wrong = await call(CREATE, { ...account, api_key: WRONG_KEY });
  expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringContaining('api_key') } });
  const { body } = await call(CREATE, account, { 'idempotency-key': 'once' });
  const id = body.data.delivery_method_id;
  expect((await call(CREATE, account, { 'idempotency-key': 'once' })).body).toEqual(body);
  expect((await call(CREATE, account)).status).toBe(409);
  expect((await call(CREATE, { ...account, name: 'default' })).status).toBe(400);
  expect((await call('/v1/providers/stripe/accounts/list', {})).body).toEqual({
    data: [{ delivery_method_id: id, name: 'eu', stripe_account_id: 'acct_stand_in' }],
  });
  const listed = (await call('/v1/listConfiguredBillingProviders', {})).body.data;
  expect(listed).toContainEqual({
    billing_provider: 'stripe',
    delivery_method: 'direct_to_billing_provider',
    delivery_method_id: id,
    delivery_method_configuration: { name: 'eu', stripe_account_id: 'acct_stand_in' },
  });

  const customer = await created(service, '/v1/customers', { name: 'Acme' });
  const configured = await call('/v1/setCustomerBillingProviderConfigurations', {
    data: [
      {
        customer_id: customer,
        billing_provider: 'stripe',
        delivery_method_id: id,
        configuration: { stripe_customer_id: stripe.state.addCustomer() },
      },
    ],
  });
  const product_id = await created(service, '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const contract = (timestamp: string) => ({
    customer_id: customer,
    starting_at: '2026-01-01T00:00:00Z',
    billing_provider_configuration: { billing_provider_configuration_id: configured.body.data[0].id },
    scheduled_charges: [{ product_id, schedule: { schedule_items: [{ timestamp, amount: 500 }] } }],
  });
  await created(service, '/v1/contracts/create', contract('2026-02-01T00:00:00Z'));
  await call('/v1/sandbox/clock', { now: '2026-03-10T00:01:00Z' });
  const [invoice] = (await call(`/v1/customers/${customer}/invoices`)).body.data;
  expect(invoice.external_invoice).toMatchObject({ external_status: 'FINALIZED', invoiced_total: 500 });

  stripe.state.collect(invoice.external_invoice.invoice_id);
  const payload = JSON.stringify({
    ...stripe.state.events.at(-1),
    object: 'event',
    data: { object: stripe.state.events.at(-1)?.object },
  });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
  const hook = await call('/v1/providers/stripe/webhook/eu', JSON.parse(payload), {
    'stripe-signature': signature,
  });
  expect(hook.status).toBe(200);
  await expect
    .poll(
      async () =>
        (await call(`/v1/customers/${customer}/invoices`)).body.data[0].external_invoice.external_status,
    )
    .toBe('PAID');

  expect((await call('/v1/providers/stripe/accounts/archive', { delivery_method_id: id })).status).toBe(200);
  expect((await call('/v1/providers/stripe/accounts/archive', { delivery_method_id: id })).status).toBe(200);
  expect((await call('/v1/providers/stripe/accounts/list', {})).body).toEqual({ data: [] });
  expect((await call('/v1/providers/stripe/webhook/eu', {})).status).toBe(404);
  const reused = await call(CREATE, account);
  expect(reused.status).toBe(200);
});

test('keys are in no answer, log, audit row, trace or table', async () => {
  expect((await call('/v1/auditLogs?limit=100')).status).toBe(200);
  await expect.poll(() => collector.sent()).toContain('deliver an invoice');
  const tables = await stores.database.db.execute<{ name: string }>(sql`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`);
  const rows: string[] = [];
  for (const { name } of tables) {
    const read = await stores.database.db.execute<{ row: string }>(
      sql.raw(`select t::text as row from ${name} t`),
    );
    rows.push(...read.map(({ row }) => row));
  }
  expect(rows.some((row) => row.includes('createStripeAccount'))).toBe(true);
  const places = {
    answers: answers.join('\n'),
    log: service.program.stdout() + service.program.stderr(),
    tables: rows.join('\n'),
    traces: collector.sent(),
  };
  expect(places.log.length).toBeGreaterThan(100);
  for (const [place, text] of Object.entries(places)) {
    for (const secret of [STAND_IN_KEY, WRONG_KEY, SECRET]) {
      expect(text.includes(secret), `${secret} in ${place}`).toBe(false);
    }
  }
});
