/** The states of alerts for clients, and their reset. */
import {
  type Alert,
  type AlertState,
  keyedField,
  keyedGroup,
  subjectRule,
  valueTarget,
  WHOLE_TARGET,
} from '../../core/alerts.ts';
import type { CreditType } from '../../core/credit-types.ts';
import { type CustomFields, customFieldsOf } from '../../core/custom-fields.ts';
import { notFound } from '../../core/errors.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import {
  loadAlertStates,
  lockAlertStates,
  replaceAlertStates,
  type StoredAlertState,
} from '../../store/alerts/alert-states.ts';
import { findAlert, listAlertsOf } from '../../store/alerts/alerts.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { customerExists } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';

export interface CustomerAlert {
  readonly alert: Alert;
  /** Custom fields of the alert. */
  readonly customFields: CustomFields;
  readonly creditType: CreditType | null;
  /** Null: the alert is archived. */
  readonly state: AlertState | null;
  /** Null unless it is in alarm. */
  readonly triggeredBy: string | null;
  /** When the state last changed, or the alert was created. */
  readonly updatedAt: Instant;
}

/** The requested alarm of an alert; if none matches, all alarms of the customer. */
interface AskedAlarm {
  /** By group key or key of a custom field. */
  readonly values: ReadonlyMap<string, string>;
  readonly seatId: string | null;
}

/** Why an alarm begins, if its subject determines that. */
export function triggerOf({ type }: Pick<Alert, 'type'>): string | null {
  return subjectRule(type).trigger;
}

/**
 * One alert of a customer. `asked` may name one of several alarms. Refuses an unknown customer or alert, and the alert
 * of another customer (`not_found`).
 */
export async function getCustomerAlert(
  { db }: Pick<BillingContext, 'db'>,
  {
    customerId,
    alertId,
    asked,
  }: {
    readonly customerId: string;
    readonly alertId: string;
    readonly asked: AskedAlarm;
  },
): Promise<CustomerAlert> {
  const alert = await requireAlert(db, customerId, alertId);
  const states = await loadAlertStates(db, [alertId], [customerId]);
  const [shown] = await withStates(db, [alert], states, targetOf(alert, asked));
  if (shown === undefined) throw notFound('alert', alertId);
  return shown;
}

/** The customer's own alerts and those for all customers, in the order of creation. Refuses an unknown customer. */
export async function listCustomerAlerts(
  { db }: Pick<BillingContext, 'db'>,
  {
    customerId,
    ...of
  }: { readonly customerId: string; readonly active: boolean; readonly archived: boolean },
  page: PageRequest,
): Promise<Page<CustomerAlert>> {
  await requireCustomer(db, customerId);
  const { rows, next } = await listAlertsOf(db, customerId, of, page);
  const ids = rows.map(({ id }) => id);
  return { rows: await withStates(db, rows, await loadAlertStates(db, ids, [customerId])), next };
}

/**
 * Deletes the states, and has the alert evaluated again, so that it may be reported again. Refuses the same as
 * `getCustomerAlert`.
 */
export async function resetCustomerAlert(
  { db, clock }: Pick<BillingContext, 'db' | 'clock'>,
  { customerId, alertId }: { readonly customerId: string; readonly alertId: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const alert = await requireAlert(tx, customerId, alertId);
    if (alert.archivedAt !== null) return;
    await lockAlertStates(tx, [customerId]);
    // The row marks an earlier evaluation, so that a value past its threshold is reported this time.
    const row = {
      alertId,
      customerId,
      target: WHOLE_TARGET,
      isTold: false,
      since: null,
      updatedAt: clock.now(),
    };
    await replaceAlertStates(tx, [{ alertId, customerId, isNew: false }], [{ ...row, state: 'evaluating' }]);
    await noteCustomerChanges(tx, [customerId]);
  });
}

function targetOf(alert: Alert, { values, seatId }: AskedAlarm): string {
  const key = keyedGroup(alert) ?? keyedField(alert)?.key ?? null;
  const value = alert.filters.seat === null ? (key === null ? undefined : values.get(key)) : seatId;
  return value == null ? WHOLE_TARGET : valueTarget(value);
}

async function requireAlert(db: Database | Transaction, customerId: string, alertId: string): Promise<Alert> {
  await requireCustomer(db, customerId);
  const alert = await findAlert(db, alertId);
  const isOthers = alert?.customerId != null && alert.customerId !== customerId;
  if (alert === null || isOthers) throw notFound('alert', alertId);
  return alert;
}

async function requireCustomer(db: Database | Transaction, customerId: string): Promise<void> {
  if (!(await customerExists(db, customerId))) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
}

async function withStates(
  db: Database | Transaction,
  alerts: readonly Alert[],
  states: readonly StoredAlertState[],
  askedTarget = WHOLE_TARGET,
): Promise<CustomerAlert[]> {
  const units = await loadCreditTypes(
    db,
    alerts.flatMap(({ creditTypeId }) => creditTypeId ?? []),
  );
  const fields = await loadCustomFields(
    db,
    alerts.map(({ id }) => id),
  );
  return alerts.map((alert) => {
    const own = states.filter(({ alertId }) => alertId === alert.id);
    const whole = own.find(({ target }) => target === WHOLE_TARGET);
    const asked = own.find(({ target }) => target === askedTarget);
    const present =
      whole === undefined || whole.state === 'evaluating' ? 'evaluating' : (asked?.state ?? 'ok');
    const state = alert.archivedAt === null ? present : null;
    return {
      alert,
      customFields: customFieldsOf(fields, alert.id),
      creditType: units.get(alert.creditTypeId ?? '') ?? null,
      state,
      triggeredBy: state === 'in_alarm' ? triggerOf(alert) : null,
      updatedAt: alert.archivedAt ?? (asked ?? whole)?.updatedAt ?? alert.createdAt,
    };
  });
}
