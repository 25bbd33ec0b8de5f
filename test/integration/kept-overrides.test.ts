/** The kept overrides of a contract with many are never older than the overrides that the reader may see. */
import { eq, inArray, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import {
  createDatabase,
  type Database,
  inSnapshot,
  type Transaction,
} from '../../src/store/base/database.ts';
import { loadInitialVersions } from '../../src/store/contracts/contract-versions.ts';
import { loadOverrides } from '../../src/store/contracts/load-overrides.ts';
import { overrides } from '../../src/store/contracts/overrides.tables.ts';
import { deleteOverrides, insertOverrides, updateOverride } from '../../src/store/contracts/overrides.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { type Body, START } from '../support/term-fixtures.ts';

const { api, pool } = await catalogueForFile();
/** Its changes are those of another process: nothing tells this one. */
const other = createDatabase(pool.connection);
afterAll(() => other.close());
let catalogue: TermsCatalogue;
let customer_id: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
});

/** Enough to be kept. */
const MANY = 600;

function create(fields: Body = {}): Promise<string> {
  return createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id: catalogue.card,
    starting_at: START,
    overrides: Array.from({ length: MANY }, () => ({
      starting_at: START,
      type: 'MULTIPLIER',
      multiplier: 0.5,
      ...fields,
    })),
  });
}

async function loaded(db: Database | Transaction, contractId: string): Promise<readonly Override[]> {
  return (await loadOverrides(db, [contractId])).get(contractId) ?? [];
}

const shown = (list: readonly Override[]) => list.map(({ id, multiplier }) => `${id} ${multiplier}`);

/** The same by columns, in a separate statement. */
async function stored(db: Database | Transaction, contractId: string): Promise<string[]> {
  const rows = await db
    .select()
    .from(overrides)
    .where(eq(overrides.contractId, contractId))
    .orderBy(overrides.sequence);
  return rows.map(({ id, multiplier }) => `${id} ${multiplier}`);
}

type Change = (tx: Transaction, contractId: string) => Promise<void>;

async function some(db: Transaction, contractId: string, at: number): Promise<Override> {
  const list = await loaded(db, contractId);
  const one = list[at % list.length];
  if (one === undefined) throw new Error('a contract of this test has overrides');
  return one;
}

const changes: Readonly<Record<string, (at: number) => Change>> = {
  changed: (at) => async (tx, id) => {
    await updateOverride(tx, { ...(await some(tx, id, at)), multiplier: decimal(`0.${at + 1}`) });
  },
  removed: (at) => async (tx, id) => deleteOverrides(tx, [(await some(tx, id, at)).id]),
  added: (at) => async (tx, id) => {
    const one = { ...(await some(tx, id, at)), id: crypto.randomUUID() };
    await insertOverrides(tx, [one]);
  },
  replaced: (at) => async (tx, id) => {
    const one = await some(tx, id, at);
    await deleteOverrides(tx, [one.id]);
    await insertOverrides(tx, [{ ...one, multiplier: decimal(`0.${at + 1}`) }]);
  },
  written: () => async (tx, id) => {
    await tx
      .update(overrides)
      .set({ multiplier: decimal('0.25') })
      .where(eq(overrides.contractId, id));
  },
};

class Undone extends Error {}

test('every reader sees what its snapshot holds, whatever changes, in whichever process, and is undone', async () => {
  const contractId = await create();
  const step = fc.record({
    change: fc.constantFrom(...Object.keys(changes)),
    at: fc.nat(500),
    isUndone: fc.boolean(),
    byOther: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      for (const { change, at, isUndone, byOther } of steps) {
        const work = changes[change]?.(at);
        const snapshot = inSnapshot(pool.db, async (before) => {
          const old = shown(await loaded(before, contractId));
          await (byOther ? other : pool).db
            .transaction(async (tx) => {
              await work?.(tx, contractId);
              expect(shown(await loaded(tx, contractId))).toEqual(await stored(tx, contractId));
              await changes.changed?.(at + 1)(tx, contractId);
              expect(shown(await loaded(tx, contractId))).toEqual(await stored(tx, contractId));
              if (isUndone) throw new Undone();
            })
            .catch((error: unknown) => {
              if (!(error instanceof Undone)) throw error;
            });
          expect(shown(await loaded(pool.db, contractId))).toEqual(await stored(pool.db, contractId));
          expect(shown(await loaded(before, contractId))).toEqual(old);
        });
        await snapshot;
      }
    }),
    { numRuns: runs(30) },
  );
});

