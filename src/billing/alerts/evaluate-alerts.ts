/**
 * Evaluates the alerts of customers (docs/explanation/notifications.md, "Alerts"). Values are computed without a lock;
 * the states are then changed under one, if they are still those that the evaluation began with. So only one of several
 * processes reports an alarm.
 */
import { type Alert, WHOLE_TARGET } from '../../core/alerts.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Instant } from '../../core/time.ts';
import { type AlertEvent, publishAlerts } from '../../notifications/alert-messages.ts';
import type { AlertFacts } from '../../rating/alerts/facts.ts';
import { heldOf, readingsOf } from '../../rating/alerts/readings.ts';
import { type AlertStates, type AlertTurn, advance, areSame } from '../../rating/alerts/states.ts';
import {
  loadAlertStates,
  lockAlertStates,
  replaceAlertStates,
  type StoredAlertState,
} from '../../store/alerts/alert-states.ts';
import { activeAlertsFor, creationTimes } from '../../store/alerts/alerts.ts';
import { inSnapshot, type Transaction } from '../../store/base/database.ts';
import type { BillingContext } from '../billing-context.ts';
import type { EvaluationPace, LineDistance } from '../pace/evaluation-pace.ts';
import { triggerOf } from './customer-alerts.ts';
import { lineOf } from './distance.ts';
import { type CustomerAlerts, loadAlertFacts, withHeldAmounts } from './load-facts.ts';

/** The changes of an evaluation to one alert of a customer. */
interface AlertChange {
  readonly customerId: string;
  readonly alert: Alert;
  readonly before: KnownStates;
  readonly after: AlertStates;
  readonly turns: readonly AlertTurn[];
}

/**
 * Returns the customers to evaluate again, because something changed during the evaluation. `pace` receives the
 * distances of their values from the thresholds.
 */
export async function evaluateAlerts(
  context: BillingContext,
  customerIds: readonly string[],
  pace?: EvaluationPace,
): Promise<readonly string[]> {
  const now = context.clock.now();
  pace?.begin(customerIds);
  const { customers, before, facts } = await inSnapshot(context.db, async (db) => {
    const found = await loadCustomers(db, customerIds);
    const states = await statesOf(db, found);
    return {
      customers: found,
      before: states,
      facts: found.length === 0 ? new Map() : await loadAlertFacts({ ...context, db }, found, now),
    };
  });
  const withHeld = await withHeldAmounts(context, facts, customers, now);
  const changes = customers.flatMap((customer) =>
    changesOf(customer, withHeld.get(customer.customerId), before, now, pace),
  );
  if (changes.length === 0) return [];
  return context.db.transaction((tx) => store(tx, changes, now));
}

interface KnownStates {
  readonly states: AlertStates;
  /**
   * Changes with each write: an alarm may have begun and ended since the values were read, which leaves the states
   * equal. Null before the first evaluation.
   */
  readonly writtenBy: string | null;
}

interface EvaluatedCustomer extends CustomerAlerts {
  readonly createdAt: Instant;
}

function changesOf(
  { customerId, alerts, createdAt }: EvaluatedCustomer,
  facts: AlertFacts | undefined,
  statesBefore: StatesOf,
  now: Instant,
  pace: EvaluationPace | undefined,
): AlertChange[] {
  if (facts === undefined) return [];
  const lines = new Map<string, LineDistance>();
  const changes = alerts.flatMap((alert) => {
    const before = statesBefore(alert.id, customerId);
    const readings = readingsOf(alert, facts, now);
    const { states } = before;
    const next = readings === null ? null : advance(alert, states, readings, createdAt > alert.createdAt);
    lines.set(alert.id, lineOf(alert, readings, next?.states ?? states, heldOf(alert, facts)));
    if (next === null || (next.turns.length === 0 && areSame(states, next.states))) return [];
    return [{ customerId, alert, before, after: next.states, turns: next.turns }];
  });
  pace?.found(customerId, lines);
  return changes;
}

/** The active customers, with their alerts and those for all customers. */
async function loadCustomers(db: Transaction, customerIds: readonly string[]): Promise<EvaluatedCustomer[]> {
  const active = await activeAlertsFor(db, customerIds);
  if (active.length === 0) return [];
  const created = await creationTimes(db, customerIds);
  return [...created].map(([customerId, createdAt]) => ({
    customerId,
    createdAt,
    alerts: active.filter((alert) => alert.customerId === null || alert.customerId === customerId),
  }));
}

type StatesOf = (alertId: string, customerId: string) => KnownStates;

async function statesOf(
  db: Transaction,
  customers: readonly { readonly customerId: string; readonly alerts: readonly { readonly id: string }[] }[],
): Promise<StatesOf> {
  const alertIds = [...new Set(customers.flatMap(({ alerts }) => alerts.map(({ id }) => id)))];
  const rows = await loadAlertStates(
    db,
    alertIds,
    customers.map(({ customerId }) => customerId),
  );
  const byPlace = groupBy(rows, ({ alertId, customerId }) => `${alertId} ${customerId}`);
  return (alertId, customerId) => {
    const own = byPlace.get(`${alertId} ${customerId}`) ?? [];
    return {
      states: new Map(own.map(({ target, state, isTold, since }) => [target, { state, isTold, since }])),
      writtenBy: own.find(({ target }) => target === WHOLE_TARGET)?.writtenBy ?? null,
    };
  };
}

/** States and messages in one transaction. */
async function store(tx: Transaction, changes: readonly AlertChange[], now: Instant): Promise<string[]> {
  const customerIds = [...new Set(changes.map(({ customerId }) => customerId))];
  await lockAlertStates(tx, customerIds);
  const active = new Set((await activeAlertsFor(tx, customerIds)).map(({ id }) => id));
  const present = await statesOf(
    tx,
    changes.map(({ customerId, alert }) => ({ customerId, alerts: [alert] })),
  );
  // An archived customer may have been erased in the meantime.
  const live = await creationTimes(tx, customerIds);
  const valid = changes.filter(
    ({ customerId, alert, before }) =>
      live.has(customerId) &&
      active.has(alert.id) &&
      before.writtenBy === present(alert.id, customerId).writtenBy,
  );
  await replaceAlertStates(
    tx,
    valid.map(({ alert, customerId, before }) => ({
      alertId: alert.id,
      customerId,
      isNew: before.states.size === 0,
    })),
    valid.flatMap((change) => rowsOf(change, now)),
  );
  await publishAlerts(tx, valid.flatMap(eventsOf), now);
  const done = new Set(valid);
  return [...new Set(changes.filter((one) => !done.has(one)).map(({ customerId }) => customerId))];
}

function rowsOf({ alert, customerId, after }: AlertChange, now: Instant): StoredAlertState[] {
  return [...after].map(([target, one]) => ({
    ...one,
    alertId: alert.id,
    customerId,
    target,
    updatedAt: now,
  }));
}

function eventsOf({ alert, customerId, turns }: AlertChange): AlertEvent[] {
  return turns.map(({ kind, reading: { target, value, details } }) => ({
    alert,
    customerId,
    kind,
    target,
    value,
    details,
    triggeredBy: kind === 'reached' ? triggerOf(alert) : null,
  }));
}
