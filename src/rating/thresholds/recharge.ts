/** How much a prepaid balance threshold charges (docs/thresholds.md, "Auto top-up"). Pure. */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import type { PrepaidBalanceThreshold } from '../../core/terms/thresholds.ts';

type Levels = Pick<PrepaidBalanceThreshold, 'thresholdAmount' | 'rechargeToAmount'>;

/** Whether the balance has fallen to the threshold. */
export function isRechargeDue(
  { thresholdAmount }: Pick<Levels, 'thresholdAmount'>,
  balance: Decimal,
): boolean {
  return balance.lte(thresholdAmount);
}

/** What would be, if the new commit were inexhaustible. */
export interface WithRecharge {
  /** The balance that drafts leave of all others. */
  readonly others: Decimal;
  /** What drafts draw from the new commit: usage that was not covered, or that others need not cover any more. */
  readonly drawn: Decimal;
}

/**
 * The amount of the commit that brings the balance to `rechargeToAmount`, after it has paid for usage that exceeded
 * the balance: one charge, however many thresholds were passed. Greater than 0 where the recharge is due.
 */
export function rechargeAmount(
  { rechargeToAmount }: Pick<Levels, 'rechargeToAmount'>,
  after: WithRecharge,
): Decimal {
  return after.drawn.plus(maximum(rechargeToAmount.minus(after.others), ZERO));
}
