/**
 * How soon a customer with new usage is evaluated. A draft costs milliseconds, and most usage is far from every threshold.
 * So it is remembered how far the nearest threshold was at the last evaluation, and what an event has changed on average
 * since the one before. Usage is urgent when twice that could have crossed it.
 *
 * The estimate decides when an evaluation takes place, never its result: everything else is evaluated as time permits.
 * In memory, in floating point. The first usage after the first evaluation is urgent, to learn from it.
 */
import { ALERT_RULES, type Alert, keyedGroup } from '../../core/alerts.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';

export interface AlertPace {
  /** Counts events of a customer. Whether it is to be evaluated at once. */
  isUrgent(customerId: string, events: number): boolean;
  /** An evaluation of these customers begins: it sees the events that were counted. */
  begin(customerIds: readonly string[]): void;
  /** How far the values of a customer are from their thresholds, by alert. */
  found(customerId: string, distances: ReadonlyMap<string, number>): void;
}

interface CustomerPace {
  /** Since the last evaluation began. */
  events: number;
  /** Up to the beginning of the last evaluation, since the one before. */
  counted: number;
  /** More events than these are urgent. */
  budget: number;
  readonly alerts: Map<string, AlertEffect>;
}

interface AlertEffect {
  /** To the threshold, at the last evaluation. */
  readonly left: number;
  /** What an event changes; null: not known. */
  readonly perEvent: number | null;
  /** The only change that was seen is none, which may have been seen by the evaluation before. */
  readonly isDoubted: boolean;
}

const SAFETY = 2;
/** What an event changes is forgotten slowly where it changes less. */
const REMEMBERED = 0.5;

export function createAlertPace(): AlertPace {
  const customers = new Map<string, CustomerPace>();
  return {
    isUrgent(customerId, events) {
      const pace = customers.get(customerId);
      // It waits for its first evaluation by this process.
      if (pace === undefined) return false;
      pace.events += events;
      return pace.events >= pace.budget;
    },
    begin(customerIds) {
      for (const id of customerIds) {
        const pace = customers.get(id);
        if (pace === undefined) continue;
        pace.counted += pace.events;
        pace.events = 0;
      }
    },
    found(customerId, distances) {
      const pace = customers.get(customerId) ?? newPace();
      customers.set(customerId, pace);
      pace.budget = Number.POSITIVE_INFINITY;
      for (const [alertId, left] of distances) {
        const next = effectOf(pace.alerts.get(alertId), left, pace.counted);
        pace.alerts.set(alertId, next);
        pace.budget = Math.min(pace.budget, budgetOf(next));
      }
      pace.counted = 0;
    },
  };
}

function newPace(): CustomerPace {
  return { events: 0, counted: 0, budget: 0, alerts: new Map() };
}

/**
 * An event is counted a moment after it can be seen, so an evaluation may have seen what the next one counts. A first
 * effect of 0 is therefore believed only when it is found again.
 */
function effectOf(known: AlertEffect | undefined, left: number, events: number): AlertEffect {
  const unchanged = { perEvent: known?.perEvent ?? null, isDoubted: known?.isDoubted ?? false };
  if (known === undefined || events === 0 || !Number.isFinite(known.left)) return { left, ...unchanged };
  const perEvent = (known.left - left) / events;
  if (known.perEvent === null && perEvent <= 0 && !known.isDoubted) {
    return { left, perEvent: null, isDoubted: true };
  }
  return { left, perEvent: Math.max(perEvent, (known.perEvent ?? 0) * REMEMBERED), isDoubted: false };
}

function budgetOf({ left, perEvent }: AlertEffect): number {
  if (!Number.isFinite(left)) return left;
  if (perEvent === null) return 0;
  return left / (SAFETY * perEvent);
}

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
