/** Packages that are refused: each names the field that is wrong, and nothing is stored. */
import { beforeAll, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { packages } from '../../src/store/contracts/packages.tables.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { days, months, onePrepaidCommit, PACKAGES, years } from '../support/package-terms.ts';

const { pool, api } = await catalogueForFile();
let catalogue: TermsCatalogue;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('a package that no contract could have', () => {
  const item = 'commits[0].access_schedule.schedule_items[0]';
  const commitWith = (change: Record<string, unknown>) => (from: TermsCatalogue) => ({
    commits: [
      {
        type: 'PREPAID',
        product_id: from.fee,
        access_schedule: {
          schedule_items: [{ amount: 1, starting_at_offset: days(0), duration: days(1), ...change }],
        },
      },
    ],
  });
  const recurring = (from: TermsCatalogue) => ({
    product_id: from.fee,
    access_amount: { unit_price: 1, quantity: 1, credit_type_id: USD_CENTS.id },
    priority: 1,
    starting_at_offset: days(0),
    commit_duration: { value: 1 },
  });
  const subscription = (from: TermsCatalogue) => ({
    subscription_rate: { product_id: from.seats, billing_frequency: 'MONTHLY' },
    collection_schedule: 'ADVANCE',
    proration: {},
    initial_quantity: 1,
  });
  const override = (from: TermsCatalogue) => ({
    starting_at_offset: days(0),
    type: 'MULTIPLIER',
    multiplier: 1,
    override_specifiers: [{ product_id: from.tokens }],
  });
  const charge = (from: TermsCatalogue) => ({
    product_id: from.fee,
    schedule: { schedule_items: [{ unit_price: 1, quantity: 1, date_offset: days(0) }] },
  });

  test.each<[string, (from: TermsCatalogue) => Record<string, unknown>, string]>([
    ['no name', () => ({ name: undefined }), 'name: is required'],
    ['an unknown field', () => ({ comits: [] }), 'comits: is not a field'],
    ['an unknown field inside', commitWith({ ends: 1 }), `${item}.ends: is not a field`],
    [
      'a field that only contracts have',
      (from) => ({ recurring_commits: [{ ...recurring(from), starting_at: '2026-01-01T00:00:00Z' }] }),
      'recurring_commits[0].starting_at: is not a field',
    ],
    [
      'a unit that does not exist',
      commitWith({ duration: { unit: 'HOURS', value: 1 } }),
      `${item}.duration.unit: `,
    ],
    ['a part of a unit', commitWith({ duration: days(0.5) }), `${item}.duration.value: `],
    ['a negative offset', commitWith({ starting_at_offset: days(-1) }), `${item}.starting_at_offset.value: `],
    ['a duration of nothing', commitWith({ duration: days(0) }), `${item}.duration.value: `],
    [
      'a duration of ages',
      commitWith({ duration: years(101) }),
      `${item}.duration.value: must be at most 100`,
    ],
    ['a duration of its own of nothing', () => ({ duration: days(0) }), 'duration.value: '],
    ['no duration of access', commitWith({ duration: undefined }), `${item}.duration: is required`],
    ['a negative amount', commitWith({ amount: -1 }), `${item}.amount: `],
    [
      'two cards',
      () => ({ rate_card_alias: 'list' }),
      'rate_card_alias: cannot be combined with rate_card_id',
    ],
    ['a provider without a method', () => ({ billing_provider: 'stripe' }), 'delivery_method: is required'],
    ['a method without a provider', () => ({ delivery_method: 'aws_sqs' }), 'billing_provider: is required'],
    [
      'a fixed anchor',
      () => ({ usage_statement_schedule: { frequency: 'MONTHLY', day: 'CUSTOM_DATE' } }),
      'usage_statement_schedule.day: ',
    ],
    [
      'an alias that ends before it starts',
      () => ({
        aliases: [{ name: 'a', starting_at: '2026-02-01T00:00:00Z', ending_before: '2026-02-01T00:00:00Z' }],
      }),
      'aliases[0].ending_before: must be after starting_at',
    ],
    ['a key of 129 characters', () => ({ uniqueness_key: 'k'.repeat(129) }), 'uniqueness_key: '],
    [
      'a product of the wrong type',
      (from) => ({ scheduled_charges: [{ ...charge(from), product_id: from.tokens }] }),
      'scheduled_charges[0].product_id: must be a FIXED product',
    ],
    [
      'a unit price without a quantity',
      (from) => ({
        scheduled_charges: [
          { ...charge(from), schedule: { schedule_items: [{ unit_price: 1, date_offset: days(0) }] } },
        ],
      }),
      'scheduled_charges[0].schedule.schedule_items[0].quantity: is required',
    ],
    [
      'a true-up of another amount',
      (from) => ({
        commits: [
          {
            ...commitWith({ amount: 10 })(from).commits[0],
            type: 'POSTPAID',
            invoice_schedule: { schedule_items: [{ unit_price: 9, quantity: 1, date_offset: days(1) }] },
          },
        ],
      }),
      'commits[0].invoice_schedule.schedule_items[0].amount: must equal the access amount 10',
    ],
    [
      'an override of a product that the card has no price for',
      (from) => ({
        overrides: [{ ...override(from), override_specifiers: [{ product_id: from.unpriced }] }],
      }),
      'overrides[0].override_specifiers[0].product_id: No such product in rate card',
    ],
    [
      'an override without specifiers',
      (from) => ({ overrides: [{ ...override(from), override_specifiers: undefined }] }),
      'overrides[0].override_specifiers: is required',
    ],
    [
      'an override of a commit that is not there',
      (from) => ({
        overrides: [
          {
            ...override(from),
            is_commit_specific: true,
            override_specifiers: [{ product_id: from.tokens, commit_ids: ['nobody'] }],
          },
        ],
      }),
      'overrides[0].override_specifiers[0].commit_ids[0]: "nobody" is neither',
    ],
    [
      'a temporary id twice',
      (from) => ({
        recurring_commits: [
          { ...recurring(from), temporary_id: 'x' },
          { ...recurring(from), temporary_id: 'x' },
        ],
      }),
      'recurring_commits[1].temporary_id: repeats "x"',
    ],
    [
      'a term that starts when the contract is over',
      (from) => ({
        duration: months(1),
        recurring_credits: [{ ...recurring(from), starting_at_offset: days(31) }],
      }),
      'recurring_credits[0].starting_at_offset: must lie before the end',
    ],
    [
      'a subscription that starts when the contract is over',
      (from) => ({
        duration: days(30),
        subscriptions: [{ ...subscription(from), starting_at_offset: days(30) }],
      }),
      'subscriptions[0].starting_at_offset: must lie before the end',
    ],
    [
      'a subscription to something else',
      (from) => ({ subscriptions: [{ ...subscription(from), initial_quantity: undefined }] }),
      'subscriptions[0].initial_quantity: is required',
    ],
    [
      'named seats',
      (from) => ({
        subscriptions: [
          { ...subscription(from), seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada'] } },
        ],
      }),
      'subscriptions[0].seat_config.initial_seat_ids: is not a field',
    ],
    [
      'undeclared custom fields',
      (from) => ({ scheduled_charges: [{ ...charge(from), custom_fields: { deal: '1' } }] }),
      'scheduled_charges[0].custom_fields.deal: is not a declared custom field of entity package_scheduled_charge',
    ],
    [
      'a threshold on a tracker that is not there',
      (from) => ({
        spend_threshold_configuration: {
          is_enabled: true,
          threshold_amount: 100,
          commit: { product_id: from.fee },
          payment_gate_config: { payment_gate_type: 'NONE' },
          discount_configuration: {
            payment_fraction: 0.5,
            cap: { spend_tracker_alias: 'none', amount: 1 },
          },
        },
      }),
      'spend_threshold_configuration.discount_configuration.cap.spend_tracker_alias: ',
    ],
  ])(
    'a package that no contract could have with %s answers 400, names the field and stores nothing',
    async (_, change, message) => {
      const before = await pool.db.$count(packages);
      const body = { name: 'Bad', rate_card_id: catalogue.card, ...change(catalogue) };
      const answer = await api.send('POST', PACKAGES, body);
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toContain(message);
      expect(answer.text('message').startsWith(message.split(':')[0] ?? '')).toBe(true);
      expect(await pool.db.$count(packages)).toBe(before);
    },
  );

  test.each([
    ['card', { rate_card_id: UNKNOWN }],
    ['alias of a card', { rate_card_id: undefined, rate_card_alias: 'nobody' }],
  ])('a package that no contract could have for an unknown %s answers 404', async (_, change) => {
    const answer = await api.send('POST', PACKAGES, { ...onePrepaidCommit(catalogue), ...change });
    expect(answer.status).toBe(404);
  });
});
