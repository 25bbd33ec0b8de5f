/** Evaluates the thresholds of customers. The work is in `billing/thresholds/`. */
import type { BillingContext } from '../../billing/billing-context.ts';
import { createEvaluationPace, type PaceLimits } from '../../billing/pace/evaluation-pace.ts';
import { evaluateThresholds, watchedCustomers } from '../../billing/thresholds/evaluate-thresholds.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';

/**
 * Usage that is far from every threshold waits only so that a thousand busy customers leave the machine to ingest.
 * Usage of unknown effect waits for half a second, so that customers who are all busy after a start follow those that
 * come near their lines.
 */
const LIMITS: PaceLimits = {
  waitMaxMs: 30 * SECOND_MS,
  learnWaitMs: SECOND_MS / 2,
};

export function thresholdEvaluator(deps: BillingContext): CustomerEvaluator {
  const pace = createEvaluationPace(LIMITS);
  return {
    name: 'thresholds',
    watched: (customerIds) => watchedCustomers(deps, customerIds),
    evaluate: (customerIds) => evaluateThresholds(deps, customerIds, pace),
    meterOf: (customerId) => pace.meterOf(customerId),
    waitAgainMs: (customerId) => pace.waitAgainMs(customerId),
  };
}
