/** How far the values of an alert are from its threshold, for the pace of evaluations. */
import { type Alert, firesAtLeast, hasTargets, subjectRule } from '../../core/alerts.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';
import type { LineDistance } from '../pace/evaluation-pace.ts';

/** The distance of a customer from the threshold of an alert. `held`: held amounts that count. */
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

/** Amounts of a unit are comparable, whatever they measure; so is the usage of a metric. Shares of balances are not. */
function unitOf({ type, creditTypeId, billableMetricId }: Alert): string | null {
  const units = { amount: creditTypeId, share: null, days: null, usage: billableMetricId };
  return units[subjectRule(type).compares];
}

/**
 * The usage until the next alarm of an alert: infinite if usage cannot cause one, and if it cannot be computed now,
 * which is retried later.
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
