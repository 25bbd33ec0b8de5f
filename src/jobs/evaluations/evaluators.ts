/** Evaluates the alerts and the thresholds of customers. The work is in `billing/alerts/` and `billing/thresholds/`. */
import { evaluateAlerts } from '../../billing/alerts/evaluate-alerts.ts';
import type { BillingContext } from '../../billing/billing-context.ts';
import {
  createEvaluationPace,
  type EvaluationPace,
  type PaceLimits,
} from '../../billing/pace/evaluation-pace.ts';
import { evaluateThresholds, watchedCustomers } from '../../billing/thresholds/evaluate-thresholds.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { customersWithAlerts } from '../../store/alerts/alerts.ts';
import type { CustomerEvaluator } from './evaluation-queue.ts';

/** Alerts may apply to all customers: ten thousand of them with new usage are 33 evaluations a second. */
const ALERT_LIMITS: PaceLimits = {
  waitMaxMs: 5 * MINUTE_MS,
  learnWaitMs: SECOND_MS / 2,
};

/**
 * Usage far from every threshold waits only so that a thousand busy customers leave the machine to ingest. Usage of
 * unknown effect waits for half a second, so that customers that are all busy after a start are evaluated after those
 * close to a threshold.
 */
const THRESHOLD_LIMITS: PaceLimits = {
  waitMaxMs: 30 * SECOND_MS,
  learnWaitMs: SECOND_MS / 2,
};

export function alertEvaluator(context: BillingContext): CustomerEvaluator {
  return paced(ALERT_LIMITS, (pace) => ({
    name: 'alerts',
    watched: (customerIds) => customersWithAlerts(context.db, customerIds),
    evaluate: (customerIds) => evaluateAlerts(context, customerIds, pace),
  }));
}

export function thresholdEvaluator(context: BillingContext): CustomerEvaluator {
  return paced(THRESHOLD_LIMITS, (pace) => ({
    name: 'thresholds',
    watched: (customerIds) => watchedCustomers(context, customerIds),
    evaluate: (customerIds) => evaluateThresholds(context, customerIds, pace),
  }));
}

function paced(
  limits: PaceLimits,
  evaluatorAt: (pace: EvaluationPace) => Pick<CustomerEvaluator, 'name' | 'watched' | 'evaluate'>,
): CustomerEvaluator {
  const pace = createEvaluationPace(limits);
  return {
    ...evaluatorAt(pace),
    meterOf: (customerId) => pace.meterOf(customerId),
    waitAgainMs: (customerId) => pace.waitAgainMs(customerId),
  };
}
