/** The types of messages that the service sends (docs/notifications.md). */

/** Events of contracts, commits and credits. They are off until they are switched on. */
export const LIFECYCLE_TYPES = [
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

/** Messages of payment gates. */
const PAYMENT_TYPES = [
  'payment_gate.threshold_reached',
  'payment_gate.external_initiate',
  'payment_gate.payment_status',
] as const;

/** All types that an endpoint can subscribe to. */
export const MESSAGE_TYPES = [...LIFECYCLE_TYPES, 'invoice.finalized', ...PAYMENT_TYPES] as const;

export type LifecycleType = (typeof LIFECYCLE_TYPES)[number];
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Sent to one endpoint on request. */
export const TEST_TYPE = 'webhook.test';

/** Whether the messages of a type are sent only when the type is switched on. */
export function isLifecycleType(type: MessageType): type is LifecycleType {
  return LIFECYCLE_TYPES.some((one) => one === type);
}
