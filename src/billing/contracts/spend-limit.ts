/** The spend limit of a contract, which applies to holds if no balance may pay (docs/explanation/holds.md). */
import { isFiat, USD_CENTS } from '../../core/credit-types.ts';
import { type FieldPath, invalid } from '../../core/errors.ts';
import type { SpendLimit } from '../../core/terms/contract.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import type { RateCard } from '../../store/rate-cards/rate-cards.ts';

/** The limit with its unit. Refuses (`invalid`) an unknown unit, and one in which the contract has no charges. */
export async function spendLimitOf(
  db: Database | Transaction,
  limit: SpendLimit | null,
  card: Pick<RateCard, 'fiatCreditTypeId'> | null,
  path: FieldPath,
): Promise<SpendLimit | null> {
  if (limit === null) return null;
  const currency = card?.fiatCreditTypeId ?? USD_CENTS.id;
  await checkSpendLimitUnit(db, limit, path);
  if (limit.creditTypeId !== null && limit.creditTypeId !== currency)
    throw invalid([...path, 'creditTypeId'], `must be the currency of the rate card, ${currency}`);
  return { ...limit, creditTypeId: currency };
}

/** Checks that need no rate card. */
export async function checkSpendLimitUnit(
  db: Database | Transaction,
  { creditTypeId }: SpendLimit,
  path: FieldPath,
): Promise<void> {
  if (creditTypeId === null || isFiat(creditTypeId)) return;
  const isKnown = (await loadCreditTypes(db, [creditTypeId])).has(creditTypeId);
  const problem = isKnown ? 'must be a currency' : `pricing unit ${creditTypeId} not found`;
  throw invalid([...path, 'creditTypeId'], problem);
}
