/** Checks refusals of contracts: status 400, the exact path of the field, and nothing stored. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { commits } from '../../src/store/balances/commits.tables.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import type { ApiClient } from './api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from './catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from './contract-terms.ts';
import { createTestDatabase, type TestDatabase } from './stores.ts';
import { type Body, START } from './term-fixtures.ts';

/** The name of the error, the terms of the contract that has it, and the answer. */
type RefusalCase = [string, () => Body, RegExp];

export interface RefusalBench {
  /** Filled in before the first test. */
  readonly ids: TermsCatalogue & { customer: string };
  /** Makes a test of every case. */
  refuses(cases: RefusalCase[]): void;
}

/** Gives a test file its own catalogue and customer. */
export function refusalBench(): RefusalBench {
  const ids = {
    card: '',
    unit: '',
    service: '',
    fee: '',
    tokens: '',
    models: '',
    seats: '',
    support: '',
    unpriced: '',
    customer: '',
  };
  let pool: TestDatabase;
  let api: ApiClient;

  beforeAll(async () => {
    pool = await createTestDatabase();
    api = createCatalogueApi(pool.db);
    Object.assign(ids, await createTermsCatalogue(api));
  });
  beforeEach(async () => {
    ids.customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  });
  afterAll(() => pool.close());

  async function expectRefusal(change: Body, message: RegExp): Promise<void> {
    const before = await pool.db.$count(commits);
    const answer = await api.send('POST', CONTRACTS, {
      customer_id: ids.customer,
      rate_card_id: ids.card,
      starting_at: START,
      ...change,
    });
    expect(answer.text('message')).toMatch(message);
    expect(answer.status).toBe(400);
    expect(await loadContracts(pool.db, { customerIds: [ids.customer], includeArchived: true })).toEqual([]);
    expect(await pool.db.$count(commits)).toBe(before);
  }

  return {
    ids,
    refuses(cases) {
      test.each(cases)('%s', (_, change, message) => expectRefusal(change(), message));
    },
  };
}
