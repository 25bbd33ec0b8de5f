/** The anchor of a contract's billing periods, as shown in answers. */
import { assert } from '../../core/errors.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { firstPeriod } from './billing-periods.ts';

/**
 * A boundary of the billing periods. CUSTOM_DATE: the given date. CONTRACT_START: the contract's start.
 * FIRST_OF_MONTH: the first boundary after the start.
 */
export function statementAnchor(contract: Contract): Instant {
  const { statementSchedule: schedule, startingAt } = contract;
  if (schedule.anchor !== null) return schedule.anchor;
  if (schedule.day === 'CONTRACT_START') return startingAt;
  const period = firstPeriod({ schedule, contract: { start: startingAt, end: null } });
  assert(period !== null, `contract ${contract.id} has a first billing period`);
  return period.end;
}
