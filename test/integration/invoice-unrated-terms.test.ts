/** Terms that are stored and not billed yet: every usage invoice of such a contract says so. */
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-10T00:00:00Z' });
const { api } = service;
const catalogue = await createTermsCatalogue(api);

/** `USAGE 2026-10-01 DRAFT: credit 1, subscription 2`, for each invoice of the month. */
async function warned(customerId: string, type = 'USAGE'): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { type, limit: 100 } });
  return answer.list('data').map((_, index) => {
    const head = ['type', 'start_timestamp', 'status'].map((name) => answer.at(`data[${index}].${name}`));
    const [kind, start, status] = head.map((one) => String(one ?? '').slice(0, 10));
    return `${kind} ${start} ${status}: ${kindsOf(answer, `data[${index}]`).join(', ')}`;
  });
}

function kindsOf(answer: ApiAnswer, path: string): string[] {
  return answer.list(`${path}.warnings`).map((_, index) => {
    const at = `${path}.warnings[${index}]`;
    expect(answer.list(`${at}.term_ids`)).toHaveLength(Number(answer.digits(`${at}.term_count`)));
    return `${answer.text(`${at}.term_kind`)} ${answer.digits(`${at}.term_count`)}`;
  });
}

const customerNamed = (name: string) => createdId(api, '/v1/customers', { name });

test('drafts name each kind with its ids, issued invoices keep that, and scheduled ones have none', async () => {
  const customerId = await customerNamed('everything');
  await createdId(api, '/v1/contracts/create', {
    ...everyTerm(catalogue, customerId),
    commits: [
      {
        type: 'PREPAID',
        product_id: catalogue.fee,
        access_schedule: {
          schedule_items: [
            { amount: 5, starting_at: '2026-10-01T00:00:00Z', ending_before: '2026-11-01T00:00:00Z' },
          ],
        },
        invoice_schedule: { schedule_items: [{ timestamp: '2026-10-05T00:00:00Z', amount: 5 }] },
        temporary_id: 'prepaid',
      },
    ],
  });
  const october = 'recurring_credit 1';
  expect(await warned(customerId)).toEqual([`USAGE 2026-10-01 DRAFT: ${october}`]);
  await service.moveClock('2026-11-03T00:00:00Z');
  const both = [`USAGE 2026-10-01 FINALIZED: ${october}`, `USAGE 2026-11-01 DRAFT: ${october}`];
  expect(await warned(customerId)).toEqual(both);
  expect((await warned(customerId, 'SCHEDULED')).every((text) => text.endsWith(': '))).toBe(true);
});

test('a term that has ended is not named any more on the draft, and the issued invoice stays', async () => {
  const customerId = await customerNamed('ended');
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: catalogue.card,
    starting_at: '2026-10-01T00:00:00Z',
    usage_statement_schedule: { frequency: 'MONTHLY' },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: catalogue.seats },
        collection_schedule: 'ARREARS',
        quantity_management_mode: 'SEAT_BASED',
        seat_config: { seat_group_key: 'user_id', initial_seat_ids: ['a', 'b'] },
        proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        temporary_id: 'seats',
        ending_before: '2026-11-01T00:00:00Z',
      },
    ],
    recurring_credits: [
      {
        product_id: catalogue.fee,
        access_amount: { unit_price: 5, credit_type_id: USD_CENTS.id },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'INDIVIDUAL',
          apply_seat_increase_config: { is_prorated: false },
        },
        commit_duration: { value: 1 },
        priority: 1,
        starting_at: '2026-10-01T00:00:00Z',
      },
    ],
  });
  await service.moveClock('2026-11-03T01:00:00Z');
  const frozen = 'USAGE 2026-10-01 FINALIZED: recurring_credit 1';
  expect(await warned(customerId)).toEqual([frozen, 'USAGE 2026-11-01 DRAFT: recurring_credit 1']);
  const drafts = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  expect(drafts.at('data[0].warnings[0]')).toMatchObject({
    code: 'unrated_terms',
    message:
      'the contract has a recurring credit in this period, which this version of the service stores but does not ' +
      'bill: usage is charged as if there were none, and nothing is charged for the term itself',
    starting_at: '2026-11-01T00:00:00.000Z',
    ending_before: '2026-12-01T00:00:00.000Z',
  });
  const recurring_credit_id = drafts.text('data[0].warnings[0].term_ids[0]');
  await api.post('/v2/contracts/edit', {
    customer_id: customerId,
    contract_id: contractId,
    update_recurring_credits: [{ recurring_credit_id, ending_before: '2026-11-01T00:00:00Z' }],
  });
  expect(await warned(customerId)).toEqual([frozen, 'USAGE 2026-11-01 DRAFT: ']);
});

test('a child whose usage is to be on the invoice of its parent says that it is not, and the parent says nothing', async () => {
  const parentCustomer = await customerNamed('parent');
  const childCustomer = await customerNamed('child');
  const contract = (customer_id: string, hierarchy_configuration: object) =>
    createdId(api, '/v1/contracts/create', {
      ...{ customer_id, rate_card_id: catalogue.card, starting_at: '2026-10-01T00:00:00Z' },
      hierarchy_configuration,
    });
  const parentId = await contract(parentCustomer, {
    parent_behavior: { invoice_consolidation_type: 'CONCATENATE' },
  });
  await contract(childCustomer, {
    parent: { contract_id: parentId, customer_id: parentCustomer },
    ...{ payer: 'PARENT', usage_statement_behavior: 'CONSOLIDATE' },
  });
  expect((await warned(childCustomer)).every((text) => text.endsWith(': consolidation 1'))).toBe(true);
  expect((await warned(parentCustomer)).every((text) => text.endsWith(': '))).toBe(true);
  const answer = await api.get(`/v1/customers/${childCustomer}/invoices`);
  expect(answer.at('data[0].warnings[0]')).toMatchObject({
    ...{ code: 'unrated_terms', term_ids: [parentId] },
    message: expect.stringContaining('billed on an invoice of its own'),
  });
});
