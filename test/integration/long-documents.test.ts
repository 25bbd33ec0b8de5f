/** Documents with many overrides are stored and read like short ones. */
import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import type { FullContract } from '../../src/core/terms/contract.ts';
import { withTerms } from '../../src/store/contract-terms/contract-terms.ts';
import { contractEdits } from '../../src/store/contracts/contract-edits.tables.ts';
import { loadContractEdits } from '../../src/store/contracts/contract-edits.ts';
import { findVersionAsOf } from '../../src/store/contracts/contract-versions.ts';
import { contractVersions } from '../../src/store/contracts/contracts.tables.ts';
import { findContract } from '../../src/store/contracts/contracts.ts';
import { loadInvoiceTerms, storeInvoiceTerms } from '../../src/store/invoices/invoice-terms.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { START } from '../support/term-fixtures.ts';

const { api, pool } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer_id: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
});

/** So many that their JSON is written in parts, and too few for that. */
const COUNTS = [501, 20];

function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    starting_at: START,
    type: 'MULTIPLIER',
    multiplier: (index + 1) / 1_000,
    override_specifiers: [{ product_tags: [`"𝄞" ${index}`] }],
  }));
}

async function create(count: number): Promise<string> {
  const terms = { customer_id, rate_card_id: catalogue.card, starting_at: START };
  return createdId(api, CONTRACTS, { ...terms, overrides: many(count) });
}

async function full(contractId: string): Promise<FullContract> {
  const contract = await findContract(pool.db, contractId);
  const [one] = contract === null ? [] : await withTerms(pool.db, [contract]);
  if (one === undefined) throw new Error('a contract of this test exists');
  return one;
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each(COUNTS)(
  'an edit that adds %i overrides keeps what the contract was, and what it has added',
  async (count) => {
    const contractId = await create(count);
    const before = await full(contractId);
    const add_overrides = many(count);
    await api.post('/v2/contracts/edit', { customer_id, contract_id: contractId, add_overrides });
    const added = (await full(contractId)).terms.overrides.slice(count);
    expect(added).toHaveLength(count);

    const ofContract = eq(contractVersions.contractId, contractId);
    const [version] = await pool.db.select().from(contractVersions).where(ofContract);
    expect(version?.document).toEqual({ documentVersion: 1, ...(asJson(before) as object) });
    expect(await findVersionAsOf(pool.db, contractId, 0)).toEqual(before);

    const [edit] = await pool.db.select().from(contractEdits).where(eq(contractEdits.contractId, contractId));
    expect(edit?.changes).toMatchObject({ documentVersion: 1, addOverrides: asJson(added) });
    const [read] = await loadContractEdits(pool.db, contractId);
    expect(read?.changes.addOverrides).toEqual(added);
  },
);

test.each(COUNTS)(
  'terms of an invoice with %i overrides are stored once, and read as stored',
  async (count) => {
    const { overrides } = (await full(await create(count))).terms;
    const contract = {
      customerRefs: [customer_id],
      overrides,
      multiplierPrioritization: 'LOWEST_MULTIPLIER' as const,
      usageFilters: [],
      compositesCountSubscriptions: true,
    };
    const card = {
      fiatCreditTypeId: customer_id,
      conversions: [],
      products: [],
      composites: [],
      subscriptions: [],
      productOrder: [],
    };
    const store = async () => {
      const same = { contract: { ...contract }, card: { ...card } };
      const ids = await pool.db.transaction((tx) => storeInvoiceTerms(tx, [same.contract, same.card]));
      return { contractTermsId: ids.get(same.contract) ?? '', cardTermsId: ids.get(same.card) ?? '' };
    };
    const ids = await store();
    expect(await store()).toEqual(ids);
    expect(await loadInvoiceTerms(pool.db, ids)).toEqual({ contract, card });
  },
);
