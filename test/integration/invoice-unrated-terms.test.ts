/** Terms that are stored and not billed yet: every usage invoice of such a contract says so. */
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-10T00:00:00Z' });
const { api } = service;
const catalogue = await createTermsCatalogue(api);

/** `USAGE 2026-10-01 DRAFT: credit 1, subscription 2`, for each invoice of the month. */
async function warned(customerId: string): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, {
    query: { type: 'USAGE', limit: 100 },
  });
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

test('a contract with every kind of term of its own has nothing to name', async () => {
  const customerId = await customerNamed('everything');
  await createdId(api, '/v1/contracts/create', everyTerm(catalogue, customerId));
  expect(await warned(customerId)).toEqual(['USAGE 2026-10-01 DRAFT: ']);
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
