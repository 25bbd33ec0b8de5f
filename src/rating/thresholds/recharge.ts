/** How much a prepaid balance threshold charges (docs/explanation/thresholds.md, "Auto top-up"). Pure. */
import { type Decimal, decimal, maximum, minimum } from '../../core/decimal.ts';
import type { PrepaidBalanceThreshold } from '../../core/terms/thresholds.ts';

type Levels = Pick<PrepaidBalanceThreshold, 'thresholdAmount' | 'rechargeToAmount'>;

const HALF = decimal('0.5');

/** The balance without holds at which the charge is due. */
export interface RechargeLine {
  readonly at: Decimal;
  /** The maximum to which holds raise it. */
  readonly highest: Decimal;
}

/**
 * Holds count as used, so they raise the line, up to the middle between both levels. A charge fills the balance to
 * `rechargeToAmount`. It is therefore never less than half of a charge without holds, and there are at most twice as
 * many charges, however much is held and however often holds are released.
 */
export function rechargeLine({ thresholdAmount, rechargeToAmount }: Levels, held: Decimal): RechargeLine {
  const highest = thresholdAmount.plus(rechargeToAmount).times(HALF);
  return { at: minimum(thresholdAmount.plus(held), highest), highest };
}

/** The current balance, and the balance if the new commit were inexhaustible. */
export interface WithRecharge {
  /** The part of the balance that drafts leave now. */
  readonly balance: Decimal;
  /** The part that drafts would leave of it: more, if the new commit pays before the others do. */
  readonly others: Decimal;
  /**
   * The amount that drafts would draw from the new commit: usage that was not covered, or that other balances no longer
   * need to cover.
   */
  readonly drawn: Decimal;
}

/**
 * The amount of the commit that raises the balance to `rechargeToAmount` after it has paid for usage that exceeded the
 * balance: one charge, however many thresholds were passed. The amount that the new commit pays in place of other
 * balances stays in them, so it is not bought twice. If the charge is due, the amount is greater than 0.
 */
export function rechargeAmount(
  { rechargeToAmount }: Pick<Levels, 'rechargeToAmount'>,
  { balance, others, drawn }: WithRecharge,
): Decimal {
  // At commit rates other balances can save more than the new commit pays.
  return maximum(drawn.plus(rechargeToAmount).minus(others), rechargeToAmount.minus(balance));
}
