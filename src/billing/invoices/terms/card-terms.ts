/**
 * Reads the terms of rate cards for invoices that are not issued yet.
 *
 * A managed card may have tens of thousands of products, which take seconds to read. The terms of such cards are cached
 * with the state of the card, which each read compares with the database: a change by any process is seen at once.
 * After a change only the additions are read.
 */
import type { ProductType, RateEntry } from '../../../core/catalogue.ts';
import { assert } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { eachInChunks } from '../../../core/in-chunks.ts';
import type { CardTerms } from '../../../core/invoice-terms.ts';
import { keptValues } from '../../../core/kept-values.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadCreditTypes } from '../../../store/credit-types/credit-types.ts';
import { loadProducts, type StoredProduct } from '../../../store/products/products.ts';
import {
  type CardState,
  hasSameProducts,
  isSameState,
  readCardState,
} from '../../../store/rate-cards/card-states.ts';
import { loadRateCards, type RateCard, rateCardProductOrder } from '../../../store/rate-cards/rate-cards.ts';
import { loadRateEntries, loadRatesAfter, loadRatesInParts } from '../../../store/rate-cards/rates.ts';

/** Cards with fewer products are read faster than their state. */
const KEPT_FROM_PRODUCTS = 1_000;
/** Products read by one statement. */
const PRODUCTS_PER_PART = 500;
/** Added rates that one statement reads; if there are more, all are read in parts. */
const ADDED_RATES_MAX = 2_000;

type PricedTerms = Pick<CardTerms, 'products' | 'composites' | 'subscriptions' | 'productOrder'>;

/** The cached terms of a card. Its lists never change, so objects built from them can be cached with them. */
interface KeptCard {
  readonly state: CardState;
  readonly products: ReadonlyMap<string, StoredProduct>;
  readonly entries: ReadonlyMap<string, readonly RateEntry[]>;
  readonly terms: PricedTerms;
}

/**
 * Rates and products of all cached cards: several hundred megabytes. A card of 10,000 models grows with each repricing.
 */
const kept = keptValues<KeptCard>({
  weightMax: 500_000,
  weightOf: ({ state, products }) => state.rateCount + products.size,
});
/** One version for all: states are compared by their members. */
const ANY_STATE = '';

