/** Creates and archives alerts. */
import { ALERT_LIMITS_DEFAULT, type Alert, type AlertLimits, keyedField } from '../../core/alerts.ts';
import { conflict, invalid, notFound, Refusal } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  activeAlertsOf,
  alertWithKey,
  countActiveAlerts,
  insertAlert,
  lockAlert,
  lockAlertCreation,
  noteChangesOfAll,
  saveArchivedAlert,
} from '../../store/alerts/alerts.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { loadMetrics } from '../../store/metrics/billable-metrics.ts';
import type { BillingContext } from '../billing-context.ts';
import { requireActiveCustomer } from '../customers/active-customer.ts';
import { checkDefinition, type NewAlert, unitOf } from './alert-definition.ts';

/** Maximum alerts with an alarm for each value of a custom field: for one customer, and for all. */
const KEYED_MAX = 3;

/**
 * Creates an alert, which is evaluated within a second or two. Refuses an unknown customer (`CustomerNotFound`),
 * members that its type does not accept (`invalid`), more alerts than the limits allow, and a uniqueness key that was
 * used (`conflict`).
 */
export async function createAlert(context: BillingContext, wanted: NewAlert): Promise<string> {
  checkDefinition(wanted);
  const alert: Alert = {
    ...wanted,
    id: newId(),
    creditTypeId: unitOf(wanted),
    createdAt: context.clock.now(),
    archivedAt: null,
  };
  await context.db.transaction(async (tx) => {
    const { customerId } = alert;
    if (customerId !== null) await requireActiveCustomer(tx, customerId);
    await requireReferences(tx, alert);
    await lockAlertCreation(tx);
    await requireUnusedKey(tx, alert);
    await requireRoom(tx, alert, context.alertLimits ?? ALERT_LIMITS_DEFAULT);
    if (!(await insertAlert(tx, alert))) await requireUnusedKey(tx, alert);
    if (customerId === null) await noteChangesOfAll(tx);
    else await noteCustomerChanges(tx, [customerId]);
  });
  return alert.id;
}

async function requireReferences(tx: Transaction, { creditTypeId, billableMetricId }: Alert): Promise<void> {
  if (creditTypeId !== null && !(await loadCreditTypes(tx, [creditTypeId])).has(creditTypeId)) {
    throw invalid(['creditTypeId'], `pricing unit ${creditTypeId} not found`);
  }
  if (billableMetricId !== null && !(await loadMetrics(tx, [billableMetricId])).has(billableMetricId)) {
    throw invalid(['billableMetricId'], `billable metric ${billableMetricId} not found`);
  }
}

async function requireUnusedKey(tx: Transaction, { uniquenessKey }: Alert): Promise<void> {
  const holder = uniquenessKey === null ? null : await alertWithKey(tx, uniquenessKey);
  if (holder === null) return;
  throw new Refusal('conflict', 'This uniqueness key has already been used.', {
    details: { conflicting_id: holder, conflicting_value: uniquenessKey },
  });
}

async function requireRoom(tx: Transaction, alert: Alert, limits: AlertLimits): Promise<void> {
  const { customerId } = alert;
  const [most, whose] =
    customerId === null ? [limits.global, 'all customers'] : [limits.perCustomer, 'the customer'];
  if ((await countActiveAlerts(tx, customerId)) >= most) {
    throw conflict(`there are ${most} alerts of ${whose} already: archive one first`);
  }
  if (keyedField(alert) === null) return;
  const keyed = (await activeAlertsOf(tx, customerId)).filter((one) => keyedField(one) !== null);
  if (keyed.length >= KEYED_MAX) {
    throw conflict(`there are ${KEYED_MAX} alerts of ${whose} with a custom field without value already`);
  }
}

/** Archives an alert permanently. Refuses an unknown one (`not_found`) and one that is archived (`invalid`). */
export async function archiveAlert(
  { db, clock }: BillingContext,
  id: string,
  { releaseKey }: { readonly releaseKey: boolean },
): Promise<void> {
  await db.transaction(async (tx) => {
    const alert = await lockAlert(tx, id);
    if (alert === null) throw notFound('alert', id);
    if (alert.archivedAt !== null) throw new Refusal('invalid', 'Alert already archived');
    const uniquenessKey = releaseKey ? null : alert.uniquenessKey;
    await saveArchivedAlert(tx, id, { archivedAt: clock.now(), uniquenessKey });
    if (alert.customerId === null) await noteChangesOfAll(tx);
    else await noteCustomerChanges(tx, [alert.customerId]);
  });
}
