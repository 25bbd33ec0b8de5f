/** Validates threshold settings and spend trackers (docs/explanation/contracts.md, "Thresholds"). Pure. */
import { isFiat, USD_CENTS } from '../../../core/credit-types.ts';
import { ofMinorUnits } from '../../../core/currencies.ts';
import { type Decimal, decimal, ONE, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type {
  PrepaidBalanceThreshold,
  SpendThreshold,
  SpendTracker,
  ThresholdDiscount,
} from '../../../core/terms/thresholds.ts';
import { checkSameConditions } from '../../custom-fields/same-conditions.ts';
import { validateApplicability } from './applicability.ts';
import { refusePaymentGate } from './payment-gates.ts';
import { requireCreditType, requireFixedProduct, type TermsContext } from './terms-context.ts';

/** The minimum amounts, in minor units of the currency: 5 dollars, euros or 500 yen, and 10 or 1,000 more than that. */
const THRESHOLD_MIN = decimal('500');
const RECHARGE_ABOVE_THRESHOLD_MIN = decimal('1000');

/** Refuses (`invalid`) the first invalid field. `trackers` are the spend trackers of the contract. */
export function validateSpendThreshold(
  from: SpendThreshold,
  path: FieldPath,
  context: TermsContext,
  trackers: readonly SpendTracker[],
): void {
  if (from.thresholdAmount.lte(ZERO)) throw invalid([...path, 'thresholdAmount'], 'must be greater than 0');
  checkCommon(from, path, context, trackers);
}

/** Refuses (`invalid`) the first invalid field. `trackers` are the spend trackers of the contract. */
export function validatePrepaidBalanceThreshold(
  from: PrepaidBalanceThreshold,
  path: FieldPath,
  context: TermsContext,
  trackers: readonly SpendTracker[],
): void {
  const { thresholdAmount, rechargeToAmount } = from;
  const least = leastAmount(THRESHOLD_MIN, from, path, context);
  if (thresholdAmount.lt(least)) {
    throw invalid([...path, 'thresholdAmount'], `must be at least ${least.toString()}`);
  }
  const gap = leastAmount(RECHARGE_ABOVE_THRESHOLD_MIN, from, path, context);
  if (rechargeToAmount.minus(thresholdAmount).lt(gap)) {
    throw invalid(
      [...path, 'rechargeToAmount'],
      words`must be at least ${gap.toString()} above ${['thresholdAmount']}`,
    );
  }
  validateApplicability(from.commit.applicability, [...path, 'commit', 'applicability'], context);
  for (const [index, { exclude }] of from.balanceSpecifiers.entries()) {
    for (const [place, { customFieldFilters }] of exclude.entries()) {
      const field = [...path, 'balanceSpecifiers', index, 'exclude', place, 'customFieldFilters'];
      checkSameConditions(customFieldFilters, field);
    }
  }
  checkCommon(from, path, context, trackers);
}

/**
 * An amount in minor units of the currency, in the unit of the threshold: the stored amount, or the converted one for a
 * custom unit.
 */
function leastAmount(
  minorUnits: Decimal,
  { customCreditTypeId }: PrepaidBalanceThreshold,
  path: FieldPath,
  context: TermsContext,
): Decimal {
  const least = ofMinorUnits(minorUnits, context.card?.fiatCreditTypeId ?? USD_CENTS.id);
  if (customCreditTypeId === null) return least;
  const field = [...path, 'customCreditTypeId'];
  requireCreditType(context, customCreditTypeId, field);
  if (isFiat(customCreditTypeId)) throw invalid(field, 'must be a custom pricing unit');
  const conversion = context.card?.conversions.get(customCreditTypeId);
  if (conversion === undefined) throw invalid(field, 'the rate card has no conversion of this unit');
  return conversion.lte(ZERO) ? ZERO : least.div(conversion);
}

function checkCommon(
  from: Omit<SpendThreshold, 'commit'> & { readonly commit: { readonly productId: string } },
  path: FieldPath,
  context: TermsContext,
  trackers: readonly SpendTracker[],
): void {
  requireFixedProduct(context, from.commit.productId, [...path, 'commit', 'productId']);
  refusePaymentGate(from.paymentGate, [...path, 'paymentGate'], context);
  if (from.discount !== null) {
    validateDiscount(from.discount, [...path, 'discount'], trackers);
  }
}

function validateDiscount(
  { paymentFraction, cap }: ThresholdDiscount,
  path: FieldPath,
  trackers: readonly SpendTracker[],
): void {
  if (paymentFraction.lte(ZERO) || paymentFraction.gt(ONE)) {
    throw invalid([...path, 'paymentFraction'], 'must be greater than 0 and at most 1');
  }
  if (cap === null) return;
  if (cap.amount.lte(ZERO)) throw invalid([...path, 'cap', 'amount'], 'must be greater than 0');
  if (!trackers.some((tracker) => tracker.alias === cap.spendTrackerAlias)) {
    const alias = JSON.stringify(cap.spendTrackerAlias);
    throw invalid([...path, 'cap', 'spendTrackerAlias'], `the contract has no spend tracker ${alias}`);
  }
}

/** Refuses (`invalid`) unknown units and used aliases. `path`: the path of the list. */
export function validateSpendTrackers(
  added: readonly SpendTracker[],
  path: FieldPath,
  context: TermsContext,
  existing: readonly SpendTracker[] = [],
): void {
  const aliases = new Set(existing.map((tracker) => tracker.alias));
  for (const [index, { alias, creditTypeId }] of added.entries()) {
    if (aliases.has(alias)) throw invalid([...path, index, 'alias'], `repeats ${JSON.stringify(alias)}`);
    aliases.add(alias);
    requireCreditType(context, creditTypeId, [...path, index, 'creditTypeId']);
  }
}
