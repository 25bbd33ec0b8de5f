/**
 * The rate schedule of a contract (docs/explanation/contracts.md, "The rate schedule"): the card's rates at an instant
 * after the contract's overrides, and prices that only overrides set; entitled ones only, page by page. Overrides are
 * resolved as in rating (rating/rates/line-terms.ts).
 */
import type { CreditType } from '../../core/credit-types.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Instant } from '../../core/time.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { type PricedSegment, pricedSegment } from '../../rating/rates/contract-rate.ts';
import { indexOverrides, type OverrideIndex, prepareIndex } from '../../rating/rates/override-index.ts';
import type { Database } from '../../store/base/database.ts';
import { loadOverrides } from '../../store/contracts/load-overrides.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadProducts } from '../../store/products/products.ts';
import { findRateCard, type RateCard } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { isSelected, type RateSelector } from '../rate-cards/rate-selectors.ts';
import { type RatePosition, readRates } from '../rate-cards/read-rates.ts';
import {
  type NamedByOverrides,
  namedByOverrides,
  withRatesForAllOthers,
} from './rate-schedule-named-values.ts';
import {
  type CandidateRow,
  candidatesOfCard,
  candidatesWithoutRate,
  isBehind,
  isBehindTheCard,
  type ScheduleRowPosition,
  type ShownRate,
  shownRate,
  withoutOwnRates,
} from './rate-schedule-rows.ts';

export interface RateScheduleInput extends PageRequest<ScheduleRowPosition> {
  readonly customerId: string;
  readonly contractId: string;
  /** Null: now. */
  readonly at: Instant | null;
  /** Rates that match any of these selectors; empty: all rates. */
  readonly selectors: readonly RateSelector[];
}

/** A rate with its price under the contract. */
export interface ContractRate extends PricedSegment {
  readonly position: ScheduleRowPosition;
  readonly shown: ShownRate;
}

