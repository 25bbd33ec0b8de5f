/** The answer of every operation on a contract where the customer does not exist, or has no such contract. */
import { beforeAll, describe, expect, test } from 'vitest';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { api } = await catalogueForFile();
let customer: string;
let contract: string;

const START = '2026-10-01T00:00:00Z';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Owner' });
  contract = await createdId(api, CONTRACTS, { customer_id: customer, starting_at: START });
});

const filter = { group_key: 'model', group_values: ['a'], starting_at: START };

describe.each<[string, object]>([
  ['/v1/contracts/get', {}],
  ['/v2/contracts/get', {}],
  ['/v2/contracts/getEditHistory', {}],
  ['/v1/contracts/getContractRateSchedule', {}],
  ['/v2/contracts/edit', { update_contract_name: 'X' }],
  ['/v1/contracts/amend', { starting_at: START }],
  ['/v1/contracts/archive', { void_invoices: true }],
  ['/v1/contracts/updateEndDate', { ending_before: '2027-01-01T00:00:00Z' }],
  ['/v1/contracts/setUsageFilter', filter],
])('%s', (path, body) => {
  async function codeOf(customer_id: string, contract_id: string): Promise<unknown> {
    const answer = await api.send('POST', path, { ...body, customer_id, contract_id });
    expect(answer.status).toBe(404);
    return answer.at('code');
  }

  test('an operation on a contract answers CustomerNotFound for an unknown customer, whatever the contract', async () => {
    expect(await codeOf(UNKNOWN, contract)).toBe('CustomerNotFound');
    expect(await codeOf(UNKNOWN, UNKNOWN)).toBe('CustomerNotFound');
  });

  test('an operation on a contract answers ContractNotFound for an unknown contract and for another customer’s', async () => {
    expect(await codeOf(customer, UNKNOWN)).toBe('ContractNotFound');
    const other = await createdId(api, '/v1/customers', { name: 'Other' });
    expect(await codeOf(other, contract)).toBe('ContractNotFound');
  });
});
