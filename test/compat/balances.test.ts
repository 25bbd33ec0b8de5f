/**
 * The official client, unchanged: commits, credits and balances of customers.
 *
 * SDK methods covered in this file:
 * - v1.customers.commits: create, list, updateEndDate
 * - v1.customers.credits: create, list, updateEndDate
 * - v1.contracts: listBalances, getNetBalance, addManualBalanceEntry
 * - v2.contracts: editCommit, editCredit
 *
 * Operations that the client does not have are called through its `post`.
 */
import Metronome, { BadRequestError, ConflictError, NotFoundError } from '@metronome/sdk';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });
let client: Metronome;
let catalogue: TermsCatalogue;
let customer_id: string;
let contract_id: string;

const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const START = '2026-10-01T00:00:00.000Z';
const HALF = '2027-04-01T00:00:00.000Z';
const END = '2027-10-01T00:00:00.000Z';

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
  catalogue = await createTermsCatalogue(service.api);
  for (const entity of ['commit', 'contract_credit'] as const) {
    await client.v1.customFields.addKey({ entity, key: 'deal', enforce_uniqueness: false });
  }
});
beforeEach(async () => {
  customer_id = await createdId(service.api, '/v1/customers', { name: 'Customer' });
  const created = await client.v1.contracts.create({
    customer_id,
    rate_card_id: catalogue.card,
    starting_at: START,
    ending_before: END,
  });
  contract_id = created.data.id;
});

/** Typed by the client: what compiles here is what its users write. */
function commit(): Metronome.V1.Customers.CommitCreateParams {
  return {
    customer_id,
    type: 'PREPAID',
    priority: 10,
    product_id: catalogue.fee,
    name: 'Enterprise',
    access_schedule: {
      credit_type_id: USD,
      schedule_items: [
        { amount: 1_000, starting_at: START, ending_before: HALF },
        { amount: 500, starting_at: HALF, ending_before: END },
      ],
    },
    invoice_schedule: { schedule_items: [{ timestamp: HALF, unit_price: 50, quantity: 2 }] },
    invoice_contract_id: contract_id,
    applicable_contract_ids: [contract_id],
    specifiers: [{ product_tags: ['llm'] }],
    custom_fields: { deal: 'D-1' },
    uniqueness_key: `commit of ${customer_id}`,
  };
}

function credit(): Metronome.V1.Customers.CreditCreateParams {
  return {
    customer_id,
    priority: 20,
    product_id: catalogue.fee,
    rate_type: 'LIST_RATE',
    access_schedule: { schedule_items: [{ amount: 200, starting_at: START, ending_before: END }] },
    applicable_product_ids: [catalogue.tokens],
    custom_fields: { deal: 'D-2' },
  };
}

it('creates, lists, edits and shortens commits of a customer', async () => {
  const { data } = await client.v1.customers.commits.create(commit());
  await expect(client.v1.customers.commits.create(commit())).rejects.toThrow(ConflictError);
  const [listed] = (
    await client.v1.customers.commits.list({ customer_id, include_balance: true, include_ledgers: true })
  ).data;
  expect(listed).toMatchObject({
    id: data.id,
    type: 'PREPAID',
    balance: 1_000,
    invoice_contract: { id: contract_id },
    ledger: [{ type: 'PREPAID_COMMIT_SEGMENT_START' }, { type: 'PREPAID_COMMIT_SEGMENT_START' }],
  });
  const reference = { customer_id, commit_id: data.id };
  const edited = await client.v2.contracts.editCommit({
    ...reference,
    name: 'Renamed',
    priority: null,
    applicable_contract_ids: null,
    access_schedule: { add_schedule_items: [{ amount: 5, starting_at: START, ending_before: END }] },
    invoice_schedule: { add_schedule_items: [{ timestamp: END, amount: 7 }] },
  });
  expect(edited.data.id).toBe(data.id);
  await client.v1.customers.commits.updateEndDate({
    ...reference,
    access_ending_before: HALF,
    invoices_ending_before: END,
  });
  const [after] = (await client.v1.customers.commits.list({ customer_id, include_balance: true })).data;
  expect(after).toMatchObject({ name: 'Renamed', priority: 100, balance: 1_005 });
  expect(after?.access_schedule?.schedule_items.map((item) => item.ending_before)).toEqual([HALF, HALF]);
  expect(after?.invoice_schedule?.schedule_items).toHaveLength(1);
  await expect(
    client.v1.customers.commits.updateEndDate({ ...reference, access_ending_before: END }),
  ).rejects.toThrow(BadRequestError);
});

