/** A package that has every kind of template; its terms are those of the catalogue in contract-terms.ts. */
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { TermsCatalogue } from './contract-terms.ts';

export const PACKAGES = '/v1/packages/create';

export const days = (value: number) => ({ unit: 'DAYS', value });
export const weeks = (value: number) => ({ unit: 'WEEKS', value });
export const months = (value: number) => ({ unit: 'MONTHS', value });
export const years = (value: number) => ({ unit: 'YEARS', value });

/** A package of the least. */
export function onePrepaidCommit({ card, fee }: TermsCatalogue): Record<string, unknown> {
  return {
    name: 'Small',
    rate_card_id: card,
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule: {
          schedule_items: [{ amount: 100, starting_at_offset: days(0), duration: months(1) }],
        },
      },
    ],
  };
}

export function everyTemplate(catalogue: TermsCatalogue): Record<string, unknown> {
  const { card } = catalogue;
  return {
    name: 'Everything',
    contract_name: 'All of it',
    rate_card_id: card,
    duration: years(1),
    net_payment_terms_days: 30,
    multiplier_override_prioritization: 'explicit',
    scheduled_charges_on_usage_invoices: 'ALL',
    usage_statement_schedule: {
      frequency: 'monthly',
      day: 'contract_start',
      invoice_generation_starting_at_offset: months(1),
    },
    ...balances(catalogue),
    ...recurring(catalogue),
    overrides: overrides(catalogue),
    ...chargesAndSubscriptions(catalogue),
    ...settings(catalogue),
  };
}

function balances({ fee, tokens, models, unit }: TermsCatalogue) {
  return {
    commits: [
      {
        type: 'prepaid',
        name: 'Prepaid',
        description: 'Paid up front',
        product_id: fee,
        priority: 7,
        rate_type: 'commit_rate',
        rollover_fraction: 0.25,
        access_schedule: {
          schedule_items: [
            { amount: 100_000.5, starting_at_offset: days(0), duration: months(6) },
            { amount: 12.125, starting_at_offset: { unit: 'Months', value: 6 }, duration: weeks(2) },
          ],
        },
        invoice_schedule: {
          schedule_items: [
            { unit_price: 40_000, quantity: 2, date_offset: { unit: 'mOnThS', value: 3 } },
            { unit_price: 0.5, quantity: 3, date_offset: days(0) },
          ],
          do_not_invoice: true,
        },
        applicable_product_ids: [tokens],
        applicable_product_tags: ['llm'],
        temporary_id: 'prepaid',
      },
      {
        type: 'POSTPAID',
        product_id: fee,
        access_schedule: {
          schedule_items: [{ amount: 50_000, starting_at_offset: days(0), duration: years(1) }],
        },
        invoice_schedule: {
          credit_type_id: USD_CENTS.id,
          schedule_items: [{ unit_price: 25_000, quantity: 2, date_offset: { unit: 'years', value: 1 } }],
        },
      },
    ],
    credits: [
      {
        product_id: fee,
        name: 'Welcome',
        description: 'A gift',
        priority: 1.5,
        rate_type: 'LIST_RATE',
        access_schedule: {
          credit_type_id: unit,
          schedule_items: [{ amount: 12, starting_at_offset: days(10), duration: days(30) }],
        },
        specifiers: [
          { product_id: models, pricing_group_values: { model: 'a' } },
          { product_tags: ['llm'], exclude: [{ product_tags: ['llm', 'beta'] }] },
        ],
      },
    ],
  };
}

function recurring({ fee, unit }: TermsCatalogue) {
  return {
    recurring_commits: [
      {
        product_id: fee,
        name: 'Monthly',
        access_amount: { unit_price: 10, quantity: 3, credit_type_id: unit },
        invoice_amount: { unit_price: 5, quantity: 3, credit_type_id: USD_CENTS.id },
        priority: 3,
        starting_at_offset: months(1),
        duration: months(6),
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
        access_amount: { unit_price: 500, credit_type_id: USD_CENTS.id },
        priority: 4,
        starting_at_offset: days(0),
        commit_duration: { value: 1, unit: 'periods' },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'INDIVIDUAL',
          apply_seat_increase_config: { is_prorated: true },
        },
        applicable_product_tags: ['llm'],
      },
    ],
  };
}

function overrides({ tokens, models, seats }: TermsCatalogue) {
  return [
    {
      starting_at_offset: weeks(1),
      type: 'OVERWRITE',
      overwrite_rate: { rate_type: 'TIERED', tiers: [{ size: 10, price: 1.5 }, { price: 1 }] },
      override_specifiers: [{ product_id: models, pricing_group_values: { model: 'a' } }],
    },
    {
      starting_at_offset: days(0),
      duration: months(3),
      type: 'TIERED',
      priority: 2,
      tiers: [{ size: 5, multiplier: 0.5 }, { multiplier: 0.25 }],
      is_commit_specific: true,
      target: 'commit_rate',
      override_specifiers: [
        { product_id: tokens, commit_ids: ['prepaid'], recurring_commit_ids: ['monthly'] },
        { any_commit_or_credit_ids: ['monthly'], exclude: [{ product_tags: ['llm'] }] },
      ],
    },
    {
      starting_at_offset: days(0),
      type: 'MULTIPLIER',
      multiplier: 0,
      priority: 5,
      entitled: true,
      override_specifiers: [{ product_id: seats, billing_frequency: 'MONTHLY' }],
    },
  ];
}

function chargesAndSubscriptions({ fee, seats }: TermsCatalogue) {
  const subscription_rate = { product_id: seats, billing_frequency: 'MONTHLY' };
  return {
    scheduled_charges: [
      {
        product_id: fee,
        name: 'Set-up',
        schedule: {
          schedule_items: [
            { unit_price: 100, quantity: 1, date_offset: days(0) },
            { unit_price: -10.5, quantity: 2, date_offset: weeks(6) },
          ],
        },
      },
    ],
    subscriptions: [
      {
        subscription_rate,
        name: 'Seats',
        description: 'By the month',
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        quantity_management_mode: 'SEAT_BASED',
        seat_config: { seat_group_key: 'user', initial_unassigned_seats: 3 },
        billing_cycle_config: { invoice_placement: 'ON_SCHEDULED_INVOICE' },
        temporary_id: 'seats',
      },
      {
        subscription_rate,
        collection_schedule: 'arrears',
        proration: { is_prorated: false, rounding: { rounding_method: 'CEILING', decimal_places: 1 } },
        initial_quantity: 4,
        starting_at_offset: months(1),
        duration: months(6),
      },
    ],
  };
}

function settings({ fee }: TermsCatalogue) {
  return {
    spend_trackers: [
      {
        alias: 'recharges',
        credit_type_id: USD_CENTS.id,
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
