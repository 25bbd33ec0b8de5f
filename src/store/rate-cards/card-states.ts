/**
 * Detects whether the prices on a rate card are unchanged, without reading them: for cards with tens of thousands of
 * rates, which take seconds to read (billing/invoices/terms/card-terms.ts).
 *
 * Rates and versions of products are added and never changed, so their number and the last one identify the state.
 * Reordering the products of a card writes their rows.
 */
import { sql } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import type { Database, Transaction } from '../base/database.ts';
import { placeOfRow } from '../base/row-states.ts';
import { productVersions } from '../products/products.tables.ts';
import { rateCardProducts, rateIdentities, rates } from './rate-cards.tables.ts';

/** Two states of a card are equal if its products, their order, versions and rates are. */
export interface CardState {
  /** Identifies the server since its start: a restored server may reuse numbers, but it has been restarted since. */
  readonly server: string;
  readonly order: string;
  readonly rateCount: number;
  /** Place of the rate that was added last; 0 if there is none. */
  readonly lastRate: number;
  readonly versionCount: number;
  readonly lastVersion: number;
}

interface StateRow extends Record<string, unknown> {
  readonly server: string;
  readonly order: string | null;
  readonly rate_count: string;
  readonly last_rate: string;
  readonly version_count: string;
  readonly last_version: string;
}

/** The state of a card in one statement, so that its parts are consistent. */
export async function readCardState(db: Database | Transaction, rateCardId: string): Promise<CardState> {
  const [row] = await db.execute<StateRow>(sql`
    select pg_postmaster_start_time()::text as server, r.*, v.*,
      (
        select md5(string_agg(${placeOfRow(sql`p`)}, ',' order by p.product_id))
        from ${rateCardProducts} p where p.rate_card_id = ${rateCardId}
      ) as "order"
    from (
      select count(*) as rate_count, coalesce(max(r.sequence), 0) as last_rate
      from ${rateIdentities} i join ${rates} r on r.identity = i.sequence
      where i.rate_card_id = ${rateCardId}
    ) r, (
      select count(*) as version_count, coalesce(max(v.sequence), 0) as last_version
      from ${rateCardProducts} p join ${productVersions} v on v.product_id = p.product_id
      where p.rate_card_id = ${rateCardId}
    ) v`);
  assert(row !== undefined, 'a statement without a condition has a row');
  return {
    server: row.server,
    order: row.order ?? '',
    rateCount: Number(row.rate_count),
    lastRate: Number(row.last_rate),
    versionCount: Number(row.version_count),
    lastVersion: Number(row.last_version),
  };
}

export function isSameState(a: CardState, b: CardState): boolean {
  return hasSameProducts(a, b) && hasSameRates(a, b);
}

/** Whether products, their versions and their order are the same. */
export function hasSameProducts(a: CardState, b: CardState): boolean {
  return (
    a.server === b.server &&
    a.order === b.order &&
    a.versionCount === b.versionCount &&
    a.lastVersion === b.lastVersion
  );
}

function hasSameRates(a: CardState, b: CardState): boolean {
  return a.server === b.server && a.rateCount === b.rateCount && a.lastRate === b.lastRate;
}
