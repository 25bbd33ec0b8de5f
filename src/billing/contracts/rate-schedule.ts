/**
 * The rate schedule of a contract (docs/contracts.md, "The rate schedule"): the card's rates at an
 * instant as the contract's overrides leave them, entitled ones only, page by page. The resolution itself
 * is that of rating (rating/line-terms.ts).
 */
import type { Clock } from '../../core/clock.ts';
import type { CreditType } from '../../core/credit-types.ts';
import { assert } from '../../core/errors.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Instant } from '../../core/time.ts';
import type { ContractOverrides } from '../../rating/overrides.ts';
import { loadCreditTypes } from '../../store/credit-types.ts';
import type { Database } from '../../store/database.ts';
import { loadOverrides } from '../../store/overrides.ts';
import { loadProducts } from '../../store/products.ts';
import type { RateSelector } from '../rate-cards/rate-selectors.ts';
import { type RatePosition, type RateSegment, readRates } from '../rate-cards/read-rates.ts';
import { findContractOf } from './contracts.ts';
import {
  type PricedSegment,
  type ProductOverrides,
  pricedSegment,
  productOverrides,
} from './rate-schedule-segments.ts';

export interface RateScheduleInput {
  readonly customerId: string;
  readonly contractId: string;
  /** Null: now. */
  readonly at: Instant | null;
  /** Rates that one of them matches; none: all. */
  readonly selectors: readonly RateSelector[];
  readonly after: RatePosition | null;
  readonly limit: number;
}

/** A rate of the card, and what the contract makes of it. */
export interface ContractRate extends PricedSegment {
  readonly segment: RateSegment;
}

export interface RateSchedulePage {
  readonly rows: readonly ContractRate[];
  readonly next: RatePosition | null;
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

const NOTHING: RateSchedulePage = { rows: [], next: null, creditTypes: new Map() };

/** So many rates are read at once at most, where many are not entitled and a page takes more than it holds. */
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
  const priced = createPricer(db, { overrides, prioritization });
  const at = input.at ?? clock.now();
  const rows: ContractRate[] = [];
  let { after } = input;
  let limit = input.limit + 1;
  do {
    const page = await readRates(
      { db },
      {
        rateCardId: contract.rateCardId,
        range: { start: at, end: at + 1 },
        selectors: input.selectors,
        entitledOrOf: entitledProducts(overrides),
        after,
        limit,
      },
    );
    rows.push(...(await priced(page.rows, at)));
    after = page.next;
    limit = Math.min(limit * 2, BATCH_MAX);
  } while (rows.length <= input.limit && after !== null);
  return pageOf(db, rows, input.limit);
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

/** Prices the entitled rates among those of the card. What is known about a product is found out once. */
function createPricer(db: Database, contract: ContractOverrides) {
  const known = new Map<string, ProductOverrides>();
  return async (segments: readonly RateSegment[], at: Instant): Promise<ContractRate[]> => {
    const ids = new Set(segments.map(({ entry }) => entry.productId));
    const products = await loadProducts(
      db,
      [...ids].filter((id) => !known.has(id)),
    );
    for (const [id, product] of products) known.set(id, productOverrides(product, contract));
    return segments.flatMap((segment) => {
      const product = known.get(segment.entry.productId);
      assert(product !== undefined, `product ${segment.entry.productId} of a rate exists`);
      const priced = pricedSegment(product, segment, at);
      return priced === null ? [] : [{ segment, ...priced }];
    });
  };
}

async function pageOf(
  db: Database,
  found: readonly ContractRate[],
  limit: number,
): Promise<RateSchedulePage> {
  const rows = found.slice(0, limit);
  const units = rows.flatMap(({ segment, terms }) => [segment.entry.creditTypeId, terms.creditTypeId]);
  return {
    rows,
    next: found.length > limit ? (rows.at(-1)?.segment.position ?? null) : null,
    creditTypes: await loadCreditTypes(db, [...new Set(units)]),
  };
}
