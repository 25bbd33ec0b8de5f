/** Evaluates the alerts of customers. The work is in `billing/alerts/`. */
import { evaluateAlerts } from '../../billing/alerts/evaluate-alerts.ts';
import type { BillingContext } from '../../billing/billing-context.ts';
import { createEvaluationPace, type PaceLimits } from '../../billing/pace/evaluation-pace.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { customersWithAlerts } from '../../store/alerts/alerts.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';

/** Alerts may be of all customers: ten thousand of them with new usage are 33 evaluations a second. */
const LIMITS: PaceLimits = {
  waitMaxMs: 5 * MINUTE_MS,
  learnWaitMs: SECOND_MS / 2,
};

export function alertEvaluator(deps: BillingContext): CustomerEvaluator {
  const pace = createEvaluationPace(LIMITS);
  return {
    name: 'alerts',
    watched: (customerIds) => customersWithAlerts(deps.db, customerIds),
    evaluate: (customerIds) => evaluateAlerts(deps, customerIds, pace),
    meterOf: (customerId) => pace.meterOf(customerId),
    waitAgainMs: (customerId) => pace.waitAgainMs(customerId),
  };
}
