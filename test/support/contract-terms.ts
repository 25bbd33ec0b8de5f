/** A catalogue that contract terms of every kind can refer to, and a contract that has them all. */
import type { ApiClient } from './api-client.ts';
import { ADD_RATES, createdId, METRICS, PRODUCTS, RATE_CARDS, TOKENS_METRIC } from './catalogue-api.ts';

export interface TermsCatalogue {
  readonly card: string;
  /** A custom pricing unit that the card converts: one is worth 2 cents. */
  readonly unit: string;
  /** FIXED. */
  readonly fee: string;
  /** A PROFESSIONAL_SERVICE product. */
  readonly service: string;
  /** USAGE, without a pricing key. */
  readonly tokens: string;
  /** USAGE, priced by `model`. */
  readonly models: string;
  /** SUBSCRIPTION with a MONTHLY rate. */
  readonly seats: string;
  /** COMPOSITE of `tokens`. */
  readonly support: string;
  /** USAGE, not on the card. */
  readonly unpriced: string;
}

const EPOCH = '2020-01-01T00:00:00Z';

export async function createTermsCatalogue(api: ApiClient): Promise<TermsCatalogue> {
  const metric = await createdId(api, METRICS, {
    ...TOKENS_METRIC,
    property_filters: [...TOKENS_METRIC.property_filters, { name: 'user', exists: true }],
    group_keys: [['model'], ['model', 'region'], ['model', 'user']],
  });
  const usage = { type: 'USAGE', billable_metric_id: metric };
  const tokens = await createdId(api, PRODUCTS, { ...usage, name: 'Tokens', tags: ['llm', 'usage'] });
  const models = await createdId(api, PRODUCTS, { ...usage, name: 'Models', pricing_group_key: ['model'] });
  const unpriced = await createdId(api, PRODUCTS, { ...usage, name: 'Unpriced' });
  const fee = await createdId(api, PRODUCTS, { type: 'FIXED', name: 'Fee' });
  const service = await createdId(api, PRODUCTS, { type: 'PROFESSIONAL_SERVICE', name: 'Consulting' });
  const seats = await createdId(api, PRODUCTS, { type: 'SUBSCRIPTION', name: 'Seats' });
  const support = await createdId(api, PRODUCTS, {
    type: 'COMPOSITE',
    name: 'Support',
    composite_product_ids: [tokens],
  });
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Coins' });
  const card = await createdId(api, RATE_CARDS, {
    name: 'Card',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2 }],
  });
  const common = { starting_at: EPOCH, entitled: true };
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [
      { ...common, product_id: tokens, rate_type: 'FLAT', price: 10 },
      { ...common, product_id: models, rate_type: 'FLAT', price: 20, pricing_group_values: { model: 'a' } },
      { ...common, product_id: seats, rate_type: 'FLAT', price: 2_000, billing_frequency: 'MONTHLY' },
      { ...common, product_id: support, rate_type: 'PERCENTAGE', price: 0.1 },
    ],
  });
  return { card, unit, fee, service, tokens, models, seats, support, unpriced };
}

const START = '2026-10-01T00:00:00Z';
const YEAR_END = '2027-10-01T00:00:00Z';

