/**
 * The unit of every number in the reference, by the name of its field. It is added to the description of the field, so
 * that no field carries money or a quantity without its unit; a test walks the document.
 */
import type { JsonSchema } from './json-schema.ts';

const MONEY =
  'Unit: that of the associated credit type: US cents for `USD (cents)`, whole units for all others.';
const USD_CENTS = 'Unit: US cents.';
const USD = 'Unit: US dollars.';
const BILLED = 'Unit: that of the product, after conversion and rounding.';
const MEASURED = 'Unit: that of the metric, as its events have it.';
const PRICED = `${MONEY} Per unit of the quantity.`;
const PER_HUNDRED = 'A fraction of 1 without a unit: 0.2 is 20 %.';
const FACTOR = 'A factor without a unit.';
const EVENTS = 'Unit: events.';
const TOKENS = 'Unit: tokens.';
const SEATS = 'Unit: seats.';
const DAYS = 'Unit: days.';
const RANK = 'A rank without a unit.';
const PLACE = 'A position without a unit.';

/** By the name of the field. */
const UNITS: Readonly<Record<string, string>> = {
  above: 'Unit: that of the quantity which the tier or range divides.',
  accepted: EVENTS,
  voided_events: EVENTS,
  amended_events: EVENTS,
  unknown_events: EVENTS,
  after_invoice: MONEY,
  amount: MONEY,
  balance: MONEY,
  base_at_end: MONEY,
  base_at_start: MONEY,
  before_invoice: MONEY,
  change: MONEY,
  charged: MONEY,
  conversion_factor: FACTOR,
  cost: MONEY,
  customer_balance_amount: MONEY,
  cost_basis: PRICED,
  current_total: MONEY,
  default_markup: PER_HUNDRED,
  difference: 'Unit: that of the compared amount or quantity.',
  duplicates: EVENTS,
  event_count: EVENTS,
  events: EVENTS,
  exceeded: MONEY,
  expected: 'Unit: that of the compared amount or quantity.',
  fiat_per_custom_credit:
    'Unit: that of the currency of the rate card, US cents for `USD (cents)`, for one custom unit.',
  former_total: MONEY,
  found: 'Unit: that of the compared amount or quantity.',
  grace_period_hours: 'Unit: hours.',
  groups: MEASURED,
  held: MONEY,
  index: PLACE,
  initial_quantity: BILLED,
  initial_unassigned_seats: SEATS,
  invoiced_sub_total: MONEY,
  amount_paid: MONEY,
  invoiced_total: MONEY,
  left_amount: MONEY,
  out_of_band_amount: MONEY,
  pre_payment_amount: MONEY,
  list_price: PRICED,
  margin: USD_CENTS,
  markup: PER_HUNDRED,
  mix_change: MONEY,
  price_change: MONEY,
  terms_change: MONEY,
  unpaid: MONEY,
  unpaired_total: MONEY,
  volume_change: MONEY,
  max_amount: MONEY,
  minimum: MONEY,
  multiplier: FACTOR,
  net_payment_terms_days: DAYS,
  new_usd_per_token: USD,
  other_lines: MONEY,
  payable_amount: MONEY,
  credited: MONEY,
  balance_amount: MONEY,
  offset_amount: MONEY,
  refund_amount: MONEY,
  credit_balance_amount: MONEY,
  payment_fraction: PER_HUNDRED,
  per_group_amounts: MONEY,
  preview_total: MONEY,
  price: PRICED,
  priority: RANK,
  provider_cost: USD_CENTS,
  quantity: BILLED,
  quantity_at_end: BILLED,
  quantity_at_start: BILLED,
  quantity_delta: BILLED,
  recharge_to_amount: MONEY,
  remaining: MONEY,
  required: MONEY,
  revenue: USD_CENTS,
  rollover_fraction: PER_HUNDRED,
  settled_amount: MONEY,
  size: BILLED,
  starting_balance: MONEY,
  subtotal: MONEY,
  tax: MONEY,
  tax_amount: MONEY,
  threshold:
    'Unit: that of the credit type for alerts of spend and balances (US cents for `USD (cents)`); that of the metric for alerts of usage; otherwise days or percent, depending on the type of the alert.',
  threshold_amount: MONEY,
  tokens: TOKENS,
  total: MONEY,
  total_quantity: SEATS,
  total_tax_amount: MONEY,
  total_taxable_amount: MONEY,
  unit_price: PRICED,
  update_net_payment_terms_days: DAYS,
  up_to: 'Unit: that of the quantity which the tier or range divides.',
  usd_per_token: USD,
  value: MEASURED,
  value_at_end: MEASURED,
  value_at_start: MEASURED,
  window_days: DAYS,
};

/** Names with another meaning, by component and field. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'CheckUsage.quantity': MEASURED,
  'RelativeDateInput.value': 'Unit: that of `unit`.',
  'RelativeDurationInput.value': 'Unit: that of `unit`.',
  'TierMetadata.size': BILLED,
  'TierMetadata.starting_at': BILLED,
  'UsageCheck.limit': MONEY,
};

/** The schema with the unit of every number among its members. `component`: the name of its parent. */
export function withUnits(schema: JsonSchema, component = ''): JsonSchema {
  return mapped(schema, component);
}

function mapped(schema: JsonSchema, component: string): JsonSchema {
  const { properties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mappedMembers(properties, component) }),
    ...(typeof items === 'object' && !Array.isArray(items) ? { items: mapped(items, component) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((option) => mapped(option, component)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((option) => mapped(option, component)) }),
    ...(typeof schema.additionalProperties === 'object'
      ? { additionalProperties: mapped(schema.additionalProperties, component) }
      : {}),
  };
}

function mappedMembers(members: NonNullable<JsonSchema['properties']>, component: string) {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => {
      if (typeof member === 'boolean') return [name, member];
      const exception = EXCEPTIONS[`${component}.${name}`];
      const unit = exception ?? (isNumeric(member) ? UNITS[name] : undefined);
      const own = mapped(member, component);
      return [name, unit === undefined ? own : described(own, unit)];
    }),
  );
}

/** A number, also one of a list, one by name, or one that may be null. */
function isNumeric(schema: JsonSchema | boolean | undefined): boolean {
  if (typeof schema !== 'object') return false;
  const types = [schema.type ?? []].flat();
  if (types.includes('number') || types.includes('integer')) return true;
  const { items, additionalProperties } = schema;
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return (
    inner.some(isNumeric) ||
    (items !== undefined && !Array.isArray(items) && isNumeric(items)) ||
    isNumeric(additionalProperties as JsonSchema | boolean | undefined)
  );
}

function described(schema: JsonSchema, unit: string): JsonSchema {
  const { description } = schema;
  return { ...schema, description: description === undefined ? unit : `${description} ${unit}` };
}
