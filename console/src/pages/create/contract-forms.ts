/** The forms of one contract: spend limit, spend threshold and seats. */
import { type FormField, textOf, type Values } from '../../forms/field.ts';
import { CHARGED, edit, KEPT, SPEND_LIMIT_FIELD } from './edit-form.ts';
import { isOneOf } from './overrides.ts';

const today = (day: string) => day;

const ON_CONTRACT: readonly FormField[] = [
  { at: 'customer_id', label: 'Customer', isHidden: true },
  { at: 'contract_id', label: 'Contract', isHidden: true },
];

export const SPEND_LIMIT = {
  ...edit('Set spend limit', [...ON_CONTRACT, SPEND_LIMIT_FIELD]),
  action: 'Save',
};

const ADDED = 'add_spend_threshold_configuration';
const isCollected = isOneOf(`${ADDED}.payment_gate_config.payment_gate_type`, 'STRIPE');

export const SPEND_THRESHOLD = edit('Add spend threshold', [
  ...ON_CONTRACT,
  {
    at: `${ADDED}.threshold_amount`,
    label: 'Threshold',
    kind: 'money',
    hint: 'Usage beyond balances is invoiced at once when it reaches this amount.',
  },
  { at: `${ADDED}.is_enabled`, label: 'Enabled', start: true },
  {
    at: `${ADDED}.payment_gate_config.payment_gate_type`,
    label: 'Payment',
    start: 'NONE',
    hint: 'None: it does not wait for a payment.',
  },
  {
    at: `${ADDED}.payment_gate_config.stripe_config.payment_type`,
    label: 'Collected as',
    start: 'INVOICE',
    isShown: isCollected,
  },
  { at: `${ADDED}.payment_gate_config.tax_type`, label: 'Tax', isShown: isCollected },
  { at: `${ADDED}.commit.product_id`, ...CHARGED },
]);

const UPDATED = 'update_spend_threshold_configuration';

export const CHANGED_SPEND_THRESHOLD = {
  ...edit('Change spend threshold', [
    ...ON_CONTRACT,
    { at: `${UPDATED}.threshold_amount`, label: 'New threshold', kind: 'money', hint: KEPT },
    { at: `${UPDATED}.is_enabled`, label: 'Enabled', start: true, isAlways: true },
  ]),
  action: 'Save',
};

const SUBSCRIPTION_AT = 'update_subscriptions[0].subscription_id';
const SEATS_AT = 'update_subscriptions[0].seat_updates';
const isGiven = (at: string) => (values: Values) => textOf(values, at).trim() !== '';

/** A number or ids, and from when. */
function seatChange(at: string, part: string, label: string, hint?: string): FormField[] {
  return [
    { at: `${at}[0].${part}`, label, ...(hint === undefined ? {} : { hint }) },
    { at: `${at}[0].starting_at`, label: 'From', start: today, isShown: isGiven(`${at}[0].${part}`) },
  ];
}

export const SEATS = {
  ...edit('Change seats', [
    ...ON_CONTRACT,
    { at: SUBSCRIPTION_AT, label: 'Subscription', isHidden: true },
    ...seatChange(`${SEATS_AT}.add_seat_ids`, 'seat_ids', 'Seats to add', 'Their ids, one a line.'),
    ...seatChange(`${SEATS_AT}.remove_seat_ids`, 'seat_ids', 'Seats to remove', 'Their ids, one a line.'),
    ...seatChange(`${SEATS_AT}.add_unassigned_seats`, 'quantity', 'Seats without an id to add'),
    ...seatChange(`${SEATS_AT}.remove_unassigned_seats`, 'quantity', 'Seats without an id to remove'),
    ...seatChange(
      'update_subscriptions[0].quantity_updates',
      'quantity',
      'New quantity',
      'For a subscription that is not counted by seats.',
    ),
  ]),
  action: 'Save',
};
