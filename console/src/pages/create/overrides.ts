/** The fields of an override of prices. */
import { type FormField, textOf, type Values } from '../../forms/field.ts';

const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`;

export const isOneOf =
  (at: string, ...choices: readonly string[]) =>
  (values: Values) =>
    choices.includes(textOf(values, at));

const isOverwrite = isOneOf('type', 'OVERWRITE');
const isTieredRate = isOneOf('overwrite_rate.rate_type', 'TIERED', 'TIERED_PERCENTAGE');
const isPercentage = isOneOf('overwrite_rate.rate_type', 'PERCENTAGE', 'TIERED_PERCENTAGE');
const SIZE = { at: 'size', label: 'Units of the tier', hint: 'Empty: all above.' } as const;

export const OVERRIDE: readonly FormField[] = [
  { at: 'override_specifiers[0].product_id', label: 'Product', kind: 'product' },
  {
    at: 'override_specifiers[0].pricing_group_values',
    label: 'Only for',
    hint: 'Property and value: model, wren-mini.',
  },
  { at: 'override_specifiers[0].billing_frequency', label: 'Billed', hint: 'For subscriptions only.' },
  {
    at: 'type',
    label: 'Change',
    start: 'MULTIPLIER',
    hint: 'Multiplier: 0.8 is 20 % off. Overwrite: another price. Tiered: a multiplier for each tier.',
  },
  { at: 'multiplier', label: 'Multiplier', isShown: isOneOf('type', 'MULTIPLIER') },
  {
    at: 'tiers',
    label: 'Tiers',
    kind: 'list',
    entry: 'tier',
    fields: [SIZE, { at: 'multiplier', label: 'Multiplier' }],
    isShown: isOneOf('type', 'TIERED'),
  },
  { at: 'overwrite_rate.rate_type', label: 'Kind of price', start: 'FLAT', isShown: isOverwrite },
  {
    at: 'overwrite_rate.price',
    label: 'Price',
    kind: 'money',
    unitAt: 'overwrite_rate.credit_type_id',
    isMoney: (values) => !isPercentage(values),
    isShown: (values) => isOverwrite(values) && !isTieredRate(values),
  },
  {
    at: 'overwrite_rate.tiers',
    label: 'Tiers',
    kind: 'list',
    entry: 'tier',
    fields: [SIZE, { at: 'price', label: 'Price', kind: 'money' }],
    isShown: (values) => isOverwrite(values) && isTieredRate(values),
  },
  {
    at: 'overwrite_rate.quantity',
    label: 'Quantity',
    isShown: (values) => isOverwrite(values) && isOneOf('overwrite_rate.rate_type', 'SUBSCRIPTION')(values),
  },
  { at: 'starting_at', label: 'From', start: firstOfMonth },
  { at: 'ending_before', label: 'Last day', kind: 'lastDay', hint: 'Empty: until the contract ends.' },
];
