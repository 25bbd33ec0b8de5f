/**
 * The possible rows of a contract's rate schedule, in order: each rate of the card; after a rate without group values
 * the values that overrides name; and at the end the prices that only overrides set.
 */
import { assert } from '../../core/errors.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';
import { compareText, type GroupValues } from '../../rating/quantities/group-values.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import type { LineTerms } from '../../rating/rates/line-terms.ts';
import type { Database } from '../../store/base/database.ts';
import { loadProducts, type StoredProduct } from '../../store/products/products.ts';
import {
  loadRatesOfIdentities,
  rateIdentityKey,
  type StoredRateEntry,
} from '../../store/rate-cards/rates.ts';
import type { RatePosition, RateSegment } from '../rate-cards/read-rates.ts';
import { isForAllOthers, type NamedByOverrides, outsideOf, placeOf } from './rate-schedule-named-values.ts';

/** The place of a row; that of the last row of a page is its cursor. */
export interface ScheduleRowPosition extends RatePosition {
  /** The place among the rows of one rate; empty for a row of the card. */
  readonly values: string;
}

/** A row, unless its values have a separate rate on the card or are not entitled. */
export interface CandidateRow {
  readonly position: ScheduleRowPosition;
  readonly product: StoredProduct;
  readonly pricingGroupValues: GroupValues;
  /** The card's rate; null: there is none, so only an OVERWRITE sets a price. */
  readonly listed: RateSegment | null;
  /** The time in which `listed` is in force, or no rate without group values is. */
  readonly interval: OpenInterval;
}

/** Prices without a rate follow all identities of the card. */
const BEHIND_THE_CARD = Number.MAX_SAFE_INTEGER;

/** Whether the card is exhausted at this place. */
export function isBehindTheCard({ identity }: RatePosition): boolean {
  return identity === BEHIND_THE_CARD;
}

export function isBehind(position: ScheduleRowPosition, after: ScheduleRowPosition | null): boolean {
  return after === null || position.identity > after.identity || position.values > after.values;
}

/** The candidates of rates of the card, built on demand. */
export function* candidatesOfCard(
  segments: readonly RateSegment[],
  products: ReadonlyMap<string, StoredProduct>,
  named: NamedByOverrides,
): Generator<CandidateRow, void, undefined> {
  for (const listed of segments) {
    const { entry, position, interval } = listed;
    const product = products.get(entry.productId);
    assert(product !== undefined, `product ${entry.productId} of a rate exists`);
    const { pricingGroupValues } = entry;
    yield { position: { ...position, values: '' }, product, pricingGroupValues, listed, interval };
    if (!isForAllOthers(listed)) continue;
    for (const { place, values } of named.valuesOf(product, entry.billingFrequency)) {
      const behind = { ...position, values: place };
      yield { position: behind, product, pricingGroupValues: values, listed, interval };
    }
  }
}

/**
 * Candidates for usage that has no rate at `at` and that an OVERWRITE may price: without group values, and named ones.
 */
export async function candidatesWithoutRate(
  db: Database,
  rateCardId: string,
  named: NamedByOverrides,
  at: Instant,
): Promise<CandidateRow[]> {
  const products = await loadProducts(db, named.overwrittenProductIds);
  const usage = [...products.values()].filter(({ type }) => type === 'USAGE');
  const identities = usage.map(({ id }) => withoutValues(id));
  const rates = await loadRatesOfIdentities(db, rateCardId, identities);
  return usage
    .toSorted((a, b) => compareText(a.id, b.id))
    .flatMap((product) => {
      const forAllOthers = rates.get(rateIdentityKey(withoutValues(product.id))) ?? [];
      const interval = outsideOf(forAllOthers, { start: Number.NEGATIVE_INFINITY, end: null }, at);
      if (interval === null) return [];
      return [{ place: placeOf({}), values: {} }, ...named.valuesOf(product, null)].map(
        ({ place, values }): CandidateRow => ({
          position: { identity: BEHIND_THE_CARD, start: 0, values: `${product.id}${place}` },
          product,
          pricingGroupValues: values,
          listed: null,
          interval,
        }),
      );
    })
    .sort((a, b) => compareText(a.position.values, b.position.values));
}

function withoutValues(productId: string) {
  return { productId, pricingGroupValues: {}, billingFrequency: null };
}

/** Drops candidates whose values have a separate rate at `at`; others end when such a rate begins. */
export async function withoutOwnRates(
  db: Database,
  rateCardId: string,
  candidates: readonly CandidateRow[],
  at: Instant,
): Promise<CandidateRow[]> {
  const named = candidates.filter((one) => one.position.values !== '');
  const own = await loadRatesOfIdentities(db, rateCardId, named.map(identityOf));
  return candidates.flatMap((candidate) => {
    if (candidate.position.values === '') return [candidate];
    const rates = own.get(rateIdentityKey(identityOf(candidate))) ?? [];
    const interval = outsideOf(rates, candidate.interval, at);
    return interval === null ? [] : [{ ...candidate, interval }];
  });
}

function identityOf({ product, pricingGroupValues, listed }: CandidateRow) {
  const billingFrequency = listed?.entry.billingFrequency ?? null;
  return { productId: product.id, pricingGroupValues, billingFrequency };
}

/** A rate as shown in the schedule. */
export interface ShownRate {
  readonly entry: Pick<
    StoredRateEntry,
    | 'rateCardId'
    | 'productId'
    | 'pricingGroupValues'
    | 'billingFrequency'
    | 'rate'
    | 'commitRate'
    | 'creditTypeId'
  >;
  readonly productName: string;
  readonly productTags: readonly string[];
}

/** A price without a rate on the card is shown as its own list rate. */
export function shownRate(
  { product, pricingGroupValues, listed }: CandidateRow,
  rateCardId: string,
  { rate, creditTypeId }: LineTerms,
  at: Instant,
): ShownRate {
  if (listed !== null) return { ...listed, entry: { ...listed.entry, pricingGroupValues } };
  const { name, tags } = versionAt(product, at);
  return {
    productName: name,
    productTags: tags,
    entry: {
      rateCardId,
      productId: product.id,
      pricingGroupValues,
      billingFrequency: null,
      rate,
      commitRate: null,
      creditTypeId,
    },
  };
}