/** The terms of the cards by id; unknown ids are absent. */
export async function loadCardTerms(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<Map<string, CardTerms>> {
  const [cards, priced] = await Promise.all([
    loadRateCards(db, rateCardIds),
    loadPricedTerms(db, rateCardIds),
  ]);
  const units = await loadCreditTypes(
    db,
    [...cards.values()].flatMap(({ conversions }) => conversions.map((one) => one.customCreditTypeId)),
  );
  return new Map([...cards].map(([id, card]) => [id, termsOf(card, units, priced.get(id) ?? NO_PRODUCTS)]));
}

const NO_PRODUCTS: PricedTerms = { products: [], composites: [], subscriptions: [], productOrder: [] };

function termsOf(
  { fiatCreditTypeId, conversions }: RateCard,
  units: ReadonlyMap<string, { readonly name: string }>,
  priced: PricedTerms,
): CardTerms {
  const nameOf = (id: string) => {
    const unit = units.get(id);
    assert(unit !== undefined, `pricing unit ${id} of a conversion exists`);
    return unit.name;
  };
  return {
    fiatCreditTypeId,
    conversions: conversions.map((one) => ({ ...one, name: nameOf(one.customCreditTypeId) })),
    ...priced,
  };
}

async function loadPricedTerms(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<Map<string, PricedTerms>> {
  const loaded = new Map<string, PricedTerms>();
  for (const id of rateCardIds) {
    const one = kept.latest(id);
    if (one !== null) loaded.set(id, await loadLarge(db, id, one));
  }
  const order = await rateCardProductOrder(
    db,
    rateCardIds.filter((id) => !loaded.has(id)),
  );
  const small: string[] = [];
  for (const [id, productIds] of order) {
    if (productIds.length < KEPT_FROM_PRODUCTS) small.push(id);
    else loaded.set(id, await loadLarge(db, id, null));
  }
  const [entries, products] = await Promise.all([
    loadRateEntries(db, small),
    loadProducts(db, [...new Set(small.flatMap((id) => order.get(id) ?? []))]),
  ]);
  for (const id of small) {
    const byProduct = groupBy(entries.get(id) ?? [], ({ productId }) => productId);
    loaded.set(id, pricedTerms(order.get(id) ?? [], products, byProduct));
  }
  return loaded;
}

/** The terms of a card with many products; the `known` ones were read before. */
async function loadLarge(
  db: Database | Transaction,
  id: string,
  known: KeptCard | null,
): Promise<PricedTerms> {
  const state = await readCardState(db, id);
  if (known !== null && isSameState(known.state, state)) {
    kept.put(id, ANY_STATE, known);
    return known.terms;
  }
  const hasProducts = known !== null && hasSameProducts(known.state, state);
  const products = hasProducts ? known.products : await readProducts(db, id);
  const entries = (await withAddedRates(db, id, known, state)) ?? (await readEntries(db, id));
  const order = hasProducts ? known.terms.productOrder : [...products.keys()];
  const terms = pricedTerms(order, products, entries);
  // Outside a snapshot, a change between the reads gives terms that match neither state.
  if (isSameState(state, await readCardState(db, id))) {
    kept.put(id, ANY_STATE, { state, products, entries, terms });
  }
  return terms;
}

/** In the order of the card. */
async function readProducts(
  db: Database | Transaction,
  rateCardId: string,
): Promise<Map<string, StoredProduct>> {
  const order = (await rateCardProductOrder(db, [rateCardId])).get(rateCardId) ?? [];
  const products = new Map<string, StoredProduct>();
  for (let from = 0; from < order.length; from += PRODUCTS_PER_PART) {
    const ids = order.slice(from, from + PRODUCTS_PER_PART);
    const part = await loadProducts(db, ids);
    for (const id of ids) {
      const product = part.get(id);
      assert(product !== undefined, `product ${id} of a rate card exists`);
      products.set(id, product);
    }
  }
  return products;
}

async function readEntries(
  db: Database | Transaction,
  rateCardId: string,
): Promise<Map<string, RateEntry[]>> {
  const byProduct = new Map<string, RateEntry[]>();
  for await (const part of loadRatesInParts(db, rateCardId)) await addEntries(byProduct, part);
  await eachInChunks([...byProduct.values()], (entries) => entries.sort((a, b) => a.sequence - b.sequence));
  return byProduct;
}

/** The known rates with those that were added since; null if that is incomplete, or too much for one statement. */
async function withAddedRates(
  db: Database | Transaction,
  rateCardId: string,
  known: KeptCard | null,
  state: CardState,
): Promise<ReadonlyMap<string, readonly RateEntry[]> | null> {
  if (known === null || known.state.server !== state.server) return null;
  const addedCount = state.rateCount - known.state.rateCount;
  if (addedCount === 0 && state.lastRate === known.state.lastRate) return known.entries;
  if (addedCount < 1 || addedCount > ADDED_RATES_MAX) return null;
  const added = await loadRatesAfter(db, rateCardId, known.state.lastRate, ADDED_RATES_MAX + 1);
  // A rate that was committed after a later one is missing here.
  if (added.length !== addedCount) return null;
  const byProduct = new Map(known.entries);
  for (const [productId, entries] of groupBy(added, (entry) => entry.productId)) {
    byProduct.set(productId, [...(byProduct.get(productId) ?? []), ...entries]);
  }
  return byProduct;
}

async function addEntries(byProduct: Map<string, RateEntry[]>, entries: readonly RateEntry[]): Promise<void> {
  await eachInChunks(entries, (entry) => {
    const own = byProduct.get(entry.productId);
    if (own === undefined) byProduct.set(entry.productId, [entry]);
    else own.push(entry);
  });
}

function pricedTerms(
  productOrder: readonly string[],
  products: ReadonlyMap<string, StoredProduct>,
  entries: ReadonlyMap<string, readonly RateEntry[]>,
): PricedTerms {
  const ofType = (type: ProductType) =>
    productOrder.flatMap((id) => {
      const product = products.get(id);
      return product?.type === type ? [{ product, rateEntries: entries.get(id) ?? [] }] : [];
    });
  return {
    productOrder: [...productOrder],
    products: ofType('USAGE'),
    composites: ofType('COMPOSITE'),
    subscriptions: ofType('SUBSCRIPTION'),
  };
}
