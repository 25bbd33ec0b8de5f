/** The kept terms of a card with very many products are never older than the terms that the reader may see. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCardTerms } from '../../src/billing/invoices/terms/card-terms.ts';
import {
  createDatabase,
  type Database,
  inSnapshot,
  type Transaction,
} from '../../src/store/base/database.ts';
import { loadProducts } from '../../src/store/products/products.ts';
import { rateCardProductOrder } from '../../src/store/rate-cards/rate-cards.ts';
import { loadRateEntries } from '../../src/store/rate-cards/rates.ts';
import { createCatalogueApi, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { importModels, type TestModel } from '../support/token-prices.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
const { api, pool } = await catalogueForFile({ now: NOW });
/** Its changes are those of another process: nothing tells this one. */
const other = createDatabase(pool.connection);
afterAll(() => other.close());
const otherApi = createCatalogueApi(other.db, { now: NOW });
const PRICING = '/v1/contract-pricing';
/** Enough to be kept: each has two products. */
const MODELS = 520;
let card = '';
let imported = 0;

const modelNamed = (name: string): TestModel => ({
  provider: 'many',
  model: `many/${name}`,
  aliases: [name],
  prices: [{ from: '2026-01-01', usd: { input_tokens: '1', output_tokens: '2' } }],
});

beforeAll(async () => {
  const models = Array.from({ length: MODELS }, (_, index) => modelNamed(`model-${index}`));
  await importModels({ db: pool.db, now: NOW }, models);
  card = await createdId(api, RATE_CARDS, {
    name: 'Many',
    managed_pricing: { providers: ['many'], default_markup: 0 },
  });
});

/** The terms of the card that its invoices use. */
async function shown(db: Database | Transaction) {
  const terms = (await loadCardTerms(db, [card])).get(card);
  return {
    order: terms?.productOrder,
    conversions: terms?.conversions.map((one) => one.fiatPerCustomCredit.toFixed()),
    products: terms?.products.map(({ product, rateEntries }) => [
      JSON.stringify([product.id, product.versions]),
      rateEntries.map((entry) => JSON.stringify(entry)),
    ]),
  };
}

/** The same, read without anything that is kept. */
async function stored(db: Database | Transaction, conversions: readonly string[]) {
  const order = (await rateCardProductOrder(db, [card])).get(card) ?? [];
  const products = await loadProducts(db, order);
  const entries = (await loadRateEntries(db, [card])).get(card) ?? [];
  return {
    order,
    conversions,
    products: order.map((id) => [
      JSON.stringify([id, products.get(id)?.versions]),
      entries.filter(({ productId }) => productId === id).map((entry) => JSON.stringify(entry)),
    ]),
  };
}

type Change = (place: number) => Promise<unknown>;

async function productAt(place: number): Promise<string> {
  const order = (await rateCardProductOrder(pool.db, [card])).get(card) ?? [];
  return order[place % order.length] ?? '';
}

const rateOf = (product_id: string, price: number) => ({
  rate_card_id: card,
  product_id,
  starting_at: '2026-10-01T00:00:00Z',
  entitled: true,
  rate_type: 'FLAT',
  price,
  pricing_group_values: { model: 'model-1', provider: 'many' },
});

const update = (client: typeof api, managed_pricing: object) =>
  client.post(`${PRICING}/rate-cards/update`, { rate_card_id: card, managed_pricing });

const CHANGES: Readonly<Record<string, (client: typeof api, db: Database) => Change>> = {
  'another markup': (client) => (place) =>
    update(client, { markups: [{ model: `model-${place % 50}`, markup: place / 100 }] }),
  'a removed model': (client) => async (place) => {
    const removed = await client.send('POST', `${PRICING}/rate-cards/update`, {
      rate_card_id: card,
      managed_pricing: { remove_models: [`model-${100 + (place % 400)}`] },
    });
    // It may have been removed before.
    expect([200, 400]).toContain(removed.status);
  },
  'an added rate': (client) => async (place) =>
    client.post(`${PRICING}/rate-cards/addRate`, rateOf(await productAt(place), place)),
  'another name': (client) => async (place) =>
    client.post(`${PRICING}/products/update`, {
      product_id: await productAt(place),
      starting_at: '2026-11-01T00:00:00Z',
      name: `Renamed ${place}`,
    }),
  'another order': (client) => async (place) =>
    client.post(`${PRICING}/rate-cards/moveRateCardProducts`, {
      rate_card_id: card,
      product_moves: [{ product_id: await productAt(place), position: 0 }],
    }),
  'a new model': (_, db) => async () => {
    imported += 1;
    await importModels({ db, now: NOW }, [modelNamed(`new-${imported}`)]);
    // Models that come later join when they are new since the card was brought up to date.
    await importModels({ db, now: NOW + imported }, [modelNamed(`newer-${imported}`)]);
  },
  'another alias': (_, db) => async (place) => {
    imported += 1;
    const model = modelNamed(`model-${place % 100}`);
    await importModels({ db, now: NOW + imported }, [{ ...model, aliases: [`alias-${imported}`] }]);
  },
};

const change = fc.record({
  kind: fc.constantFrom(...Object.keys(CHANGES)),
  isOfOther: fc.boolean(),
  place: fc.nat({ max: 1_000 }),
  isRead: fc.boolean(),
});

test('every change of rates, products, names, order, aliases and markups is seen by the next read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      await shown(pool.db);
      for (const { kind, isOfOther, place, isRead } of changes) {
        const [client, db] = isOfOther ? [otherApi, other.db] : [api, pool.db];
        await CHANGES[kind]?.(client, db)(place);
        if (isRead) expect(await shown(pool.db)).toEqual(await stored(pool.db, []));
      }
      expect(await shown(pool.db)).toEqual(await stored(pool.db, []));
    }),
    { numRuns: runs(30) },
  );
}, 300_000);

test('a snapshot from before a change still shows what it showed, and later reads the change', async () => {
  const before = await shown(pool.db);
  await inSnapshot(pool.db, async (tx) => {
    expect(await shown(tx)).toEqual(before);
    await update(otherApi, { markups: [{ model: 'model-3', markup: 9 }] });
    expect(await shown(pool.db)).not.toEqual(before);
    expect(await shown(tx)).toEqual(before);
  });
  expect(await shown(pool.db)).toEqual(await stored(pool.db, []));
});

test('terms that a transaction read from its uncommitted changes are gone after a rollback', async () => {
  const before = await shown(pool.db);
  const undone = pool.db.transaction(async (tx) => {
    await importModels({ db: tx as unknown as Database, now: NOW + 1_000_000 }, [modelNamed('undone')]);
    expect(await shown(tx)).toEqual(await stored(tx, []));
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await shown(pool.db)).toEqual(before);
});

test('a unit that the card converts from now on is shown at once', async () => {
  await shown(pool.db);
  const unit = await createdId(otherApi, '/v1/credit-types/create', { name: 'Units' });
  await otherApi.post(`${PRICING}/rate-cards/update`, {
    rate_card_id: card,
    add_credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 3 }],
  });
  expect(await shown(pool.db)).toEqual(await stored(pool.db, ['3']));
});
