/** A misspelled member of an edit is refused: the edit would be recorded as applied without it. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let reference: { readonly customer_id: string; readonly contract_id: string };

const START = '2026-10-01T00:00:00Z';
const END = '2027-10-01T00:00:00Z';

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  const customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
  const contract_id = await createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id: catalogue.card,
    starting_at: START,
    ending_before: END,
  });
  reference = { customer_id, contract_id };
});

const send = (changes: object): Promise<ApiAnswer> =>
  api.send('POST', '/v2/contracts/edit', { ...reference, ...changes });

async function history(): Promise<unknown[]> {
  return (await api.post('/v2/contracts/getEditHistory', reference)).list('data');
}

const commit = (changes: object = {}) => ({
  type: 'PREPAID',
  product_id: catalogue.fee,
  access_schedule: { schedule_items: [{ amount: 1, starting_at: START, ending_before: END }] },
  ...changes,
});

const threshold = {
  is_enabled: true,
  threshold_amount: 500,
  recharge_to_amount: 2_000,
  payment_gate_config: { payment_gate_type: 'NONE' },
};

test.each<[string, () => object]>([
  ['add_commitz', () => ({ add_commitz: [] })],
  ['total_contract_value', () => ({ update_contract_name: 'X', total_contract_value: 5 })],
  ['update_discounts', () => ({ update_discounts: null })],
  ['add_commits[1].nmae', () => ({ add_commits: [commit(), commit({ nmae: 'Typo' })] })],
  [
    'add_commits[0].access_schedule.schedule_items[0].amont',
    () => ({
      add_commits: [
        commit({
          access_schedule: {
            schedule_items: [{ amount: 1, amont: 2, starting_at: START, ending_before: END }],
          },
        }),
      ],
    }),
  ],
  ['update_contract.name', () => ({ 'update_contract.name': 'X' })],
  ['archive_commits[0].commit_id', () => ({ archive_commits: [{ id: catalogue.fee, commit_id: 'x' }] })],
  [
    'update_spend_threshold_configuration.commit.rate_type',
    () => ({ update_spend_threshold_configuration: { commit: { rate_type: 'LIST_RATE' } } }),
  ],
])('%s is refused by its path, and nothing is changed', async (path, changes) => {
  const answer = await send(changes());
  expect(answer.status).toBe(400);
  expect(answer.text('message')).toContain(`${path}: is not a field of this operation`);
  expect(await history()).toEqual([]);
});

test('an edit without any group is applied', async () => {
  expect((await send({})).status).toBe(200);
  expect(await history()).toHaveLength(1);
});

test('members of the interface that mean nothing here are ignored', async () => {
  const answer = await send({
    add_commits: [
      commit({
        amount: 5,
        netsuite_sales_order_id: '1',
        salesforce_opportunity_id: '2',
        access_schedule: {
          access_type: 'SPEND',
          schedule_items: [{ amount: 1, starting_at: START, ending_before: END }],
        },
      }),
    ],
    add_prepaid_balance_threshold_configuration: {
      ...threshold,
      commit: { product_id: catalogue.fee, duration: { value: 1, unit: 'MONTHS' } },
    },
    add_discounts: [],
    add_professional_services: null,
  });
  expect(answer.status).toBe(200);
  const { id, timestamp, ...edit } = (await history())[0] as Record<string, unknown>;
  expect([typeof id, typeof timestamp]).toEqual(['string', 'string']);
  expect(Object.keys(edit).sort()).toEqual(['add_commits', 'add_prepaid_balance_threshold_configuration']);
  for (const name of ['netsuite_sales_order_id', 'access_type', 'duration']) {
    expect(JSON.stringify(edit)).not.toContain(name);
  }
});
