/**
 * How names of the domain are spelled on the wire: camelCase becomes snake_case, and the table has every
 * name whose wire word differs.
 */

/**
 * By name, or by the name of what it stands in and its own: `overrides.specifiers`. A word with a dot
 * stands deeper on the wire than in the domain, an empty word not at all: its members stand beside it.
 */
export const WIRE_WORDS = {
  // Terms.
  segments: 'schedule_items',
  items: 'schedule_items',
  recurring: 'recurring_schedule',
  applicability: '',
  'applicability.productIds': 'applicable_product_ids',
  'applicability.productTags': 'applicable_product_tags',
  hierarchyAccess: 'hierarchy_configuration',
  'hierarchyAccess.contractIds': 'child_access.contract_ids',
  paymentGate: 'payment_gate_config',
  'paymentGate.type': 'payment_gate_type',
  stripe: 'stripe_config',
  precalculatedTax: 'precalculated_tax_config',
  commitDurationPeriods: 'commit_duration.value',
  accessRounding: 'proration_rounding.access',
  invoiceRounding: 'proration_rounding.invoice',
  subscription: 'subscription_config',
  'overrides.specifiers': 'override_specifiers',
  'subscriptions.productId': 'subscription_rate.product_id',
  'subscriptions.billingFrequency': 'subscription_rate.billing_frequency',
  'subscriptions.isProrated': 'proration.is_prorated',
  'subscriptions.anchorDate': 'billing_cycle_config.anchor_date',
  spendThreshold: 'spend_threshold_configuration',
  prepaidBalanceThreshold: 'prepaid_balance_threshold_configuration',
  discount: 'discount_configuration',
  balanceSpecifiers: 'threshold_balance_specifiers',
  'spendTrackers.specifiers': 'applicable_spend_specifiers',
  // Contracts.
  statementSchedule: 'usage_statement_schedule',
  'statementSchedule.anchor': 'billing_anchor_date',
  multiplierPrioritization: 'multiplier_override_prioritization',
  hierarchy: 'hierarchy_configuration',
  billingConfiguration: 'billing_provider_configuration',
} as const;

type WireWords = typeof WIRE_WORDS;

/** `startingAt` → `starting_at`. */
export type SnakeCase<
  Name extends string,
  Done extends string = '',
> = Name extends `${infer First}${infer Rest}`
  ? SnakeCase<Rest, First extends Lowercase<First> ? `${Done}${First}` : `${Done}_${Lowercase<First>}`>
  : Done;

/** The wire word of a name; `Place` is the name of what it stands in. */
export type WireName<
  Name extends string,
  Place extends string = '',
> = `${Place}.${Name}` extends keyof WireWords
  ? WireWords[`${Place}.${Name}`]
  : Name extends keyof WireWords
    ? WireWords[Name]
    : SnakeCase<Name>;

/** Only spelling: knows no exceptions. */
export function snakeCase<Name extends string>(name: Name): SnakeCase<Name> {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>;
}

/** The wire word of `name`; `place` is the name of what it stands in. */
export function wireName<Name extends string, Place extends string = ''>(
  name: Name,
  place?: Place,
): WireName<Name, Place> {
  const words: Readonly<Record<string, string>> = WIRE_WORDS;
  return (words[`${place}.${name}`] ?? words[name] ?? snakeCase(name)) as WireName<Name, Place>;
}