export interface RateSchedulePage extends Page<ContractRate, ScheduleRowPosition> {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

const NOTHING: RateSchedulePage = { rows: [], next: null, creditTypes: new Map() };

/** Maximum rates processed at once. A page may need more rates than it shows, because some are not entitled. */
const BATCH_MAX = 1_000;

/** Refuses a missing contract (see `findContractOf`). A contract without a card has no rates. */
export async function readContractRates(
  { db, clock }: RowContext,
  input: RateScheduleInput,
): Promise<RateSchedulePage> {
  const contract = await findContractOf(db, input.customerId, input.contractId);
  const card = contract.rateCardId === null ? null : await findRateCard(db, contract.rateCardId);
  if (card === null) return NOTHING;
  const overrides = (await loadOverrides(db, [contract.id])).get(contract.id) ?? [];
  const priced = { overrides, prioritization: contract.multiplierPrioritization };
  await prepareIndex(priced);
  const at = input.at ?? clock.now();
  const schedule: Schedule = {
    db,
    card,
    input,
    at,
    overrides,
    index: indexOverrides(priced),
    named: namedByOverrides(overrides, at),
  };
  const rows = await cardRows(schedule);
  if (rows.length <= input.limit) {
    const candidates = await candidatesWithoutRate(db, card.id, schedule.named, at);
    rows.push(...(await pricedRows(schedule, candidates, input.limit + 1 - rows.length)));
  }
  return pageOf(db, rows, input.limit);
}

/** One request with its data. */
interface Schedule {
  readonly db: Database;
  readonly card: RateCard;
  readonly input: RateScheduleInput;
  readonly at: Instant;
  readonly overrides: readonly Override[];
  readonly index: OverrideIndex;
  readonly named: NamedByOverrides;
}

/** The rows of the card's rates: at least one more than the page size, if there are enough. */
async function cardRows(schedule: Schedule): Promise<ContractRate[]> {
  const { db, card, input, at, overrides } = schedule;
  const rows: ContractRate[] = [];
  if (input.after !== null && isBehindTheCard(input.after)) return rows;
  let after = beginningOf(input.after);
  let limit = input.limit + 1;
  do {
    const page = await readRates(
      { db },
      {
        rateCardId: card.id,
        range: { start: at, end: at + 1 },
        selectors: withRatesForAllOthers(input.selectors),
        entitledOrOf: entitledProducts(overrides),
        after,
        limit,
      },
    );
    const ids = page.rows.map(({ entry }) => entry.productId);
    const products = await loadProducts(db, [...new Set(ids)]);
    const candidates = candidatesOfCard(page.rows, products, schedule.named);
    rows.push(...(await pricedRows(schedule, candidates, input.limit + 1 - rows.length)));
    after = page.next;
    limit = Math.min(limit * 2, BATCH_MAX);
  } while (rows.length <= input.limit && after !== null);
  return rows;
}

/** The first `wanted` rows of the page from these candidates. Later candidates are not processed. */
async function pricedRows(
  schedule: Schedule,
  candidates: Iterable<CandidateRow>,
  wanted: number,
): Promise<ContractRate[]> {
  const { db, card, input, at } = schedule;
  const rows: ContractRate[] = [];
  let batch: CandidateRow[] = [];
  const price = async () => {
    for (const one of await withoutOwnRates(db, card.id, batch, at)) rows.push(...rowOf(schedule, one));
    batch = [];
  };
  for (const candidate of candidates) {
    if (!isBehind(candidate.position, input.after) || !isWanted(input, candidate, at)) continue;
    batch.push(candidate);
    if (batch.length < Math.min(BATCH_MAX, wanted + rows.length)) continue;
    await price();
    if (rows.length >= wanted) return rows.slice(0, wanted);
  }
  await price();
  return rows.slice(0, wanted);
}

function isWanted(
  { selectors }: RateScheduleInput,
  { product, pricingGroupValues, listed }: CandidateRow,
  at: Instant,
): boolean {
  const billingFrequency = listed?.entry.billingFrequency ?? null;
  const productTags = listed?.productTags ?? versionAt(product, at).tags;
  return isSelected(selectors, { productId: product.id, pricingGroupValues, billingFrequency, productTags });
}

/** Null if the price is not entitled, or if nothing sets one. */
function rowOf({ card, index, at }: Schedule, candidate: CandidateRow): ContractRate[] {
  const { position, product, pricingGroupValues, listed, interval } = candidate;
  const key = {
    product,
    fiatCreditTypeId: card.fiatCreditTypeId,
    pricingGroupValues,
    presentationGroupValues: {},
    billingFrequency: listed?.entry.billingFrequency ?? null,
  };
  const priced = pricedSegment(index, key, { listed: listed?.entry ?? null, interval }, at);
  return priced === null
    ? []
    : [{ position, shown: shownRate(candidate, card.id, priced.terms, at), ...priced }];
}

/** Restarts at the segment of that row: other rows may follow in the same one. */
function beginningOf(after: ScheduleRowPosition | null): RatePosition | null {
  return after === null ? null : { identity: after.identity, start: after.start - 1 };
}

/** The products that overrides may entitle at some time; null: products that are not named. */
function entitledProducts(overrides: readonly Override[]): string[] | null {
  const ids = overrides
    .filter(({ entitled }) => entitled === true)
    .flatMap(({ productId, specifiers }) =>
      specifiers.length === 0 ? [productId] : specifiers.map((specifier) => specifier.productId),
    );
  const named = ids.filter((id) => id !== null);
  return named.length === ids.length ? [...new Set(named)] : null;
}

async function pageOf(
  db: Database,
  found: readonly ContractRate[],
  limit: number,
): Promise<RateSchedulePage> {
  const page = cutPage(found, limit, ({ position }) => position);
  const units = page.rows.flatMap(({ shown, terms }) => [shown.entry.creditTypeId, terms.creditTypeId]);
  return { ...page, creditTypes: await loadCreditTypes(db, [...new Set(units)]) };
}
