/** Messages of alerts (docs/explanation/notifications.md): an alarm begins or ends. */
import {
  ALERT_RULES,
  type Alert,
  type AlertSubject,
  keyedField,
  keyedGroup,
  type TargetDetails,
  valueOfTarget,
} from '../core/alerts.ts';
import type { Decimal } from '../core/decimal.ts';
import type { InvoiceType } from '../core/invoice.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { ALERT_MESSAGE_TYPES, type AlertMessageType, alertMessageType } from './message-types.ts';
import { type Message, publish } from './outbox.ts';

/** The subject of an alarm that begins or ends. */
export interface AlertEvent {
  readonly alert: Alert;
  readonly customerId: string;
  readonly kind: 'reached' | 'resolved';
  /** One of the customer's alarms of the alert; '' represents all. */
  readonly target: string;
  readonly value: Decimal;
  readonly triggeredBy: string | null;
  readonly details: TargetDetails;
}

/** The name of the compared value in messages, and the fixed type of its invoices. */
const VALUES: Readonly<Record<AlertSubject, { readonly name: string; readonly invoiceType?: InvoiceType }>> =
  {
    balance: { name: 'remaining_balance' },
    percentage: { name: 'remaining_percentage' },
    segment_days: { name: 'remaining_days' },
    contract_days: { name: 'remaining_days' },
    seat_balance: { name: 'remaining_balance' },
    spend: { name: 'current_spend', invoiceType: 'USAGE' },
    period_total: { name: 'invoice_total' },
    invoice_total: { name: 'invoice_total' },
    usage: { name: 'current_usage' },
  };

/** Publishes alarms, in the transaction that stores their states. */
export async function publishAlerts(
  tx: Transaction,
  events: readonly AlertEvent[],
  now: Instant,
): Promise<void> {
  if (events.length === 0) return;
  const types = new Set(events.map(typeOf));
  await publish(
    tx,
    ALERT_MESSAGE_TYPES.filter((type) => types.has(type)),
    async () => events.map((event) => messageOf(event, now)),
  );
}

function typeOf({ alert, kind }: AlertEvent): AlertMessageType {
  return alertMessageType(alert.type, kind);
}

function messageOf(event: AlertEvent, now: Instant): Message {
  const { alert, customerId, value, triggeredBy, details } = event;
  const { name, invoiceType = details.invoiceType } = VALUES[ALERT_RULES[alert.type].subject];
  const properties = {
    customer_id: customerId,
    alert_id: alert.id,
    alert_name: alert.name,
    timestamp: formatInstant(now),
    threshold: alert.threshold,
    credit_type_id: alert.creditTypeId ?? undefined,
    billable_metric_id: alert.billableMetricId ?? undefined,
    [name]: value,
    commit_id: details.commitId,
    credit_id: details.creditId,
    segment_id: details.segmentId,
    contract_id: details.contractId,
    invoice_id: details.invoiceId,
    invoice_type: invoiceType,
    ...partOf(event),
    triggered_by: triggeredBy ?? undefined,
  };
  return { type: typeOf(event), customerId, content: { properties } };
}

/** The usage, seat or balances that the alarm is about, if it is not about the whole customer. */
function partOf({ alert, target }: AlertEvent): Readonly<Record<string, unknown>> {
  const { groupValues, seat } = alert.filters;
  const value = valueOfTarget(target);
  if (seat !== null) {
    return { seat_filter: { seat_group_key: seat.groupKey, seat_group_value: value ?? undefined } };
  }
  if (groupValues.length > 0) {
    const ofKey = keyedGroup(alert);
    return {
      group_values: groupValues.map((group) => ({
        key: group.key,
        value: (group.key === ofKey ? value : group.value) ?? undefined,
      })),
    };
  }
  const field = keyedField(alert);
  if (field === null) return {};
  const filter = { entity: field.entity, key: field.key, value: value ?? undefined };
  return { alert_specifiers: [{ custom_field_filters: [filter] }] };
}
