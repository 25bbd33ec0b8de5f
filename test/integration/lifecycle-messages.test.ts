/** Lifecycle events of contracts, commits and credits: which changes tell which, once they are switched on. */
import { sql } from 'drizzle-orm';
import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { LIFECYCLE_TYPES } from '../../src/notifications/message-types.ts';
import { editSystemNotification } from '../../src/notifications/system-notifications.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { jobsContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const {
  api,
  pool: { db },
} = await catalogueForFile();

const product = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Credit',
  type: 'FIXED',
});
const context = jobsContext({ db, allowPrivate: false });
// No deliverer runs here: messages stay where they were written.
await createEndpoint(context, { name: 'r', url: 'https://receiver.example/', eventTypes: null });

let customer = '';
let people = 0;
beforeEach(async () => {
  for (const type of LIFECYCLE_TYPES) await editSystemNotification(context, { type, isEnabled: true });
  people += 1;
  customer = await createdId(api, '/v1/customers', { name: `Customer ${people}` });
});

const message = z.looseObject({ id: z.string(), type: z.string() });

/** The messages of the customer, in the order in which they were written. */
async function messages() {
  const rows = await db.execute<{ body: string }>(sql`
    select m.body from webhook_messages m join webhook_deliveries d on d.message_id = m.id
    where m.customer_id = ${customer} order by d.sequence`);
  return rows.map(({ body }) => message.parse(JSON.parse(body)));
}
const types = async () => (await messages()).map(({ type }) => type);

const access = {
  schedule_items: [
    { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
  ],
};
const contractWith = (terms: object) =>
  createdId(api, '/v1/contracts/create', {
    customer_id: customer,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });

it('the service tells of a contract and its credits from creation over edits to the archive, with the ids of each', async () => {
  const contract = await contractWith({ credits: [{ product_id: product, access_schedule: access }] });
  const edit = { customer_id: customer, contract_id: contract };
  await api.post('/v2/contracts/edit', {
    ...edit,
    add_commits: [
      {
        product_id: product,
        type: 'POSTPAID',
        access_schedule: access,
        invoice_schedule: { schedule_items: [{ timestamp: '2026-12-01T00:00:00Z', amount: 100 }] },
      },
    ],
  });
  const [, credit] = await messages();
  await api.post('/v2/contracts/edit', {
    ...edit,
    update_credits: [{ credit_id: credit?.credit_id, name: 'New' }],
  });
  await api.post('/v1/contracts/archive', { ...edit, void_invoices: false });
  expect(await types()).toEqual([
    ...['contract.create', 'credit.create'],
    ...['contract.edit', 'commit.create'],
    ...['contract.edit', 'credit.edit'],
    ...['contract.archive', 'credit.archive', 'commit.archive'],
  ]);
  expect(credit).toEqual({
    id: expect.any(String),
    type: 'credit.create',
    timestamp: '2026-11-20T12:34:56.789Z',
    environment_type: 'PRODUCTION',
    customer_id: customer,
    customer_custom_fields: {},
    contract_id: contract,
    contract_custom_fields: {},
    credit_id: expect.any(String),
    credit_custom_fields: {},
    parent_recurring_credit_id: null,
  });
});

it('the service tells of credits of a customer, which have no contract', async () => {
  await createdId(api, '/v1/contracts/customerCredits/create', {
    customer_id: customer,
    product_id: product,
    access_schedule: access,
    priority: 1,
  });
  expect(await messages()).toMatchObject([{ type: 'credit.create', contract_id: null }]);
});

it('the service is silent about events that are off, and tells nothing of the past when they are switched on', async () => {
  for (const type of LIFECYCLE_TYPES) await editSystemNotification(context, { type, isEnabled: false });
  const contract = await contractWith({});
  expect(await types()).toEqual([]);
  await editSystemNotification(context, { type: 'contract.archive', isEnabled: true });
  await api.post('/v1/contracts/archive', {
    customer_id: customer,
    contract_id: contract,
    void_invoices: false,
  });
  expect(await types()).toEqual(['contract.archive']);
});

it('the service tells of the children that a recurring credit creates, of this period and the next, with the id of its term', async () => {
  await contractWith({
    recurring_credits: [
      {
        product_id: product,
        priority: 1,
        starting_at: '2026-11-01T00:00:00Z',
        access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
        commit_duration: { value: 1 },
        recurrence_frequency: 'MONTHLY',
      },
    ],
  });
  const [created, first, second] = await messages();
  expect(await types()).toEqual(['contract.create', 'credit.create', 'credit.create']);
  expect(created?.parent_recurring_credit_id).toBeUndefined();
  expect(first?.parent_recurring_credit_id).toEqual(expect.any(String));
  expect(second?.parent_recurring_credit_id).toBe(first?.parent_recurring_credit_id);
  expect(second?.credit_id).not.toBe(first?.credit_id);
});
