/** The part of a full period that a child of a recurring term is granted, and amounts prorated by it. Pure. */
import {
  type Decimal,
  decimal,
  divideTo20Places,
  type RoundingMethod,
  roundDecimal,
} from '../../core/decimal.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { Instant } from '../../core/time.ts';
import { earlier, type GrantPeriod } from '../periods/grant-periods.ts';

/** The granted time as a fraction of the full period; both in the same unit. */
export interface Share {
  readonly granted: Decimal;
  readonly whole: Decimal;
}

/**
 * The share of a full period that the child is granted. FIRST counts from the term's start, LAST to the end of the term
 * or the contract. FIRST also prorates a first child whose access is cut short by the contract's end.
 */
export function shareOf(term: RecurringCommit, contract: Contract, period: GrantPeriod): Share {
  const { inForce, whole } = period;
  return shareFrom(countsFirst(term) ? inForce.start : whole.start, term, contract, period);
}

function countsFirst({ proration }: RecurringCommit): boolean {
  return proration === 'FIRST' || proration === 'FIRST_AND_LAST';
}

/** The share from `start` on. */
export function shareFrom(
  start: Instant,
  term: RecurringCommit,
  contract: Contract,
  { inForce, whole }: GrantPeriod,
): Share {
  const { proration, startingAt } = term;
  const isFirst = inForce.start === startingAt;
  const countsLast = proration === 'LAST' || proration === 'FIRST_AND_LAST';
  const accessCut = isFirst && countsFirst(term) ? earlier(whole.end, contract.endingBefore) : null;
  const end = countsLast ? inForce.end : (accessCut ?? whole.end);
  return { granted: decimal(String(end - start)), whole: decimal(String(whole.end - whole.start)) };
}

const ROUNDING: Readonly<
  Record<NonNullable<RecurringCommit['accessRounding']>['roundingMethod'], RoundingMethod>
> = { HALF_UP: 'ROUND_HALF_UP', FLOOR: 'ROUND_DOWN', CEILING: 'ROUND_UP' };

/** Amounts are not negative. A full amount is never rounded. Without `rounding`, 20 decimal places. */
export function prorated(
  amount: Decimal,
  share: Share,
  rounding: RecurringCommit['accessRounding'],
): Decimal {
  if (share.granted.eq(share.whole)) return amount;
  const part = divideTo20Places(amount.times(share.granted), share.whole);
  if (rounding === null) return part;
  return roundDecimal(part, ROUNDING[rounding.roundingMethod], rounding.decimalPlaces);
}
