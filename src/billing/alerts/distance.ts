/** How far the values of an alert are from its threshold, for the pace of evaluations. */
import { ALERT_RULES, type Alert, type AlertSubject, keyedGroup } from '../../core/alerts.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';
import type { LineDistance } from '../pace/evaluation-pace.ts';

const OF_AMOUNTS: readonly AlertSubject[] = [
  'balance',
  'seat_balance',
  'spend',
  'period_total',
  'invoice_total',
];

/** Where a customer stands before an alert. */
export function lineOf(alert: Alert, readings: readonly Reading[] | null, states: AlertStates): LineDistance {
  return { left: distanceOf(alert, readings, states), unit: unitOf(alert) };
}

/** Amounts of a unit compare, whatever they are of; so does the usage of a metric. Shares of balances do not. */
function unitOf({ type, creditTypeId, billableMetricId }: Alert): string | null {
  const { subject } = ALERT_RULES[type];
  if (subject === 'usage') return billableMetricId;
  return OF_AMOUNTS.includes(subject) ? creditTypeId : null;
}

/**
 * How far usage has to go until the next alarm of an alert: infinite where it cannot cause one, and where it
 * cannot be computed now, which is tried again as time permits.
 */
function distanceOf(alert: Alert, readings: readonly Reading[] | null, states: AlertStates): number {
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
