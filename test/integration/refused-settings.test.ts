/** Subscriptions, thresholds, trackers, and contracts themselves that are not sound: 400, the exact path of the field, and nothing is stored. */
import { describe } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { refusalBench } from '../support/refused-terms.ts';
import { type Body, START, termFixtures, UNKNOWN } from '../support/term-fixtures.ts';

const { ids, refuses } = refusalBench();
const { subscription, prepaidThreshold, spendThreshold, tracker } = termFixtures(ids);

describe('subscriptions are refused with', () => {
  refuses([
    [
      'a product of usage',
      () => ({
        subscriptions: [
          subscription({ subscription_rate: { product_id: ids.tokens, billing_frequency: 'MONTHLY' } }),
        ],
      }),
      /^subscriptions\[0\]\.subscription_rate\.product_id: must be a SUBSCRIPTION product, not USAGE$/,
    ],
    [
      'a frequency without a rate',
      () => ({
        subscriptions: [
          subscription({ subscription_rate: { product_id: ids.seats, billing_frequency: 'WEEKLY' } }),
        ],
      }),
      /^subscriptions\[0\]\.subscription_rate\.billing_frequency: the rate card has no WEEKLY rate/,
    ],
    [
      'no rate card',
      () => ({ rate_card_id: undefined, subscriptions: [subscription()] }),
      /^subscriptions\[0\]\.subscription_rate\.product_id: No such product in rate card$/,
    ],
    [
      'no quantity',
      () => ({ subscriptions: [subscription({ initial_quantity: undefined })] }),
      /^subscriptions\[0\]\.initial_quantity: is required for QUANTITY_ONLY subscriptions$/,
    ],
    [
      'seats of a quantity',
      () => ({
        subscriptions: [subscription({ seat_config: { seat_group_key: 'user', initial_seat_ids: [] } })],
      }),
      /^subscriptions\[0\]\.seat_config: is for SEAT_BASED subscriptions only$/,
    ],
    [
      'SEAT_BASED without seats',
      () => ({
        subscriptions: [
          subscription({ quantity_management_mode: 'SEAT_BASED', initial_quantity: undefined }),
        ],
      }),
      /^subscriptions\[0\]\.seat_config: is required for SEAT_BASED subscriptions$/,
    ],
    [
      'one seat twice',
      () => ({
        subscriptions: [
          subscription({
            initial_quantity: undefined,
            quantity_management_mode: 'SEAT_BASED',
            seat_config: { seat_group_key: 'user', initial_seat_ids: ['a', 'b', 'a'] },
          }),
        ],
      }),
      /^subscriptions\[0\]\.seat_config\.initial_seat_ids\[2\]: repeats "a"$/,
    ],
    [
      'immediate billing in arrears',
      () => ({
        subscriptions: [
          subscription({
            collection_schedule: 'ARREARS',
            proration: { invoice_behavior: 'BILL_IMMEDIATELY' },
          }),
        ],
      }),
      /^subscriptions\[0\]\.proration\.invoice_behavior: BILL_IMMEDIATELY is for ADVANCE/,
    ],
    [
      'an anchor after its start',
      () => ({
        subscriptions: [subscription({ billing_cycle_config: { anchor_date: '2026-10-02T00:00:00Z' } })],
      }),
      /^subscriptions\[0\]\.billing_cycle_config\.anchor_date: must not be after the subscription starts$/,
    ],
    [
      'an anchor in arrears',
      () => ({
        subscriptions: [
          subscription({ collection_schedule: 'ARREARS', billing_cycle_config: { anchor_date: START } }),
        ],
      }),
      /^subscriptions\[0\]\.billing_cycle_config\.anchor_date: is for ADVANCE collection only$/,
    ],
    [
      'a start before the contract',
      () => ({ subscriptions: [subscription({ starting_at: '2026-09-01T00:00:00Z' })] }),
      /^subscriptions\[0\]\.starting_at: must not be before the contract starts$/,
    ],
    [
      'an end at its start, which is the contract’s',
      () => ({ subscriptions: [subscription({ ending_before: START })] }),
      /^subscriptions\[0\]\.ending_before: must be after starting_at$/,
    ],
  ]);
});

