/** The package of package-terms.ts as answers show it. */
import { expect } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { ACTOR_NAME } from './catalogue-api.ts';
import type { TermsCatalogue } from './contract-terms.ts';
import { days, everyTemplate, months, weeks, years } from './package-terms.ts';

const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
const cents = { id: USD_CENTS.id, name: USD_CENTS.name };

/** `everyTemplate` as it is read. */
export function expectedPackage(
  catalogue: TermsCatalogue,
  packageId: string,
  uniquenessKey: string,
): Record<string, unknown> {
  const sent = everyTemplate(catalogue);
  return {
    id: packageId,
    name: 'Everything',
    contract_name: 'All of it',
    uniqueness_key: uniquenessKey,
    rate_card_id: catalogue.card,
    aliases: [],
    duration: years(1),
    net_payment_terms_days: 30,
    usage_statement_schedule: {
      frequency: 'MONTHLY',
      day: 'CONTRACT_START',
      invoice_generation_starting_at_offset: months(1),
    },
    multiplier_override_prioritization: 'EXPLICIT',
    scheduled_charges_on_usage_invoices: 'ALL',
    ...expectedBalances(catalogue),
    ...expectedRecurring(catalogue),
    overrides: expectedOverrides(catalogue),
    ...expectedChargesAndSubscriptions(catalogue),
    spend_trackers: [
      {
        alias: 'recharges',
        credit_type_id: USD_CENTS.id,
        reset_frequency: 'BILLING_PERIOD',
        applicable_spend_specifiers: [
          { spend_type: 'COMMIT_PURCHASE', sources: ['THRESHOLD_RECHARGE'], discounted: 'ANY' },
        ],
      },
    ],
    spend_threshold_configuration: sent.spend_threshold_configuration,
    prepaid_balance_threshold_configuration: sent.prepaid_balance_threshold_configuration,
    created_at: '2026-11-20T12:34:56.789Z',
    created_by: ACTOR_NAME,
  };
}

function expectedBalances({ fee, tokens, models, unit }: TermsCatalogue) {
  const common = { id, product: { id: fee, name: 'Fee' }, custom_fields: {} };
  const commits = [
    {
      ...common,
      type: 'PREPAID',
      name: 'Prepaid',
      description: 'Paid up front',
      priority: 7,
      rate_type: 'COMMIT_RATE',
      rollover_fraction: 0.25,
      access_schedule: {
        credit_type: cents,
        schedule_items: [
          { id, amount: 100_000.5, starting_at_offset: days(0), duration: months(6) },
          { id, amount: 12.125, starting_at_offset: months(6), duration: weeks(2) },
        ],
      },
      invoice_schedule: {
        credit_type: cents,
        schedule_items: [
          { id, unit_price: 40_000, quantity: 2, date_offset: months(3) },
          { id, unit_price: 0.5, quantity: 3, date_offset: days(0) },
        ],
        do_not_invoice: true,
      },
      applicable_product_ids: [tokens],
      applicable_product_tags: ['llm'],
    },
    {
      ...common,
      type: 'POSTPAID',
      priority: 100,
      rate_type: 'LIST_RATE',
      access_schedule: {
        credit_type: cents,
        schedule_items: [{ id, amount: 50_000, starting_at_offset: days(0), duration: years(1) }],
      },
      invoice_schedule: {
        credit_type: cents,
        schedule_items: [{ id, unit_price: 25_000, quantity: 2, date_offset: years(1) }],
        do_not_invoice: false,
      },
    },
  ];
  const credit = {
    ...common,
    type: 'CREDIT',
    name: 'Welcome',
    description: 'A gift',
    priority: 1.5,
    rate_type: 'LIST_RATE',
    access_schedule: {
      credit_type: { id: unit, name: 'Coins' },
      schedule_items: [{ id, amount: 12, starting_at_offset: days(10), duration: days(30) }],
    },
    specifiers: [
      { product_id: models, pricing_group_values: { model: 'a' } },
      { product_tags: ['llm'], exclude: [{ product_tags: ['llm', 'beta'] }] },
    ],
  };
  return { commits, credits: [credit] };
}

