/** The anchors of a contract's billing periods. */
import { assert } from '../../core/errors.ts';
import type { Contract } from '../../core/terms/contract.ts';
import { floorToDay, type Instant } from '../../core/time.ts';
import { boundaryAfter, firstPeriod, type PeriodTerms } from './billing-periods.ts';

/**
 * A boundary of the billing periods, as shown in answers. CUSTOM_DATE: the given date. CONTRACT_START: the contract's
 * start. FIRST_OF_MONTH: the first boundary after the start.
 */
export function statementAnchor(contract: Contract): Instant {
  const { statementSchedule: schedule, startingAt } = contract;
  if (schedule.anchor !== null) return schedule.anchor;
  if (schedule.day === 'CONTRACT_START') return startingAt;
  const period = firstPeriod({ schedule, contract: { start: startingAt, end: null } });
  assert(period !== null, `contract ${contract.id} has a first billing period`);
  return period.end;
}

/**
 * The boundary from which weeks are counted; weeks depend on the choice of boundary. With FIRST_OF_MONTH it is the
 * boundary on the day of the start, or else the first one after it.
 */
export function firstBillingDate(contract: Contract): Instant {
  const { statementSchedule: schedule, startingAt } = contract;
  if (schedule.day !== 'FIRST_OF_MONTH') return statementAnchor(contract);
  const terms: PeriodTerms = { schedule, contract: { start: startingAt, end: null } };
  const before = boundaryAfter(terms, startingAt, 0);
  return before >= floorToDay(startingAt) ? before : boundaryAfter(terms, startingAt, 1);
}
