/** Data that were written under the former id of the euro are read under the one that clients know. */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ADD_RATE, CONTRACTS, createCatalogueApi, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const EUR = '58f0be15-cc47-4220-bdaf-072ab0e44f96';
const FORMER = 'aa71c77b-61bc-5761-8f36-f5a708b36ad6';
const pool = await databaseForFile();
const migration = await readFile(new URL('../../drizzle/0006_euro_id.sql', import.meta.url), 'utf8');

/** The migration with the two ids exchanged. */
function backwards(): string {
  return migration.replace(FORMER, '<euro>').replace(EUR, FORMER).replace('<euro>', EUR);
}

test('a card, its rates and contracts in euros are the same after the upgrade', async () => {
  const api = createCatalogueApi(pool.db);
  const { tokens, fee } = await createTermsCatalogue(api);
  const START = '2026-10-01T00:00:00Z';
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Euro', fiat_credit_type_id: EUR });
  const rate = { rate_card_id, product_id: tokens, starting_at: START, entitled: true, credit_type_id: EUR };
  await api.post(ADD_RATE, { ...rate, rate_type: 'FLAT', price: 1 });
  const customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
  const contract_id = await createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id,
    starting_at: START,
    overrides: [
      {
        starting_at: START,
        product_id: tokens,
        overwrite_rate: { rate_type: 'FLAT', price: 2, credit_type_id: EUR },
      },
    ],
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule: {
          credit_type_id: EUR,
          schedule_items: [{ amount: 5, starting_at: START, ending_before: '2027-10-01T00:00:00Z' }],
        },
      },
    ],
  });
  await api.post('/v2/contracts/edit', { customer_id, contract_id, update_contract_name: 'Edited' });
  const read = async () => [
    (await api.post('/v1/contract-pricing/rate-cards/get', { id: rate_card_id })).body,
    (await api.post('/v1/contracts/get', { customer_id, contract_id })).body,
    (await api.post('/v1/contracts/getContractRateSchedule', { customer_id, contract_id })).body,
  ];
  const before = await read();
  expect(JSON.stringify(before)).toContain(EUR);
  await pool.db.execute(sql.raw(backwards()));
  const stored = await pool.db.execute(sql`select fiat_credit_type_id as id from rate_cards`);
  expect(stored.map(({ id }) => id)).toContain(FORMER);
  await pool.db.execute(sql.raw(migration));
  expect(await read()).toEqual(before);
});
