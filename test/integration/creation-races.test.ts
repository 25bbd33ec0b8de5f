/** Creations that race for one value that only one of them may have. */
import { beforeAll, expect, test } from 'vitest';
import { holdWanted } from '../../src/store/lifecycle-messages/scheduled-messages.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { addKey } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

type Body = Record<string, unknown>;

const AT_ONCE = 50;
const ROUNDS = 6;
const START = '2026-10-01T00:00:00Z';
const END = '2027-10-01T00:00:00Z';

const { api, pool } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;
let contract: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  customer = await createdId(api, '/v1/customers', { name: 'Racer' });
  contract = await createdId(api, CONTRACTS, contractBody());
  await addKey(api, 'customer', 'account', { unique: true });
});

function contractBody(): Body {
  return { customer_id: customer, rate_card_id: catalogue.card, starting_at: START };
}

function credit(): Body {
  const segment = { amount: 100, starting_at: START, ending_before: END };
  return {
    customer_id: customer,
    priority: 5,
    product_id: catalogue.fee,
    access_schedule: { schedule_items: [segment] },
  };
}

const CREATIONS: readonly (readonly [string, string, (value: string) => Body])[] = [
  ['contracts with one uniqueness key', CONTRACTS, (value) => ({ ...contractBody(), uniqueness_key: value })],
  [
    'commits with one uniqueness key',
    '/v1/contracts/customerCommits/create',
    (value) => ({ ...credit(), type: 'PREPAID', uniqueness_key: value }),
  ],
  [
    'credits with one uniqueness key',
    '/v1/contracts/customerCredits/create',
    (value) => ({ ...credit(), uniqueness_key: value }),
  ],
  [
    'edits with one uniqueness key',
    '/v2/contracts/edit',
    (value) => ({
      customer_id: customer,
      contract_id: contract,
      update_contract_name: value,
      uniqueness_key: value,
    }),
  ],
  ['customers with one alias', '/v1/customers', (value) => ({ name: 'New', ingest_aliases: [value] })],
  [
    'customers with one unique value of a custom field',
    '/v1/customers',
    (value) => ({ name: 'New', custom_fields: { account: value } }),
  ],
];

test.each(CREATIONS)(
  'of 50 parallel %s exactly one wins and the others get 409',
  async (what, path, bodyOf) => {
    for (let round = 0; round < runs(ROUNDS); round++) {
      // Commits and credits share their keys.
      const body = bodyOf(`${what} ${round}`);
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => api.send('POST', path, body)));
      expect(answers.map(({ status }) => status).sort()).toEqual([
        200,
        ...Array<number>(AT_ONCE - 1).fill(409),
      ]);
    }
  },
);

test('an alert is created while a change of a contract holds the facts that it compares', {
  timeout: 60_000,
}, async () => {
  const alert = { alert_type: 'spend_threshold_reached', name: 'Meanwhile', threshold: 1 };
  const status = await pool.db.transaction(async (tx) => {
    await holdWanted(tx);
    return (await api.send('POST', '/v1/alerts/create', alert)).status;
  });
  expect(status).toBe(200);
});
