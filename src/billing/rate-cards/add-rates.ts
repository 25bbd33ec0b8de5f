/** Adds rates to a rate card, all or none. Past dates are allowed and change drafts, not issued invoices. */
import { type CreditType, USD_CENTS } from '../../core/credit-types.ts';
import { assert, type FieldPath, invalid, namesNothing, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { mapInChunks } from '../../core/in-chunks.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadProducts, type StoredProduct } from '../../store/products/products.ts';
import {
  claimProductUnits,
  lockRateCard,
  type RateCard,
  unitsOfProducts,
} from '../../store/rate-cards/rate-cards.ts';
import { insertRates, type NewRateEntry } from '../../store/rate-cards/rates.ts';
import type { RowContext } from '../billing-context.ts';
import { checkFiltersOfCards } from '../products/usage-filters.ts';
import { checkRate, type RateTerms } from './rate-terms.ts';

export interface AddRatesInput {
  readonly rateCardId: string;
  readonly rates: readonly RateTerms[];
  /** Path of a rate in the request, which is empty if there is only one. */
  readonly pathOf: (index: number) => FieldPath;
  readonly createdBy: string;
}

export interface AddedRates {
  readonly entries: readonly NewRateEntry[];
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

/**
 * Refuses an unknown card or product (`not_found`), unsound rates, and a pricing unit that the card cannot
 * convert or that is not the one the product already has on the card (`invalid`, naming the field).
 */
export async function addRates(context: RowContext, input: AddRatesInput): Promise<AddedRates> {
  return context.db.transaction((tx) => addRatesIn(tx, context, input));
}

/** `addRates` within a transaction. */
export async function addRatesIn(
  tx: Transaction,
  context: Pick<RowContext, 'clock'>,
  input: AddRatesInput,
): Promise<AddedRates> {
  const card = await lockRateCard(tx, input.rateCardId);
  if (card === null) throw notFound('rate card', input.rateCardId);
  const createdAt = context.clock.now();
  const products = await loadProducts(tx, [...new Set(input.rates.map((rate) => rate.productId))]);
  const creditTypes = await loadCreditTypes(tx, unitsOfCard(card));
  const entries = await mapInChunks(input.rates, (terms, index): NewRateEntry => {
    const path = input.pathOf(index);
    const product = productOf(products, terms, path);
    return {
      id: newId(),
      rateCardId: card.id,
      productId: terms.productId,
      pricingGroupValues: terms.pricingGroupValues,
      billingFrequency: terms.billingFrequency,
      startingAt: terms.startingAt,
      endingBefore: terms.endingBefore,
      entitled: terms.entitled,
      ...checkRate(terms, product, path),
      creditTypeId: unitOf(card, product, terms, creditTypes, path),
      createdAt,
      createdBy: input.createdBy,
    };
  });
  await checkFilters(tx, card, products, input, createdAt);
  await fixUnits(tx, card, entries, creditTypes, input.pathOf);
  await insertRates(tx, entries);
  return { entries, creditTypes };
}

/** A product that is added to the card must suit the usage filters of the contracts on it. */
async function checkFilters(
  tx: Transaction,
  card: RateCard,
  products: ReadonlyMap<string, StoredProduct>,
  { rates, pathOf }: AddRatesInput,
  now: Instant,
): Promise<void> {
  const onCard = await unitsOfProducts(tx, card.id, [...products.keys()]);
  const added = [...products.values()].filter(({ id }) => !onCard.has(id));
  const indexOf = (id: string) => rates.findIndex(({ productId }) => productId === id);
  const from = Math.min(...rates.map(({ startingAt }) => startingAt));
  const fieldOf = (id: string) => [...pathOf(indexOf(id)), 'productId'];
  await checkFiltersOfCards(tx, [card.id], added, { now, from }, fieldOf);
}

function productOf(
  products: ReadonlyMap<string, StoredProduct>,
  terms: RateTerms,
  path: FieldPath,
): StoredProduct {
  const product = products.get(terms.productId);
  if (product === undefined) {
    throw namesNothing([...path, 'productId'], `product ${terms.productId} not found`);
  }
  return product;
}

/** The units that the card can put on an invoice: its currency, and those it converts into it. */
function unitsOfCard(card: RateCard): string[] {
  return [card.fiatCreditTypeId, ...card.conversions.map((conversion) => conversion.customCreditTypeId)];
}

/** Percentages take the unit of the amounts they apply to; the card's currency only fills the place. */
function unitOf(
  card: RateCard,
  product: StoredProduct,
  terms: RateTerms,
  creditTypes: ReadonlyMap<string, CreditType>,
  path: FieldPath,
): string {
  if (product.type === 'COMPOSITE') return card.fiatCreditTypeId;
  const id = terms.creditTypeId ?? USD_CENTS.id;
  if (creditTypes.has(id)) return id;
  const currency = creditTypes.get(card.fiatCreditTypeId);
  assert(currency !== undefined, `rate card ${card.id} has a known currency`);
  throw invalid(
    [...path, 'creditTypeId'],
    `${id} is neither the currency of the rate card (${currency.name}, ${currency.id}) nor a unit that it converts`,
  );
}

/** A product keeps the unit of its first rate on the card permanently. */
async function fixUnits(
  tx: Transaction,
  card: RateCard,
  entries: readonly NewRateEntry[],
  creditTypes: ReadonlyMap<string, CreditType>,
  pathOf: (index: number) => FieldPath,
): Promise<void> {
  const first = new Map<string, string>();
  for (const entry of entries) {
    if (!first.has(entry.productId)) first.set(entry.productId, entry.creditTypeId);
  }
  const units = [...first].map(([productId, creditTypeId]) => ({ productId, creditTypeId }));
  const fixed = await claimProductUnits(tx, card.id, units);
  for (const [index, entry] of entries.entries()) {
    const unit = fixed.get(entry.productId);
    if (unit === entry.creditTypeId) continue;
    const name = unit === undefined ? 'another unit' : (creditTypes.get(unit)?.name ?? unit);
    throw invalid(
      [...pathOf(index), 'creditTypeId'],
      `product ${entry.productId} is priced in ${name} on this rate card, and that cannot change`,
    );
  }
}