/** Everything that a contract of explicit terms can have, but a parent and a transition. */
export function everyTerm(catalogue: TermsCatalogue, customerId: string): Record<string, unknown> {
  const { card, fee, tokens, models, seats, unit } = catalogue;
  const year = { starting_at: START, ending_before: YEAR_END };
  return {
    customer_id: customerId,
    rate_card_id: card,
    name: 'All of it',
    starting_at: START,
    ending_before: YEAR_END,
    net_payment_terms_days: 30,
    multiplier_override_prioritization: 'EXPLICIT',
    scheduled_charges_on_usage_invoices: 'ALL',
    usage_statement_schedule: { frequency: 'MONTHLY' },
    usage_filter: { group_key: 'model', group_values: ['a', 'b'] },
    commits: [
      {
        type: 'PREPAID',
        name: 'Prepaid',
        description: 'Paid up front',
        product_id: fee,
        priority: 7,
        rate_type: 'commit_rate',
        rollover_fraction: 0.25,
        access_schedule: { schedule_items: [{ amount: 100_000.5, ...year }] },
        invoice_schedule: {
          schedule_items: [{ timestamp: '2026-10-01T08:15:30Z', unit_price: 40_000, quantity: 2 }],
        },
        applicable_product_ids: [tokens],
        applicable_product_tags: ['llm'],
        hierarchy_configuration: { child_access: { type: 'ALL' } },
        spend_tracker_attributes: { counts_as_discounted: true },
        temporary_id: 'prepaid',
      },
      {
        type: 'POSTPAID',
        product_id: fee,
        access_schedule: { schedule_items: [{ amount: 50_000, ...year }] },
        invoice_schedule: { schedule_items: [{ timestamp: YEAR_END, amount: 50_000 }] },
      },
    ],
    credits: [
      {
        product_id: fee,
        name: 'Welcome',
        access_schedule: { credit_type_id: unit, schedule_items: [{ amount: 12, ...year }] },
        specifiers: [
          { product_id: models, pricing_group_values: { model: 'a' } },
          { product_tags: ['llm'], exclude: [{ product_tags: ['llm', 'beta'] }] },
        ],
      },
    ],
    recurring_commits: [
      {
        product_id: fee,
        name: 'Monthly',
        access_amount: { unit_price: 10, quantity: 3, credit_type_id: unit },
        invoice_amount: {
          unit_price: 5,
          quantity: 3,
          credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
        },
        priority: 3,
        starting_at: START,
        ending_before: '2027-04-01T00:00:00Z',
        commit_duration: { value: 2 },
        recurrence_frequency: 'MONTHLY',
        proration: 'NONE',
        rollover_fraction: 1,
        proration_rounding: {
          access: { rounding_method: 'HALF_UP', decimal_places: -2 },
          invoice: { rounding_method: 'FLOOR', decimal_places: 0 },
        },
        temporary_id: 'monthly',
      },
    ],
    recurring_credits: [
      {
        product_id: fee,
        access_amount: { unit_price: 500, credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' },
        priority: 4,
        starting_at: START,
        commit_duration: { value: 1, unit: 'PERIODS' },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'INDIVIDUAL',
          apply_seat_increase_config: { is_prorated: true },
        },
      },
    ],
    overrides: [
      {
        ...year,
        type: 'MULTIPLIER',
        multiplier: 0.9,
        priority: 1,
        applicable_product_tags: ['llm'],
        entitled: false,
      },
      {
        starting_at: START,
        type: 'OVERWRITE',
        overwrite_rate: {
          rate_type: 'TIERED',
          tiers: [{ size: 10, price: 1.5 }, { price: 1 }],
        },
        override_specifiers: [{ product_id: models, pricing_group_values: { model: 'a' } }],
      },
      {
        starting_at: START,
        type: 'TIERED',
        priority: 2,
        tiers: [{ size: 5, multiplier: 0.5 }, { multiplier: 0.25 }],
        is_commit_specific: true,
        target: 'commit_rate',
        override_specifiers: [
          { product_id: tokens, commit_ids: ['prepaid'], recurring_commit_ids: ['monthly'] },
          { exclude: [{ product_tags: ['llm', 'beta'] }, { product_tags: ['old'] }] },
        ],
      },
      {
        starting_at: START,
        type: 'MULTIPLIER',
        multiplier: 0,
        priority: 5,
        override_specifiers: [{ product_id: seats, billing_frequency: 'MONTHLY' }],
      },
    ],
    scheduled_charges: [
      {
        product_id: fee,
        name: 'Set-up',
        schedule: {
          recurring_schedule: {
            starting_at: '2026-10-15T12:00:00Z',
            ending_before: '2027-01-15T12:00:00Z',
            frequency: 'MONTHLY',
            amount: 100,
            amount_distribution: 'DIVIDED_ROUNDED',
          },
        },
      },
    ],
    subscriptions: [
      {
        subscription_rate: { product_id: seats, billing_frequency: 'MONTHLY' },
        name: 'Seats',
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        quantity_management_mode: 'SEAT_BASED',
        seat_config: {
          seat_group_key: 'user',
          initial_seat_ids: ['ada', 'bob'],
          initial_unassigned_seats: 3,
        },
        billing_cycle_config: { anchor_date: START, invoice_placement: 'ON_SCHEDULED_INVOICE' },
        temporary_id: 'seats',
      },
      {
        subscription_rate: { product_id: seats, billing_frequency: 'MONTHLY' },
        collection_schedule: 'ARREARS',
        proration: { rounding: { rounding_method: 'CEILING', decimal_places: 1 } },
        initial_quantity: 4,
        starting_at: '2026-11-01T00:00:00Z',
        ending_before: '2027-05-01T00:00:00Z',
      },
    ],
    spend_trackers: [
      {
        alias: 'recharges',
        credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
        reset_frequency: 'BILLING_PERIOD',
        applicable_spend_specifiers: [{ spend_type: 'COMMIT_PURCHASE', sources: ['THRESHOLD_RECHARGE'] }],
      },
    ],
    spend_threshold_configuration: {
      is_enabled: true,
      threshold_amount: 5_000,
      commit: { product_id: fee, name: 'Spend' },
      payment_gate_config: { payment_gate_type: 'NONE' },
    },
    prepaid_balance_threshold_configuration: {
      is_enabled: false,
      threshold_amount: 500,
      recharge_to_amount: 2_000,
      count_holds: true,
      commit: { product_id: fee, priority: 9, applicable_product_tags: ['llm'] },
      payment_gate_config: {
        payment_gate_type: 'EXTERNAL',
        tax_type: 'PRECALCULATED',
        precalculated_tax_config: { tax_amount: 12.5, tax_name: 'VAT' },
      },
      discount_configuration: {
        payment_fraction: 0.85,
        cap: { spend_tracker_alias: 'recharges', amount: 10_000 },
      },
      threshold_balance_specifiers: [
        { exclude: [{ custom_field_filters: [{ entity: 'Commit', key: 'kind', value: 'gift' }] }] },
      ],
    },
  };
}
