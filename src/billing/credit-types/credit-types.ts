/** Use cases of pricing units: the fiat currencies, which are fixed, and custom units. */
import {
  type CreditType,
  FIAT_CREDIT_TYPES,
  FREQUENT_CREDIT_TYPES,
  OTHER_CREDIT_TYPES,
} from '../../core/credit-types.ts';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { KeysetPosition, Page, PageRequest } from '../../core/paging.ts';
import { insertCreditType, listCustomCreditTypes } from '../../store/credit-types/credit-types.ts';
import type { RowContext } from '../billing-context.ts';

/** The end of a page: in the frequent currencies or at their end, in the custom units, in the other currencies. */
export type PricingUnitPosition =
  | { readonly currencies: number }
  | KeysetPosition
  | { readonly otherCurrencies: number };

export interface PricingUnit extends CreditType {
  readonly isCurrency: boolean;
}

/**
 * US cents and other frequent currencies, custom units in the order of creation, then all other currencies, which are
 * more than a page: a client that reads only one page finds its custom units on it.
 */
export async function listPricingUnits(
  context: Pick<RowContext, 'db'>,
  { after, limit }: PageRequest<PricingUnitPosition>,
): Promise<Page<PricingUnit, PricingUnitPosition>> {
  const rows: PricingUnit[] = [];
  let others = 0;
  if (after === null || 'currencies' in after) {
    const skipped = after?.currencies ?? 0;
    rows.push(...currencies(FREQUENT_CREDIT_TYPES, skipped, limit));
    if (rows.length === limit) return { rows, next: { currencies: skipped + limit } };
  }
  if (after !== null && 'otherCurrencies' in after) others = after.otherCurrencies;
  else {
    const custom = await listCustomCreditTypes(context.db, {
      after: after === null || 'currencies' in after ? null : after,
      limit: limit - rows.length,
    });
    rows.push(...custom.rows.map(({ id, name }) => ({ id, name, isCurrency: false })));
    if (custom.next !== null) return { rows, next: custom.next };
  }
  const rest = currencies(OTHER_CREDIT_TYPES, others, limit - rows.length);
  const reached = others + rest.length;
  const next = reached < OTHER_CREDIT_TYPES.length ? { otherCurrencies: reached } : null;
  return { rows: [...rows, ...rest], next };
}

function currencies(all: readonly CreditType[], skipped: number, count: number): PricingUnit[] {
  return all.slice(skipped, skipped + count).map((fiat) => ({ ...fiat, isCurrency: true }));
}

/** Creates a custom pricing unit. Refuses a name of another unit or a currency (`conflict`). */
export async function createPricingUnit(context: RowContext, name: string): Promise<CreditType> {
  const unit = { id: newId(), name, createdAt: context.clock.now() };
  const currency = FIAT_CREDIT_TYPES.find((fiat) => fiat.name === name);
  const holder = currency?.id ?? (await context.db.transaction((tx) => insertCreditType(tx, unit)));
  if (holder !== unit.id) {
    throw conflict(`there is a pricing unit with the name ${JSON.stringify(name)} already`, [], holder);
  }
  return unit;
}
