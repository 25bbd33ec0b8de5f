/** How far the values of an alert are from its threshold, for the pace of evaluations. */
import { ALERT_RULES, type Alert, keyedGroup } from '../../core/alerts.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';

/**
 * How far usage has to go until the next alarm of an alert: infinite where it cannot cause one, and where it
 * cannot be computed now, which is tried again as time permits.
 */
export function distanceOf(alert: Alert, readings: readonly Reading[] | null, states: AlertStates): number {
  const { subject } = ALERT_RULES[alert.type];
  const threshold = Number(alert.threshold.toFixed());
  if (subject === 'segment_days' || subject === 'contract_days' || readings === null) {
    return Number.POSITIVE_INFINITY;
  }
  const open = readings.filter(({ target }) => states.get(target)?.state !== 'in_alarm');
  const distances = open.map(({ value }) => Math.abs(threshold - Number(value.toFixed())));
  // A group, or an invoice, may be new.
  if (keyedGroup(alert) !== null || subject === 'invoice_total') distances.push(threshold);
  return Math.min(...distances);
}
