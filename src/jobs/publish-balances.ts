/**
 * Schedules the publishing of balances (docs/reference/sql.md, "How balances get there"). It is not a job of the queue,
 * because it has no due instant of the service's clock: a sandbox clock would stop at each of them.
 */
import type { BillingContext } from '../billing/billing-context.ts';
import { publishBalances } from '../billing/sql/publish-balances.ts';
import { SECOND_MS } from '../core/time.ts';
import { createPoll } from '../runtime/poll.ts';

/** From the end of a step of a pass to the next one. It leaves the process free for most of the time. */
const STEP_INTERVAL_MS = SECOND_MS;
/** How often a process checks for work. */
const LOOK_INTERVAL_MS = 10 * SECOND_MS;

export function createBalancePublishing(context: Pick<BillingContext, 'db' | 'clock' | 'log'>) {
  let isUnderWay = false;
  return createPoll({
    name: 'balances',
    intervalMs: () => (isUnderWay ? STEP_INTERVAL_MS : LOOK_INTERVAL_MS),
    async work() {
      isUnderWay = (await publishBalances(context)) === 'under way';
    },
    onFailure: (err) =>
      context.log.error({ err }, 'balances cannot be published now: they will be tried again'),
  });
}