function expectedRecurring({ fee, unit }: TermsCatalogue) {
  const product = { id: fee, name: 'Fee' };
  const commit = {
    id,
    product,
    name: 'Monthly',
    access_amount: { unit_price: 10, quantity: 3, credit_type_id: unit },
    invoice_amount: { unit_price: 5, quantity: 3, credit_type_id: USD_CENTS.id },
    priority: 3,
    rate_type: 'LIST_RATE',
    rollover_fraction: 1,
    starting_at_offset: months(1),
    duration: months(6),
    commit_duration: { value: 2, unit: 'PERIODS' },
    recurrence_frequency: 'MONTHLY',
    proration: 'NONE',
    proration_rounding: {
      access: { rounding_method: 'HALF_UP', decimal_places: -2 },
      invoice: { rounding_method: 'FLOOR', decimal_places: 0 },
    },
  };
  const credit = {
    id,
    product,
    access_amount: { unit_price: 500, credit_type_id: USD_CENTS.id },
    priority: 4,
    rate_type: 'LIST_RATE',
    applicable_product_tags: ['llm'],
    starting_at_offset: days(0),
    commit_duration: { value: 1, unit: 'PERIODS' },
    proration: 'FIRST_AND_LAST',
    subscription_config: {
      subscription_template_id: id,
      allocation: 'INDIVIDUAL',
      apply_seat_increase_config: { is_prorated: true },
    },
  };
  return { recurring_commits: [commit], recurring_credits: [credit] };
}

function expectedOverrides({ tokens, models, seats }: TermsCatalogue) {
  return [
    {
      id,
      starting_at_offset: weeks(1),
      type: 'OVERWRITE',
      overwrite_rate: { rate_type: 'TIERED', tiers: [{ size: 10, price: 1.5 }, { price: 1 }] },
      override_specifiers: [{ product_id: models, pricing_group_values: { model: 'a' } }],
      is_commit_specific: false,
    },
    {
      id,
      starting_at_offset: days(0),
      duration: months(3),
      type: 'TIERED',
      priority: 2,
      override_tiers: [{ size: 5, multiplier: 0.5 }, { multiplier: 0.25 }],
      is_commit_specific: true,
      target: 'COMMIT_RATE',
      override_specifiers: [
        { product_id: tokens, commit_template_ids: [id], recurring_commit_template_ids: [id] },
        { any_commit_or_credit_template_ids: [id], exclude: [{ product_tags: ['llm'] }] },
      ],
    },
    {
      id,
      starting_at_offset: days(0),
      type: 'MULTIPLIER',
      multiplier: 0,
      priority: 5,
      entitled: true,
      override_specifiers: [{ product_id: seats, billing_frequency: 'MONTHLY' }],
      is_commit_specific: false,
    },
  ];
}

function expectedChargesAndSubscriptions({ fee, seats }: TermsCatalogue) {
  const charge = {
    id,
    product: { id: fee, name: 'Fee' },
    name: 'Set-up',
    schedule: {
      credit_type: cents,
      schedule_items: [
        { id, unit_price: 100, quantity: 1, date_offset: days(0) },
        { id, unit_price: -10.5, quantity: 2, date_offset: weeks(6) },
      ],
    },
    custom_fields: {},
  };
  const common = {
    id,
    subscription_rate: { billing_frequency: 'MONTHLY', product: { id: seats, name: 'Seats' } },
    fiat_credit_type_id: USD_CENTS.id,
    custom_fields: {},
  };
  const subscriptions = [
    {
      ...common,
      name: 'Seats',
      description: 'By the month',
      collection_schedule: 'ADVANCE',
      proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user', initial_unassigned_seats: 3 },
      billing_cycle_config: { invoice_placement: 'ON_SCHEDULED_INVOICE' },
    },
    {
      ...common,
      collection_schedule: 'ARREARS',
      proration: {
        is_prorated: false,
        invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE',
        rounding: { rounding_method: 'CEILING', decimal_places: 1 },
      },
      quantity_management_mode: 'QUANTITY_ONLY',
      initial_quantity: 4,
      starting_at_offset: months(1),
      duration: months(6),
      billing_cycle_config: { invoice_placement: 'ON_USAGE_INVOICE' },
    },
  ];
  return { scheduled_charges: [charge], subscriptions };
}
