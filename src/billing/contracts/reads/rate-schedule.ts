/**
 * The rate schedule of a contract (docs/contracts.md, "The rate schedule"): the card's rates at an instant after
 * the contract's overrides, entitled ones only, page by page. Overrides are resolved as in rating
 * (rating/rates/line-terms.ts).
 */
import type { Clock } from '../../../core/clock.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert } from '../../../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../../../core/paging.ts';
import type { Override } from '../../../core/terms/overrides.ts';
import type { Instant } from '../../../core/time.ts';
import {
  type PricedSegment,
  type ProductOverrides,
  pricedSegment,
  productOverrides,
} from '../../../rating/rates/contract-rate.ts';
import type { ContractOverrides } from '../../../rating/rates/overrides.ts';
import { loadCreditTypes } from '../../../store/credit-types.ts';
import type { Database } from '../../../store/database.ts';
import { loadOverrides } from '../../../store/overrides.ts';
import { loadProducts } from '../../../store/products.ts';
import { isSelected, type RateSelector } from '../../rate-cards/rate-selectors.ts';
import { type RatePosition, type RateSegment, readRates } from '../../rate-cards/read-rates.ts';
import { findContractOf } from './contracts.ts';
import {
  isForAllOthers,
  namedValueSegments,
  placeOf,
  withRatesForAllOthers,
} from './rate-schedule-named-values.ts';

/** The last row of the page before. */
interface ScheduleRowPosition extends RatePosition {
  /** `placeOf` values that only overrides name; empty for a row of the card's. */
  readonly values: string;
}

export interface RateScheduleInput extends PageRequest<ScheduleRowPosition> {
  readonly customerId: string;
  readonly contractId: string;
  /** Null: now. */
  readonly at: Instant | null;
  /** Rates that one of them matches; none: all. */
  readonly selectors: readonly RateSelector[];
}

/** A rate of the card, and its price under the contract. */
export interface ContractRate extends PricedSegment {
  readonly position: ScheduleRowPosition;
  readonly segment: RateSegment;
}

export interface RateSchedulePage extends Page<ContractRate, ScheduleRowPosition> {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

const NOTHING: RateSchedulePage = { rows: [], next: null, creditTypes: new Map() };

/** Most rates read at once. A page may need more rates than it shows, because not all are entitled. */
const BATCH_MAX = 1_000;

/** Refuses a contract that is not there (see `findContractOf`). A contract without a card has no rates. */
export async function readContractRates(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  input: RateScheduleInput,
): Promise<RateSchedulePage> {
  const contract = await findContractOf(db, input.customerId, input.contractId);
  if (contract.rateCardId === null) return NOTHING;
  const overrides = await loadOverrides(db, [contract.id]);
  const prioritization = contract.multiplierPrioritization;
  const at = input.at ?? clock.now();
  const priced = createPricer(db, { overrides, prioritization }, input, at);
  const rows: ContractRate[] = [];
  let after = beginningOf(input.after);
  let limit = input.limit + 1;
  do {
    const page = await readRates(
      { db },
      {
        rateCardId: contract.rateCardId,
        range: { start: at, end: at + 1 },
        selectors: withRatesForAllOthers(input.selectors),
        entitledOrOf: entitledProducts(overrides),
        after,
        limit,
      },
    );
    rows.push(...(await priced(page.rows)));
    after = page.next;
    limit = Math.min(limit * 2, BATCH_MAX);
  } while (rows.length <= input.limit && after !== null);
  return pageOf(db, rows, input.limit);
}

/** So that the segment of that row is read again: other rows may stand behind the same one. */
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

/** Prices the entitled rates of the card. Loads each product once. */
function createPricer(
  db: Database,
  contract: ContractOverrides,
  { selectors, after }: RateScheduleInput,
  at: Instant,
) {
  const known = new Map<string, ProductOverrides>();
  async function overridesOf(segments: readonly RateSegment[]): Promise<RateWithOverrides[]> {
    const ids = new Set(segments.map(({ entry }) => entry.productId));
    const products = await loadProducts(
      db,
      [...ids].filter((id) => !known.has(id)),
    );
    for (const [id, product] of products) known.set(id, productOverrides(product, contract));
    return segments.map((segment) => {
      const overrides = known.get(segment.entry.productId);
      assert(overrides !== undefined, `product ${segment.entry.productId} of a rate exists`);
      return { segment, overrides };
    });
  }
  return async (segments: readonly RateSegment[]): Promise<ContractRate[]> => {
    const rates = await withNamedValues(db, await overridesOf(segments), at);
    return rates.flatMap(({ segment, overrides, values }) => {
      const { entry, productTags } = segment;
      const position = { ...segment.position, values };
      if (!isBehind(position, after) || !isSelected(selectors, { ...entry, productTags })) return [];
      const priced = pricedSegment(overrides, segment, at);
      return priced === null ? [] : [{ position, segment, ...priced }];
    });
  };
}

interface RateWithOverrides {
  readonly segment: RateSegment;
  readonly overrides: ProductOverrides;
}

/** Every rate, and behind a rate for all others the group values that only overrides name. */
async function withNamedValues(
  db: Database,
  rates: readonly RateWithOverrides[],
  at: Instant,
): Promise<(RateWithOverrides & { readonly values: string })[]> {
  const forAllOthers = rates.filter(({ segment }) => isForAllOthers(segment));
  const named = await namedValueSegments(db, forAllOthers, at);
  const behind = new Map(forAllOthers.map((rate, index) => [rate, named[index] ?? []]));
  return rates.flatMap((rate) => [
    { ...rate, values: '' },
    ...(behind.get(rate) ?? []).map((segment) => ({
      segment,
      overrides: rate.overrides,
      values: placeOf(segment.entry.pricingGroupValues),
    })),
  ]);
}

function isBehind(position: ScheduleRowPosition, after: ScheduleRowPosition | null): boolean {
  return after === null || position.identity > after.identity || position.values > after.values;
}

async function pageOf(
  db: Database,
  found: readonly ContractRate[],
  limit: number,
): Promise<RateSchedulePage> {
  const page = cutPage(found, limit, ({ position }) => position);
  const units = page.rows.flatMap(({ segment, terms }) => [segment.entry.creditTypeId, terms.creditTypeId]);
  return { ...page, creditTypes: await loadCreditTypes(db, [...new Set(units)]) };
}