test('many overrides are kept while nothing changes, and nobody can change what is kept', async () => {
  const contractId = await create();
  const first = await loaded(pool.db, contractId);
  expect(first).toHaveLength(MANY);
  expect(await loaded(other.db, contractId)).toBe(first);
  expect(() => Object.assign(first[0] ?? {}, { multiplier: null })).toThrow(TypeError);
  expect(() => Object.assign(first, [])).not.toThrow();
  expect(() => Object.assign(first, [null])).toThrow(TypeError);
});

test('contracts with few and many overrides are loaded together', async () => {
  const [many, few, none] = [await create(), await create(), await create()];
  const removed = (await loaded(pool.db, few)).slice(2);
  await pool.db.delete(overrides).where(
    inArray(
      overrides.id,
      removed.map(({ id }) => id),
    ),
  );
  await pool.db.delete(overrides).where(sql`${overrides.contractId} = ${none}`);
  const ids = [none, many, few];
  for (let read = 0; read < 2; read += 1) {
    const found = await loadOverrides(pool.db, ids);
    expect(ids.map((id) => found.get(id)?.length)).toEqual([undefined, MANY, 2]);
  }
});

test('answers show the present name of a product, and what an edit has changed', async () => {
  const product_id = catalogue.tokens;
  const contract_id = await create({ product_id });
  const read = async (path: string, list: string) => {
    const found = await api.post(path, { customer_id, contract_id });
    return found.list(list) as { id: string; product: unknown }[];
  };
  const everywhere = () =>
    Promise.all([
      read('/v2/contracts/get', 'data.overrides'),
      read('/v1/contracts/get', 'data.current.overrides'),
      read('/v1/contracts/get', 'data.initial.overrides'),
    ]);
  const products = async () => [
    ...new Set((await everywhere()).flat().map((one) => JSON.stringify(one.product))),
  ];
  const named = (name: string) => [JSON.stringify({ id: product_id, name })];
  expect(await products()).toEqual(named('Tokens'));
  await api.post('/v1/contract-pricing/products/update', { product_id, name: 'Words', starting_at: START });
  expect(await products()).toEqual(named('Words'));
  const [[removed]] = await everywhere();
  await api.post('/v2/contracts/edit', { customer_id, contract_id, remove_overrides: [{ id: removed?.id }] });
  for (let again = 0; again < 2; again += 1) {
    const lists = await everywhere();
    expect(lists.map((list) => list.length)).toEqual([MANY - 1, MANY - 1, MANY]);
    expect(lists.map((list) => list.some(({ id }) => id === removed?.id))).toEqual([false, false, true]);
  }
});

test('the first state of a contract is kept from its first change on', async () => {
  const contract_id = await create();
  expect((await loadInitialVersions(pool.db, [contract_id])).size).toBe(0);
  await api.post('/v1/contracts/updateEndDate', {
    customer_id,
    contract_id,
    ending_before: '2030-01-01T00:00:00Z',
  });
  const first = (await loadInitialVersions(pool.db, [contract_id])).get(contract_id);
  expect(first?.contract.endingBefore).toBeNull();
  expect(first?.terms.overrides).toHaveLength(MANY);
  expect((await loadInitialVersions(other.db, [contract_id])).get(contract_id)).toBe(first);
});

test('a long answer is repeated by its Idempotency-Key, character by character', async () => {
  const contract_id = await create({ product_id: catalogue.tokens });
  const read = () =>
    api.send(
      'POST',
      '/v2/contracts/get',
      { customer_id, contract_id },
      { headers: { 'idempotency-key': contract_id } },
    );
  const [first, repeated] = [await read(), await read()];
  expect(first.status).toBe(200);
  expect(first.list('data.overrides')).toHaveLength(MANY);
  expect(repeated.body).toEqual(first.body);
});
