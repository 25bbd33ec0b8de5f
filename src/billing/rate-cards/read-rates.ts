/**
 * Reads the rates of a card: effective segments, page by page, entitled or not.
 *
 * Identities (product, group values, frequency) are ordered by their addition to the card, then by time. A segment is
 * shown with its full start and end, even if those lie outside the requested range.
 */
import type { CreditType } from '../../core/credit-types.ts';
import { assert, invalid, notFound, words } from '../../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { effectiveRates } from '../../rating/rates/rate-schedule.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadProducts, type StoredProduct } from '../../store/products/products.ts';
import { findRateCard, rateCardProductOrder } from '../../store/rate-cards/rate-cards.ts';
import {
  loadRatesByIdentity,
  type RateSelection,
  type StoredRateEntry,
  type StoredRateIdentity,
} from '../../store/rate-cards/rates.ts';
import type { RowContext } from '../billing-context.ts';
import { isSelected, type RateSelector } from './rate-selectors.ts';

/** The last segment of the page before: the place of its identity, and its start. */
export interface RatePosition {
  readonly identity: number;
  readonly start: Instant;
}

export interface ReadRatesInput extends PageRequest<RatePosition> {
  readonly rateCardId: string;
  /** Segments that hold at some time in it. */
  readonly range: OpenInterval;
  /** Rates that match any of these selectors; empty: all rates. */
  readonly selectors: readonly RateSelector[];
  /** Leaves out rates that are never entitled on the card, except rates of these products; null: leaves out nothing. */
  readonly entitledOrOf: readonly string[] | null;
}

/** A rate with the time in which it is effective. */
export interface RateSegment {
  readonly position: RatePosition;
  readonly interval: OpenInterval;
  readonly entry: StoredRateEntry;
  readonly productName: string;
  readonly productTags: readonly string[];
}

export interface RatePage extends Page<RateSegment, RatePosition> {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

/** Refuses an unknown card (`not_found`) and a range that ends before it starts (`invalid`). */
export async function readRates(context: Pick<RowContext, 'db'>, input: ReadRatesInput): Promise<RatePage> {
  const { rateCardId, range, limit } = input;
  if ((await findRateCard(context.db, rateCardId)) === null) throw notFound('rate card', rateCardId);
  if (range.end !== null && range.end <= range.start) {
    throw invalid(['endingBefore'], words`must be after ${['startingAt']}`);
  }
  const page = cutPage(await collectSegments(context, input), limit, ({ position }) => position);
  const units = page.rows.map(({ entry }) => entry.creditTypeId);
  return { ...page, creditTypes: await loadCreditTypes(context.db, [...new Set(units)]) };
}

/** At least one segment more than the page holds, if there are enough. */
async function collectSegments(
  context: Pick<RowContext, 'db'>,
  input: ReadRatesInput,
): Promise<RateSegment[]> {
  const anyOf = await selections(context, input);
  const batch = input.limit + 1;
  const rows: RateSegment[] = [];
  let fromSequence = input.after?.identity ?? 0;
  while (rows.length <= input.limit) {
    const { rateCardId, entitledOrOf } = input;
    const query = { rateCardId, anyOf, entitledOrOf, fromSequence, limit: batch };
    const found = await loadRatesByIdentity(context.db, query);
    const products = await loadProducts(context.db, [
      ...new Set(found.map(({ identity }) => identity.productId)),
    ]);
    for (const { identity, entries } of found) {
      const product = products.get(identity.productId);
      assert(product !== undefined, `product ${identity.productId} of a rate exists`);
      rows.push(...segmentsOf(input, product, identity, entries));
      fromSequence = identity.sequence + 1;
    }
    if (found.length < batch) break;
  }
  return rows;
}

/** The part of the selectors that the database can answer; tags depend on the time, so they are a rough cut. */
async function selections(
  context: Pick<RowContext, 'db'>,
  input: ReadRatesInput,
): Promise<readonly RateSelection[] | null> {
  const { selectors, rateCardId } = input;
  if (selectors.length === 0) return null;
  const tagged = selectors.some(({ productTags }) => productTags !== undefined);
  const ids = tagged ? ((await rateCardProductOrder(context.db, [rateCardId])).get(rateCardId) ?? []) : [];
  const products = [...(await loadProducts(context.db, ids)).values()];
  return selectors.map(({ productId, productTags, ...rest }): RateSelection => {
    const withTags = productTags === undefined ? undefined : idsWithTags(products, productTags);
    if (productId === undefined) return withTags === undefined ? rest : { ...rest, productIds: withTags };
    const productIds = withTags === undefined ? [productId] : withTags.filter((id) => id === productId);
    return { ...rest, productIds };
  });
}

function idsWithTags(products: readonly StoredProduct[], tags: readonly string[]): string[] {
  return products
    .filter(({ versions }) => versions.some((version) => version.tags.some((tag) => tags.includes(tag))))
    .map(({ id }) => id);
}

function segmentsOf(
  { range, selectors, after }: ReadRatesInput,
  product: StoredProduct,
  identity: StoredRateIdentity,
  entries: readonly StoredRateEntry[],
): RateSegment[] {
  return effectiveRates(entries).flatMap(({ interval, entry }): RateSegment[] => {
    const { start, end } = interval;
    if ((range.end !== null && start >= range.end) || (end !== null && end <= range.start)) return [];
    if (after !== null && identity.sequence === after.identity && start <= after.start) return [];
    const { name, tags } = versionAt(product, Math.max(start, range.start));
    if (!isSelected(selectors, { ...identity, productTags: tags })) return [];
    return [
      {
        position: { identity: identity.sequence, start },
        interval,
        entry,
        productName: name,
        productTags: tags,
      },
    ];
  });
}
