/** How far the values of an alert are from its threshold, for the pace of evaluations. */
import { type Alert, firesAtLeast, hasTargets, subjectRule } from '../../core/alerts.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';
import type { LineDistance } from '../pace/evaluation-pace.ts';

/** Where a customer stands before an alert. `held`: what is held and counts. */
export function lineOf(
  alert: Alert,
  readings: readonly Reading[] | null,
  states: AlertStates,
  held: Decimal = ZERO,
): LineDistance {
  const left = distanceOf(alert, readings, states);
  const unit = unitOf(alert);
  if (!alert.filters.countHolds) return { left, unit };
  // Holds bring the value nearer to the line, whether it falls or rises.
  return { left, unit, leftByUsage: left + Number(held.toFixed()), leftToHold: left };
}

/** Amounts of a unit compare, whatever they are of; so does the usage of a metric. Shares of balances do not. */
function unitOf({ type, creditTypeId, billableMetricId }: Alert): string | null {
  const units = { amount: creditTypeId, share: null, days: null, usage: billableMetricId };
  return units[subjectRule(type).compares];
}

/**
 * How far usage has to go until the next alarm of an alert: infinite where it cannot cause one, and where it
 * cannot be computed now, which is tried again as time permits.
 */
function distanceOf(alert: Alert, readings: readonly Reading[] | null, states: AlertStates): number {
  if (subjectRule(alert.type).compares === 'days' || readings === null) return Number.POSITIVE_INFINITY;
  const threshold = Number(alert.threshold.toFixed());
  const open = readings.filter(({ target }) => states.get(target)?.state !== 'in_alarm');
  const distances = open.map(({ value }) => Math.abs(threshold - Number(value.toFixed())));
  // A group, or an invoice, may be new, and begins at 0.
  if (firesAtLeast(alert.type) && hasTargets(alert)) distances.push(threshold);
  return Math.min(...distances);
}
