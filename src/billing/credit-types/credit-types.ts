/** Use cases of pricing units: the fiat currencies, which are fixed, and custom units. */
import type { Clock } from '../../core/clock.ts';
import { type CreditType, FIAT_CREDIT_TYPES } from '../../core/credit-types.ts';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { KeysetPosition, Page, PageRequest } from '../../core/paging.ts';
import { insertCreditType, listCustomCreditTypes } from '../../store/credit-types.ts';
import type { Database } from '../../store/database.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

/** Where a page ended: after a number of currencies, or after a custom unit. */
export type PricingUnitPosition = { readonly currencies: number } | KeysetPosition;

export interface PricingUnit extends CreditType {
  readonly isCurrency: boolean;
}

/** US cents, the other currencies, then custom units in the order in which they were made. */
export async function listPricingUnits(
  deps: Pick<Deps, 'db'>,
  { after, limit }: PageRequest<PricingUnitPosition>,
): Promise<Page<PricingUnit, PricingUnitPosition>> {
  const skipped = after === null ? 0 : 'currencies' in after ? after.currencies : FIAT_CREDIT_TYPES.length;
  const currencies = FIAT_CREDIT_TYPES.slice(skipped, skipped + limit).map((fiat) => ({
    ...fiat,
    isCurrency: true,
  }));
  const reached = skipped + currencies.length;
  const left = limit - currencies.length;
  const { rows, next } = await listCustomCreditTypes(deps.db, {
    after: after === null || 'currencies' in after ? null : after,
    limit: Math.max(left, 1),
  });
  if (left === 0) {
    const more = reached < FIAT_CREDIT_TYPES.length || rows.length > 0;
    return { rows: currencies, next: more ? { currencies: reached } : null };
  }
  const custom = rows.map(({ id, name }) => ({ id, name, isCurrency: false }));
  return { rows: [...currencies, ...custom], next };
}

/** Makes a custom pricing unit. Refuses a name that another unit or a currency has (`conflict`). */
export async function createPricingUnit(deps: Deps, name: string): Promise<CreditType> {
  const unit = { id: newId(), name, createdAt: deps.clock.now() };
  const currency = FIAT_CREDIT_TYPES.find((fiat) => fiat.name === name);
  const holder = currency?.id ?? (await deps.db.transaction((tx) => insertCreditType(tx, unit)));
  if (holder !== unit.id) {
    throw conflict(`there is a pricing unit with the name ${JSON.stringify(name)} already`, [], holder);
  }
  return unit;
}
