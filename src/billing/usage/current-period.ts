/** The billing period that a customer is in now. */
import { invalid, words } from '../../core/errors.ts';
import type { Interval } from '../../core/time.ts';
import { periodContaining } from '../../rating/periods/billing-periods.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import type { RowContext } from '../billing-context.ts';

/**
 * The current usage period of the customer's contracts. Refuses (`invalid`) a customer without a contract
 * in force, and one whose contracts are in different periods.
 */
export async function currentUsagePeriod(deps: RowContext, customerId: string): Promise<Interval> {
  const now = deps.clock.now();
  const contracts = await loadContracts(deps.db, { customerIds: [customerId], coveringDate: now });
  const periods = contracts.flatMap((contract) => {
    const { statementSchedule: schedule, startingAt: start, endingBefore: end } = contract;
    return periodContaining({ schedule, contract: { start, end } }, now) ?? [];
  });
  const [period] = periods;
  if (period === undefined) {
    throw invalid(['currentPeriod'], `customer ${customerId} has no contract in force`);
  }
  if (periods.some(({ start, end }) => start !== period.start || end !== period.end)) {
    throw invalid(
      ['currentPeriod'],
      words`the contracts of customer ${customerId} are in different billing periods: give ${['startingOn']} and ${['endingBefore']}`,
    );
  }
  return period;
}
