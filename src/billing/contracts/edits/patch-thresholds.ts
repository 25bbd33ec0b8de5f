/** Changes of the threshold settings of a contract. Pure. */
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { ContractTerms } from '../../../core/terms/contract.ts';
import type { PrepaidBalanceThresholdPatch, SpendThresholdPatch } from '../../../core/terms/patches.ts';
import type {
  PrepaidBalanceThreshold,
  SpendThreshold,
  ThresholdDiscount,
} from '../../../core/terms/thresholds.ts';
import { given } from '../../../core/terms/values.ts';
import type { TermsContext } from '../terms/terms-context.ts';
import { validatePrepaidBalanceThreshold, validateSpendThreshold } from '../terms/thresholds.ts';
import { patchedApplicability } from './patch-commit.ts';

type Thresholds = Pick<ContractTerms, 'spendThreshold' | 'prepaidBalanceThreshold' | 'spendTrackers'>;

/** Refuses (`invalid`) the first invalid field, and a contract without such settings. */
export function patchedSpendThreshold(
  { spendThreshold: from, spendTrackers }: Thresholds,
  patch: SpendThresholdPatch | null,
  context: TermsContext,
): SpendThreshold | null {
  if (patch === null) return from;
  const path = ['updates', 'updateSpendThreshold'];
  if (from === null) {
    throw invalid(path, words`the contract has none: use ${['additions', 'spendThreshold']}`);
  }
  const { commit = {}, discount, ...plain } = patch;
  const changed = {
    ...from,
    ...given(plain),
    discount: patchedDiscount(from.discount, discount, [...path, 'discount']),
    commit: { ...from.commit, ...given(commit) },
  };
  validateSpendThreshold(changed, path, context, spendTrackers);
  return changed;
}

/** Refuses (`invalid`) the first invalid field, and a contract without such settings. */
export function patchedPrepaidBalanceThreshold(
  { prepaidBalanceThreshold: from, spendTrackers }: Thresholds,
  patch: PrepaidBalanceThresholdPatch | null,
  context: TermsContext,
): PrepaidBalanceThreshold | null {
  if (patch === null) return from;
  const path = ['updates', 'updatePrepaidBalanceThreshold'];
  if (from === null) {
    throw invalid(path, words`the contract has none: use ${['additions', 'prepaidBalanceThreshold']}`);
  }
  const { commit: purchase = {}, discount, balanceSpecifiers, ...plain } = patch;
  const { productIds, productTags, specifiers, ...commit } = purchase;
  const { applicability } = from.commit;
  const scopeAt = [...path, 'commit', 'applicability'];
  const changed: PrepaidBalanceThreshold = {
    ...from,
    ...given(plain),
    discount: patchedDiscount(from.discount, discount, [...path, 'discount']),
    commit: {
      ...from.commit,
      ...given(commit),
      applicability: patchedApplicability(
        applicability,
        { productIds, productTags, specifiers },
        scopeAt,
        context,
      ),
    },
    balanceSpecifiers: balanceSpecifiers === undefined ? from.balanceSpecifiers : (balanceSpecifiers ?? []),
  };
  validatePrepaidBalanceThreshold(changed, path, context, spendTrackers);
  return changed;
}

function patchedDiscount(
  from: ThresholdDiscount | null,
  patch: SpendThresholdPatch['discount'],
  field: FieldPath,
): ThresholdDiscount | null {
  if (patch === undefined) return from;
  if (patch === null || patch.paymentFraction === null) return null;
  const paymentFraction = patch.paymentFraction ?? from?.paymentFraction;
  if (paymentFraction === undefined) throw invalid([...field, 'paymentFraction'], 'is required');
  return { paymentFraction, cap: patch.cap === undefined ? (from?.cap ?? null) : patch.cap };
}
