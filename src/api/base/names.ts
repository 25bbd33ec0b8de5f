/**
 * Wire names of domain names: camelCase becomes snake_case; the table lists the exceptions.
 */
import type { FieldPath } from '../../core/errors.ts';

/**
 * By name, or by parent and name: `overrides.specifiers`. A wire name with a dot is nested one level deeper
 * on the wire. An empty wire name is left out of the path. One that ends in `_` is a prefix of the next name.
 */
const WORDS = {
  // Terms.
  terms: '',
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
  'precalculatedTax.amount': 'tax_amount',
  'precalculatedTax.name': 'tax_name',
  commitDurationPeriods: 'commit_duration.value',
  accessRounding: 'proration_rounding.access',
  invoiceRounding: 'proration_rounding.invoice',
  subscription: 'subscription_config',
  'overrides.specifiers': 'override_specifiers',
  'subscriptions.productId': 'subscription_rate.product_id',
  'subscriptions.billingFrequency': 'subscription_rate.billing_frequency',
  'subscriptions.isProrated': 'proration.is_prorated',
  'subscriptions.invoiceBehavior': 'proration.invoice_behavior',
  'subscriptions.anchorDate': 'billing_cycle_config.anchor_date',
  spendThreshold: 'spend_threshold_configuration',
  prepaidBalanceThreshold: 'prepaid_balance_threshold_configuration',
  discount: 'discount_configuration',
  balanceSpecifiers: 'threshold_balance_specifiers',
  'spendTrackers.specifiers': 'applicable_spend_specifiers',
  // Changes of terms.
  'accessSchedule.add': 'add_schedule_items',
  'accessSchedule.update': 'update_schedule_items',
  'accessSchedule.remove': 'remove_schedule_items',
  'invoiceSchedule.add': 'add_schedule_items',
  'invoiceSchedule.update': 'update_schedule_items',
  'invoiceSchedule.remove': 'remove_schedule_items',
  'seatUpdates.add': 'add_seat_ids',
  'seatUpdates.remove': 'remove_seat_ids',
  'seatUpdates.addUnassigned': 'add_unassigned_seats',
  'seatUpdates.removeUnassigned': 'remove_unassigned_seats',
  // Contracts.
  statementSchedule: 'usage_statement_schedule',
  'statementSchedule.anchor': 'billing_anchor_date',
  multiplierPrioritization: 'multiplier_override_prioritization',
  hierarchy: 'hierarchy_configuration',
  'hierarchy.invoiceConsolidationType': 'parent_behavior',
  billingConfiguration: 'billing_provider_configuration',
  'billingConfiguration.id': 'billing_provider_configuration_id',
  startingFrom: 'starting_at',
  // Catalogue and usage.
  minimum: 'minimum_config',
  commitPrice: 'commit_rate',
  conversions: 'credit_type_conversions',
  addConversions: 'add_credit_type_conversions',
  settings: 'configuration',
  aggregation: 'aggregation_type',
  metrics: 'billable_metrics',
  cursor: 'next_page',
} as const;

/** Maps whose keys the client chooses. */
const KEYED_BY_CLIENTS: readonly string[] = ['customFields', 'groupFilters', 'settings'];

/** Wire names of one route, in the form of the table above. */
export type WireWords = Readonly<Record<string, string>>;

type Words = typeof WORDS;

/** `startingAt` → `starting_at`. */
type SnakeCase<Name extends string, Done extends string = ''> = Name extends `${infer First}${infer Rest}`
  ? SnakeCase<Rest, First extends Lowercase<First> ? `${Done}${First}` : `${Done}_${Lowercase<First>}`>
  : Done;

/** The wire name of a name; `Place` is the name of its parent. */
export type WireName<Name extends string, Place extends string = ''> = `${Place}.${Name}` extends keyof Words
  ? Words[`${Place}.${Name}`]
  : Name extends keyof Words
    ? Words[Name]
    : SnakeCase<Name>;

/** Spelling only, without exceptions. */
function snakeCase<Name extends string>(name: Name): SnakeCase<Name> {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>;
}

/** The wire name of `name`; `place` is the name of its parent. */
export function wireName<Name extends string, Place extends string = ''>(
  name: Name,
  place?: Place,
): WireName<Name, Place> {
  return wordOf(name, place ?? '', {}) as WireName<Name, Place>;
}

/** Names of the route take precedence. */
function wordOf(name: string, place: string, own: WireWords): string {
  const words: WireWords = { ...WORDS, ...own };
  return words[`${place}.${name}`] ?? words[name] ?? snakeCase(name);
}

/**
 * For example `commits[2].access_schedule.schedule_items[0].ending_before`. `own` are the wire names of the
 * route; `place` is the parent of the first step.
 */
export function wirePath(path: FieldPath, own: WireWords = {}, place = ''): string {
  const steps: (string | number)[] = [];
  let within = place;
  let leading = '';
  let isKeyed = false;
  for (const step of path) {
    if (typeof step === 'number' || isKeyed) {
      steps.push(step);
      isKeyed = false;
      continue;
    }
    const word = `${leading}${wordOf(step, within, own)}`;
    leading = word.endsWith('_') ? word : '';
    if (word !== '' && leading === '') steps.push(word);
    within = step;
    isKeyed = KEYED_BY_CLIENTS.includes(step);
  }
  return joinPath(steps);
}

/** Names joined by dots, indexes in brackets. */
export function joinPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}
