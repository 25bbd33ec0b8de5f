/** Evaluates the alerts of customers. The work is in `billing/alerts/`. */
import { evaluateAlerts } from '../billing/alerts/evaluate-alerts.ts';
import { createAlertPace } from '../billing/alerts/pace.ts';
import type { BalanceDeps } from '../billing/balances/deductions.ts';
import { customersWithAlerts } from '../store/alerts.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';

export function alertEvaluator(deps: BalanceDeps): CustomerEvaluator {
  const pace = createAlertPace();
  return {
    name: 'alerts',
    watched: (customerIds) => customersWithAlerts(deps.db, customerIds),
    evaluate: (customerIds) => evaluateAlerts(deps, customerIds, pace),
    isUrgent: (customerId, events) => pace.isUrgent(customerId, events),
  };
}