describe('thresholds and spend trackers are refused with', () => {
  const prepaid = (change: Body) => () => ({
    prepaid_balance_threshold_configuration: prepaidThreshold(change),
  });
  refuses([
    [
      'a threshold below 5 dollars',
      prepaid({ threshold_amount: 499 }),
      /^prepaid_balance_threshold_configuration\.threshold_amount: must be at least 500$/,
    ],
    [
      'a recharge less than 10 dollars above it',
      prepaid({ recharge_to_amount: 1_499 }),
      /^prepaid_balance_threshold_configuration\.recharge_to_amount: must be at least 1000 above/,
    ],
    [
      'a threshold in coins below 5 dollars',
      () => prepaid({ custom_credit_type_id: ids.unit, threshold_amount: 249, recharge_to_amount: 900 })(),
      /^prepaid_balance_threshold_configuration\.threshold_amount: must be at least 250$/,
    ],
    [
      'a currency as a custom unit',
      prepaid({ custom_credit_type_id: USD_CENTS.id }),
      /^prepaid_balance_threshold_configuration\.custom_credit_type_id: must be a custom pricing unit$/,
    ],
    [
      'a payment provider',
      prepaid({
        payment_gate_config: { payment_gate_type: 'STRIPE', stripe_config: { payment_type: 'INVOICE' } },
      }),
      /^prepaid_balance_threshold_configuration\.payment_gate_config\.payment_gate_type: STRIPE needs/,
    ],
    [
      'a tax amount without its type',
      prepaid({
        payment_gate_config: {
          payment_gate_type: 'EXTERNAL',
          precalculated_tax_config: { tax_amount: 1 },
        },
      }),
      /^prepaid_balance_threshold_configuration\.payment_gate_config\.precalculated_tax_config: is for/,
    ],
    [
      'a cap on a tracker that is not there',
      prepaid({
        discount_configuration: { payment_fraction: 0.5, cap: { spend_tracker_alias: 'x', amount: 1 } },
      }),
      /^prepaid_balance_threshold_configuration\.discount_configuration\.cap\.spend_tracker_alias: /,
    ],
    [
      'a product of usage',
      () => ({ spend_threshold_configuration: spendThreshold({ commit: { product_id: ids.tokens } }) }),
      /^spend_threshold_configuration\.commit\.product_id: must be a FIXED product, not USAGE$/,
    ],
    [
      'a threshold of nothing',
      () => ({ spend_threshold_configuration: spendThreshold({ threshold_amount: 0 }) }),
      /^spend_threshold_configuration\.threshold_amount: must be greater than 0$/,
    ],
    [
      'one alias twice',
      () => ({ spend_trackers: [tracker('a'), tracker('a')] }),
      /^spend_trackers\[1\]\.alias: repeats "a"$/,
    ],
  ]);
});

describe('a contract is refused with', () => {
  refuses([
    [
      'a usage filter by a property that a metric is not grouped by',
      () => ({ usage_filter: { group_key: 'country', group_values: ['eu'] } }),
      /^usage_filter\.group_key: billable metric .* of product .* has no group key that contains/,
    ],
    [
      'a usage filter that starts before it',
      () => ({
        usage_filter: { group_key: 'model', group_values: ['a'], starting_at: '2026-09-01T00:00:00Z' },
      }),
      /^usage_filter\.starting_at: must lie within the contract$/,
    ],
    [
      'half a billing configuration',
      () => ({ billing_provider_configuration: { billing_provider: 'stripe' } }),
      /^billing_provider_configuration\.delivery_method: is required$/,
    ],
    [
      'a billing configuration that the customer does not have',
      () => ({
        billing_provider_configuration: {
          billing_provider: 'stripe',
          delivery_method: 'direct_to_billing_provider',
        },
      }),
      /^billing_provider_configuration\.billing_provider: customer .* has 0 billing configurations/,
    ],
    [
      'a payer without a parent',
      () => ({ hierarchy_configuration: { payer: 'SELF' } }),
      /^hierarchy_configuration\.payer: is for children/,
    ],
    [
      'a parent that is not there',
      () => ({
        hierarchy_configuration: { parent: { contract_id: UNKNOWN, customer_id: ids.customer } },
      }),
      /^hierarchy_configuration\.parent\.contract_id: contract .* not found$/,
    ],
  ]);
});
