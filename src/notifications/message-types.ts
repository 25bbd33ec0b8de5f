/** The types of messages that the service sends (docs/explanation/notifications.md). */
import { ALERT_TYPES, type AlertType } from '../core/alerts.ts';

/** Changes of contracts, commits and credits. */
export const CHANGE_TYPES = [
  'contract.create',
  'contract.edit',
  'contract.archive',
  'commit.create',
  'commit.edit',
  'commit.archive',
  'credit.create',
  'credit.edit',
  'credit.archive',
] as const;

/** Events at an instant of a contract or of a segment. */
const DATED_TYPES = [
  'contract.start',
  'contract.end',
  'commit.segment.start',
  'commit.segment.end',
  'credit.segment.start',
  'credit.segment.end',
] as const;

/** Events of contracts, commits and credits. They are off until they are enabled. */
export const LIFECYCLE_TYPES = [...CHANGE_TYPES, ...DATED_TYPES] as const;

/** Messages of payment gates. */
const PAYMENT_TYPES = [
  'payment_gate.threshold_reached',
  'payment_gate.external_initiate',
  'payment_gate.payment_status',
  'payment_gate.payment_pending_action_required',
] as const;

type Reached<Type extends AlertType> = Type extends `${infer Name}_reached` ? Name : never;

/** Messages of alerts: one for the beginning and one for the end of each type. */
export type AlertMessageType = `alerts.${Reached<AlertType>}_${'reached' | 'resolved'}`;

/** `alerts.spend_threshold_reached`, `alerts.spend_threshold_resolved`. */
export function alertMessageType(type: AlertType, kind: 'reached' | 'resolved'): AlertMessageType {
  // The compiler does not infer the result of `slice`.
  return `alerts.${type.slice(0, -'_reached'.length)}_${kind}` as AlertMessageType;
}

export const ALERT_MESSAGE_TYPES: readonly AlertMessageType[] = ALERT_TYPES.flatMap((type) => [
  alertMessageType(type, 'reached'),
  alertMessageType(type, 'resolved'),
]);

/** All types that an endpoint can subscribe to. */
export const MESSAGE_TYPES = [
  ...LIFECYCLE_TYPES,
  'invoice.finalized',
  'invoice.billing_provider_error',
  'invoice.external_status_changed',
  'credit_note.issued',
  'credit_note.voided',
  ...PAYMENT_TYPES,
  ...ALERT_MESSAGE_TYPES,
] as const;

export type ChangeType = (typeof CHANGE_TYPES)[number];
export type DatedType = (typeof DATED_TYPES)[number];
export type LifecycleType = (typeof LIFECYCLE_TYPES)[number];
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Sent to one endpoint on request. */
export const TEST_TYPE = 'webhook.test';

/** Whether the messages of a type are sent only when the type is enabled. */
export function isLifecycleType(type: string): type is LifecycleType {
  return LIFECYCLE_TYPES.some((one) => one === type);
}

/** Whether events of a type are changes, which cannot be announced. */
export function isChangeType(type: LifecycleType): type is ChangeType {
  return CHANGE_TYPES.some((one) => one === type);
}
