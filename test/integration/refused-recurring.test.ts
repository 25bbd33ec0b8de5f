/** Recurring commits and credits that are not sound: 400, the exact path of the field, and nothing is stored. */
import { describe } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { refusalBench } from '../support/refused-terms.ts';
import { END, START, termFixtures } from '../support/term-fixtures.ts';

const { ids, refuses } = refusalBench();
const { recurring, subscription } = termFixtures(ids);

describe('recurring commits and credits are refused with', () => {
  const seatBased = () =>
    subscription({
      temporary_id: 'seats',
      initial_quantity: undefined,
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user', initial_seat_ids: [] },
    });
  const config = (subscription_id: string, allocation = 'POOLED') => ({
    access_amount: { unit_price: 1, credit_type_id: USD_CENTS.id },
    subscription_config: {
      subscription_id,
      allocation,
      apply_seat_increase_config: { is_prorated: false },
    },
  });
  refuses([
    [
      'no quantity',
      () => ({
        recurring_commits: [recurring({ access_amount: { unit_price: 1, credit_type_id: USD_CENTS.id } })],
      }),
      /^recurring_commits\[0\]\.access_amount\.quantity: is required without subscription_config$/,
    ],
    [
      'a quantity and a subscription',
      () => ({
        subscriptions: [seatBased()],
        recurring_credits: [
          recurring({
            subscription_config: config('seats').subscription_config,
          }),
        ],
      }),
      /^recurring_credits\[0\]\.access_amount\.quantity: cannot be combined with subscription_config$/,
    ],
    [
      'a subscription that is not there',
      () => ({ recurring_commits: [recurring(config('nobody'))] }),
      /^recurring_commits\[0\]\.subscription_config\.subscription_id: "nobody" is neither/,
    ],
    [
      'INDIVIDUAL balances of a subscription without seats',
      () => ({
        subscriptions: [subscription({ temporary_id: 's' })],
        recurring_commits: [recurring(config('s', 'INDIVIDUAL'))],
      }),
      /^recurring_commits\[0\]\.subscription_config\.allocation: INDIVIDUAL needs a SEAT_BASED/,
    ],
    [
      'DAILY periods with seats',
      () => ({
        subscriptions: [seatBased()],
        recurring_commits: [recurring({ ...config('seats'), recurrence_frequency: 'DAILY' })],
      }),
      /^recurring_commits\[0\]\.recurrence_frequency: DAILY cannot be tied/,
    ],
    [
      'a second DAILY term',
      () => ({
        recurring_commits: [recurring({ recurrence_frequency: 'DAILY' })],
        recurring_credits: [recurring({ recurrence_frequency: 'DAILY' })],
      }),
      /^recurring_credits\[0\]\.recurrence_frequency: a contract can have one DAILY term only$/,
    ],
    [
      'an invoice in a custom unit',
      () => ({
        recurring_commits: [
          recurring({ invoice_amount: { unit_price: 1, quantity: 1, credit_type_id: ids.unit } }),
        ],
      }),
      /^recurring_commits\[0\]\.invoice_amount\.credit_type_id: must be a fiat currency$/,
    ],
    [
      'a start before the contract',
      () => ({ recurring_commits: [recurring({ starting_at: '2026-09-30T23:00:00Z' })] }),
      /^recurring_commits\[0\]\.starting_at: must not be before the contract starts$/,
    ],
    [
      'a start at the end of the contract',
      () => ({ ending_before: END, recurring_commits: [recurring({ starting_at: END })] }),
      /^recurring_commits\[0\]\.starting_at: must be before the contract ends$/,
    ],
    [
      'an end at its start',
      () => ({ recurring_commits: [recurring({ ending_before: START })] }),
      /^recurring_commits\[0\]\.ending_before: must be after starting_at$/,
    ],
    [
      'no priority',
      () => ({ recurring_commits: [recurring({ priority: undefined })] }),
      /^recurring_commits\[0\]\.priority: is required$/,
    ],
    [
      'a duration of no periods',
      () => ({ recurring_commits: [recurring({ commit_duration: { value: 0 } })] }),
      /^recurring_commits\[0\]\.commit_duration\.value: /,
    ],
    [
      'a rounding of invoices of credits',
      () => ({
        recurring_credits: [
          recurring({
            proration_rounding: { invoice: { rounding_method: 'FLOOR', decimal_places: 0 } },
          }),
        ],
      }),
      /^recurring_credits\[0\]\.proration_rounding\.invoice: is for commits only/,
    ],
    [
      'a rounding to six places',
      () => ({
        recurring_commits: [
          recurring({ proration_rounding: { access: { rounding_method: 'FLOOR', decimal_places: 6 } } }),
        ],
      }),
      /^recurring_commits\[0\]\.proration_rounding\.access\.decimal_places: /,
    ],
  ]);
});
