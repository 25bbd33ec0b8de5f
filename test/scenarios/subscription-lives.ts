/**
 * Subscriptions through the first months of a leap year, and their charges as computed by hand. Read a row as: what is
 * subscribed under which terms, what is changed on which days, and what is charged.
 *
 * A month costs 26,970: a day of February costs 930, of a month of 30 days 899, and of one of 31 days 870. A week costs
 * 700, a quarter 9,100, and the year 36,600: 100 a day.
 */
export interface SubscriptionLife {
  readonly name: string;
  /** Fields of the subscription that differ from ten units a month, in advance and prorated. */
  readonly terms?: object;
  /** Fields of the contract; `seats` and `fee` are products. */
  readonly contract?: (products: { readonly seats: string; readonly fee: string }) => object;
  /** By day: fields of an update of the subscription. */
  readonly changes?: Readonly<Record<string, object>>;
  /** By issue date: `USAGE 02-02: 01-01 - 02-01, 10 × 26970`. */
  readonly charges: readonly string[];
}

export const day = (text: string) => `2028-${text}T00:00:00Z`;
const frequency = (billing_frequency: string) => ({ billing_frequency });
const IN_ARREARS = {
  collection_schedule: 'ARREARS',
  proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
};
const NEXT = { proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' } };
const quantity = (from: string, number: number) => ({
  quantity_updates: [{ starting_at: day(from), quantity: number }],
});
const delta = (from: string, number: number) => ({
  quantity_updates: [{ starting_at: day(from), quantity_delta: number }],
});
const override = (terms: object) => ({
  contract: ({ seats }: { readonly seats: string }) => ({
    overrides: [{ ...terms, override_specifiers: [{ product_id: seats, billing_frequency: 'MONTHLY' }] }],
  }),
});

const JANUARY = 'SCHEDULED 01-01: 01-01 - 02-01, 10 × 26970';
const FEBRUARY = 'USAGE 02-02: 02-01 - 03-01, 10 × 26970';
const MARCH = 'USAGE 03-02: 03-01 - 04-01, 10 × 26970';
const APRIL = 'USAGE 04-02: 04-01 - 05-01, 10 × 26970';

export const SUBSCRIPTION_LIVES: readonly SubscriptionLife[] = [
  { name: 'in advance', charges: [JANUARY, FEBRUARY, MARCH, APRIL] },
  {
    name: 'in arrears',
    terms: IN_ARREARS,
    charges: [
      'USAGE 02-02: 01-01 - 02-01, 10 × 26970',
      'USAGE 03-02: 02-01 - 03-01, 10 × 26970',
      'USAGE 04-02: 03-01 - 04-01, 10 × 26970',
    ],
  },
  {
    name: 'from the last day of January, with a leap day',
    contract: () => ({
      starting_at: day('01-31'),
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    }),
    charges: [
      'SCHEDULED 01-31: 01-31 - 02-29, 10 × 26970',
      'USAGE 03-01: 02-29 - 03-31, 10 × 26970',
      'USAGE 04-01: 03-31 - 04-30, 10 × 26970',
    ],
  },
  {
    name: 'an increase in a leap February',
    changes: { '02-15': delta('02-15', 2) },
    charges: [
      JANUARY,
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 2 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 12 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'an increase that is collected with the next charge',
    terms: NEXT,
    changes: { '02-15': delta('02-15', 2) },
    charges: [
      JANUARY,
      FEBRUARY,
      'USAGE 03-02: 02-15 - 03-01, 2 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 12 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'an increase that was scheduled before',
    changes: { '01-05': delta('02-15', 2) },
    charges: [
      JANUARY,
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 2 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 12 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'a decrease counts from the next period on',
    changes: { '02-10': quantity('02-10', 4) },
    charges: [
      JANUARY,
      FEBRUARY,
      'USAGE 03-02: 03-01 - 04-01, 4 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 4 × 26970',
    ],
  },
  {
    name: 'down and up again: only what goes above the highest quantity',
    changes: { '02-05': quantity('02-05', 4), '02-15': quantity('02-15', 12) },
    charges: [
      JANUARY,
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 2 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 12 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'an increase of two months ago',
    changes: { '03-20': quantity('02-15', 12) },
    charges: [
      JANUARY,
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 2 × 13950',
      'SCHEDULED 03-01: 03-01 - 04-01, 2 × 26970',
      MARCH,
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'in arrears with an increase and a decrease',
    terms: IN_ARREARS,
    changes: { '02-15': delta('02-15', 2), '02-20': quantity('02-20', 1) },
    charges: [
      'USAGE 02-02: 01-01 - 02-01, 10 × 26970',
      'USAGE 03-02: 02-01 - 03-01, 10 × 26970',
      'USAGE 03-02: 02-15 - 03-01, 2 × 13950',
      'USAGE 04-02: 03-01 - 04-01, 1 × 26970',
    ],
  },
  {
    name: 'without proration every part costs the full price',
    terms: {
      starting_at: day('01-17'),
      proration: { is_prorated: false, invoice_behavior: 'BILL_IMMEDIATELY' },
    },
    changes: { '02-15': delta('02-15', 2) },
    charges: [
      'SCHEDULED 01-17: 01-17 - 02-01, 10 × 26970',
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 2 × 26970',
      'USAGE 03-02: 03-01 - 04-01, 12 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 12 × 26970',
    ],
  },
  {
    name: 'a prorated price rounded to hundreds',
    terms: {
      starting_at: day('01-17'),
      proration: {
        is_prorated: true,
        invoice_behavior: 'BILL_IMMEDIATELY',
        rounding: { rounding_method: 'HALF_UP', decimal_places: -2 },
      },
    },
    charges: ['SCHEDULED 01-17: 01-17 - 02-01, 10 × 13100', FEBRUARY, MARCH, APRIL],
  },
  {
    name: 'week by week from the start of the contract',
    terms: {
      subscription_rate: frequency('WEEKLY'),
      billing_cycle_config: { anchor_date: day('01-01') },
      ending_before: day('01-20'),
    },
    charges: [
      'SCHEDULED 01-01: 01-01 - 01-08, 10 × 700',
      'SCHEDULED 01-08: 01-08 - 01-15, 10 × 700',
      'SCHEDULED 01-15: 01-15 - 01-20, 10 × 500',
    ],
  },
  {
    name: 'quarters on a monthly contract are full',
    terms: { subscription_rate: frequency('QUARTERLY') },
    charges: ['SCHEDULED 01-01: 01-01 - 04-01, 10 × 9100', 'USAGE 04-02: 04-01 - 07-01, 10 × 9100'],
  },
  {
    name: 'a leap year with an increase',
    terms: { subscription_rate: frequency('ANNUAL') },
    changes: { '03-01': delta('03-01', 1) },
    charges: ['SCHEDULED 01-01: 01-01 - 01-01, 10 × 36600', 'SCHEDULED 03-01: 03-01 - 01-01, 1 × 30600'],
  },
  {
    name: 'a new price counts from the next period on',
    ...override({ type: 'MULTIPLIER', multiplier: 0.5, starting_at: day('02-10') }),
    changes: { '02-15': delta('02-15', 1) },
    charges: [
      JANUARY,
      FEBRUARY,
      'SCHEDULED 02-15: 02-15 - 03-01, 1 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 11 × 13485',
      'USAGE 04-02: 04-01 - 05-01, 11 × 13485',
    ],
  },
  {
    name: 'a free month',
    ...override({
      type: 'MULTIPLIER',
      multiplier: 0,
      starting_at: day('01-01'),
      ending_before: day('02-01'),
    }),
    charges: ['SCHEDULED 01-01: 01-01 - 02-01, 10 × 0', FEBRUARY, MARCH, APRIL],
  },
  {
    name: 'no entitlement from March on',
    ...override({ entitled: false, starting_at: day('03-01') }),
    charges: [JANUARY, FEBRUARY],
  },
  {
    name: 'in arrears, ended in February',
    terms: IN_ARREARS,
    changes: { '02-10': { ending_before: day('02-15') } },
    charges: ['USAGE 02-02: 01-01 - 02-01, 10 × 26970', 'SCHEDULED 02-15: 02-01 - 02-15, 10 × 13020'],
  },
  {
    name: 'in advance, ended in February and taken up again',
    changes: { '02-10': { ending_before: day('02-15') }, '03-10': { ending_before: null } },
    charges: [JANUARY, FEBRUARY, 'SCHEDULED 03-01: 03-01 - 04-01, 10 × 26970', APRIL],
  },
  {
    name: 'seats take unassigned ones before they raise the quantity',
    terms: {
      initial_quantity: undefined,
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada'], initial_unassigned_seats: 1 },
    },
    changes: {
      '02-15': { seat_updates: { add_seat_ids: [{ seat_ids: ['bob', 'eve'], starting_at: day('02-15') }] } },
      '02-20': {
        seat_updates: {
          remove_seat_ids: [{ seat_ids: ['ada'], starting_at: day('02-20') }],
          add_unassigned_seats: [{ quantity: 1, starting_at: day('02-20') }],
          add_seat_ids: [{ seat_ids: ['zoe'], starting_at: day('02-20') }],
        },
      },
    },
    charges: [
      'SCHEDULED 01-01: 01-01 - 02-01, 2 × 26970',
      'USAGE 02-02: 02-01 - 03-01, 2 × 26970',
      'SCHEDULED 02-15: 02-15 - 03-01, 1 × 13950',
      'USAGE 03-02: 03-01 - 04-01, 3 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 3 × 26970',
    ],
  },
  {
    name: 'a quantity that becomes seats',
    changes: {
      '02-10': {
        quantity_management_mode_update: {
          quantity_management_mode: 'SEAT_BASED',
          seat_config: { seat_group_key: 'user' },
        },
      },
      '02-15': { seat_updates: { add_seat_ids: [{ seat_ids: ['ada'], starting_at: day('02-15') }] } },
      '02-16': { seat_updates: { remove_unassigned_seats: [{ quantity: 3, starting_at: day('02-16') }] } },
    },
    charges: [
      JANUARY,
      FEBRUARY,
      'USAGE 03-02: 03-01 - 04-01, 7 × 26970',
      'USAGE 04-02: 04-01 - 05-01, 7 × 26970',
    ],
  },
  {
    name: 'on scheduled invoices',
    terms: { billing_cycle_config: { invoice_placement: 'ON_SCHEDULED_INVOICE' } },
    charges: [
      JANUARY,
      'SCHEDULED 02-01: 02-01 - 03-01, 10 × 26970',
      'SCHEDULED 03-01: 03-01 - 04-01, 10 × 26970',
      'SCHEDULED 04-01: 04-01 - 05-01, 10 × 26970',
    ],
  },
  {
    name: 'a credit that is open in January and February',
    contract: ({ fee }) => ({
      credits: [
        {
          ...{ product_id: fee, name: 'Gift', priority: 1 },
          access_schedule: {
            schedule_items: [{ amount: 283_185, starting_at: day('01-01'), ending_before: day('03-01') }],
          },
        },
      ],
    }),
    charges: [
      JANUARY,
      'SCHEDULED 01-01: Gift applied -269700',
      'USAGE 02-02: 02-01 - 03-01, 0.5 × 26970',
      'USAGE 02-02: Gift applied -13485',
      'USAGE 02-02: 02-01 - 03-01, 9.5 × 26970',
      MARCH,
      APRIL,
    ],
  },
];
