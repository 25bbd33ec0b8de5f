/** Evaluates the thresholds of customers. The work is in `billing/thresholds/`. */
import type { BalanceDeps } from '../billing/balances/deductions.ts';
import { evaluateThresholds, watchedCustomers } from '../billing/thresholds/evaluate-thresholds.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';

export function thresholdEvaluator(deps: BalanceDeps): CustomerEvaluator {
  return {
    name: 'thresholds',
    watched: (customerIds) => watchedCustomers(deps, customerIds),
    evaluate: (customerIds) => evaluateThresholds(deps, customerIds),
  };
}