it('creates, lists, edits and shortens credits of a customer', async () => {
  const { data } = await client.v1.customers.credits.create(credit());
  const reference = { customer_id, credit_id: data.id };
  await client.v2.contracts.editCredit({
    ...reference,
    description: 'Goodwill',
    applicable_product_ids: null,
  });
  await client.v1.customers.credits.updateEndDate({ ...reference, access_ending_before: HALF });
  const [listed] = (await client.v1.customers.credits.list({ customer_id, credit_id: data.id })).data;
  expect(listed).toMatchObject({ id: data.id, type: 'CREDIT', description: 'Goodwill' });
  expect(listed?.access_schedule?.schedule_items[0]?.ending_before).toBe(HALF);
  await expect(
    client.v2.contracts.editCredit({ customer_id, credit_id: contract_id, name: 'x' }),
  ).rejects.toThrow(NotFoundError);
});

it('the official client pages through lists by their cursor', async () => {
  const made: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    made.push((await client.v1.customers.credits.create(credit())).data.id);
  }
  const found: string[] = [];
  for await (const one of client.v1.customers.credits.list({ customer_id, limit: 2 })) found.push(one.id);
  expect(found.toSorted()).toEqual(made.toSorted());
  const balances: string[] = [];
  for await (const one of client.v1.contracts.listBalances({ customer_id, limit: 2 })) balances.push(one.id);
  expect(balances.toSorted()).toEqual(made.toSorted());
});

it('the official client adds entries by hand and sums what is left', async () => {
  const { data } = await client.v1.customers.credits.create(credit());
  await client.v1.customers.commits.create(commit());
  const [listed] = (await client.v1.contracts.listBalances({ customer_id, id: data.id })).data;
  const segment_id = listed?.access_schedule?.schedule_items[0]?.id ?? '';
  await client.v1.contracts.addManualBalanceEntry({
    customer_id,
    id: data.id,
    segment_id,
    amount: -50,
    reason: 'Correction',
    timestamp: START,
  });
  const net = await client.v1.contracts.getNetBalance({
    customer_id,
    credit_type_id: USD,
    filters: [
      { balance_types: ['CREDIT'], custom_fields: { deal: 'D-2' } },
      { balance_types: ['PREPAID_COMMIT'] },
    ],
    invoice_inclusion_mode: 'FINALIZED',
  });
  expect(net.data).toEqual({ balance: 1_150, credit_type_id: USD });
  const [after] = (
    await client.v1.contracts.listBalances({ customer_id, id: data.id, include_ledgers: true })
  ).data;
  expect(after?.ledger?.at(-1)).toMatchObject({ type: 'CREDIT_MANUAL', amount: -50, reason: 'Correction' });
});

it('reaches what the client has no method for', async () => {
  const { type: _, specifiers: __, ...terms } = commit();
  const { data } = await client.v1.customers.commits.create({
    ...terms,
    type: 'POSTPAID',
    access_schedule: { schedule_items: [{ amount: 100, starting_at: START, ending_before: HALF }] },
  });
  const reference = { customer_id, commit_id: data.id };
  const waived = await client.post('/v1/contracts/commits/disableTrueup', {
    body: { ...reference, contract_id },
  });
  expect(waived).toEqual({ data: { id: data.id } });
  const order = await client.get(`/v1/customers/${customer_id}/drawdownOrder`);
  expect(order).toMatchObject({ data: [{ position: 1, id: data.id, type: 'POSTPAID', balance: 100 }] });
  expect(await client.post('/v2/contracts/commits/archive', { body: reference })).toEqual({
    data: { id: data.id },
  });
  const gift = await client.v1.customers.credits.create(credit());
  const archive = { customer_id, credit_id: gift.data.id };
  await client.post('/v2/contracts/credits/archive', { body: archive });
  const archived = await client.v1.contracts.listBalances({
    customer_id,
    include_archived: true,
    include_balance: true,
  });
  expect(archived.data.map(({ balance }) => balance)).toEqual([0, 0]);
});
