/**
 * How soon a customer with new usage is evaluated. A draft costs milliseconds, and most usage is far from every threshold.
 * So it is remembered how far the nearest threshold was at the last evaluation, and what an event has changed on average
 * since the one before. Usage is urgent when twice that could have crossed it.
 *
 * The estimate decides when an evaluation takes place, never its result: everything else is evaluated as time permits.
 * In memory, in floating point; without an estimate, usage is urgent when a fifth of the way is left.
 */
import { ALERT_RULES, type Alert, firesAtLeast, keyedGroup } from '../../core/alerts.ts';
import type { Reading } from '../../rating/alerts/readings.ts';
import type { AlertStates } from '../../rating/alerts/states.ts';

export interface AlertPace {
  /** Counts events of a customer. Whether it is to be evaluated at once. */
  isUrgent(customerId: string, events: number): boolean;
  /** An evaluation of these customers begins: it sees the events that were counted. */
  begin(customerIds: readonly string[]): void;
  /** What was found of each alert of a customer. */
  found(customerId: string, distances: ReadonlyMap<string, Distance>): void;
}

/** How far the value of an alert is from its threshold. */
export interface Distance {
  readonly left: number;
  /** The whole way. */
  readonly of: number;
}

interface CustomerPace {
  /** Since the last evaluation began. */
  events: number;
  /** Up to the beginning of the last evaluation, since the one before. */
  counted: number;
  /** More events than these are urgent. */
  budget: number;
  readonly alerts: Map<string, { left: number; perEvent: number | null }>;
}

const SAFETY = 2;
const NEAR = 0.2;
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
      for (const [alertId, { left, of }] of distances) {
        const known = pace.alerts.get(alertId);
        const perEvent = effect(known, left, pace.counted);
        pace.alerts.set(alertId, { left, perEvent });
        pace.budget = Math.min(pace.budget, budgetOf(left, of, perEvent));
      }
      pace.counted = 0;
    },
  };
}

function newPace(): CustomerPace {
  return { events: 0, counted: 0, budget: 0, alerts: new Map() };
}

function effect(
  known: { readonly left: number; readonly perEvent: number | null } | undefined,
  left: number,
  events: number,
): number | null {
  if (known === undefined || events === 0 || !Number.isFinite(known.left)) return known?.perEvent ?? null;
  return Math.max((known.left - left) / events, (known.perEvent ?? 0) * REMEMBERED);
}

function budgetOf(left: number, of: number, perEvent: number | null): number {
  if (!Number.isFinite(left)) return left;
  if (perEvent === null) return left <= NEAR * of ? 0 : Number.POSITIVE_INFINITY;
  return left / (SAFETY * perEvent);
}

/**
 * How far usage has to go until the next alarm of an alert: infinite where it cannot cause one, and where it
 * cannot be computed now, which is tried again as time permits.
 */
export function distanceOf(alert: Alert, readings: readonly Reading[] | null, states: AlertStates): Distance {
  const { subject } = ALERT_RULES[alert.type];
  const threshold = Number(alert.threshold.toFixed());
  const nowhere = { left: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY };
  if (subject === 'segment_days' || subject === 'contract_days' || readings === null) return nowhere;
  const open = readings.filter(({ target }) => states.get(target)?.state !== 'in_alarm');
  const distances = open.map(({ value }): Distance => {
    const present = Number(value.toFixed());
    return firesAtLeast(alert.type)
      ? { left: threshold - present, of: threshold }
      : { left: present - threshold, of: present };
  });
  // A group, or an invoice, may be new.
  if (keyedGroup(alert) !== null || subject === 'invoice_total')
    distances.push({ left: threshold, of: threshold });
  return distances.reduce((near, one) => (one.left < near.left ? one : near), nowhere);
}
