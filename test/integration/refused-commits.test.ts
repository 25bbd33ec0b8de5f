/** Commits, credits and charges that are not sound: 400, the exact path of the field, and nothing is stored. */
import { describe } from 'vitest';
import { refusalBench } from '../support/refused-terms.ts';
import { type Body, END, START, segment, termFixtures, UNKNOWN } from '../support/term-fixtures.ts';

const { ids, refuses } = refusalBench();
const { commit, postpaid, charge, repeating } = termFixtures(ids);

describe('commits and credits are refused with', () => {
  refuses([
    [
      'a segment that ends as it starts, in the third commit',
      () => ({
        commits: [
          commit(),
          commit(),
          commit({ access_schedule: { schedule_items: [{ ...segment, ending_before: START }] } }),
        ],
      }),
      /^commits\[2\]\.access_schedule\.schedule_items\[0\]\.ending_before: must be after starting_at$/,
    ],
    [
      'a segment off the hour',
      () => ({
        commits: [
          commit({
            access_schedule: { schedule_items: [{ ...segment, starting_at: '2026-10-01T00:30:00Z' }] },
          }),
        ],
      }),
      /^commits\[0\]\.access_schedule\.schedule_items\[0\]\.starting_at: must be on a full hour in UTC$/,
    ],
    [
      'no access schedule',
      () => ({ commits: [commit({ access_schedule: undefined })] }),
      /^commits\[0\]\.access_schedule: is required$/,
    ],
    [
      'an unknown product',
      () => ({ commits: [commit({ product_id: UNKNOWN })] }),
      /^commits\[0\]\.product_id: product .* not found$/,
    ],
    [
      'a product of usage',
      () => ({ credits: [{ product_id: ids.tokens, access_schedule: { schedule_items: [segment] } }] }),
      /^credits\[0\]\.product_id: must be a FIXED product, not USAGE$/,
    ],
    [
      'an unknown pricing unit',
      () => ({
        commits: [commit({ access_schedule: { credit_type_id: UNKNOWN, schedule_items: [segment] } })],
      }),
      /^commits\[0\]\.access_schedule\.credit_type_id: pricing unit .* not found$/,
    ],
    [
      'specifiers beside product ids',
      () => ({
        commits: [commit({ applicable_product_ids: [ids.tokens], specifiers: [{ product_tags: ['llm'] }] })],
      }),
      /^commits\[0\]\.specifiers: cannot be combined with applicable_product_ids$/,
    ],
    [
      'specifiers beside tags',
      () => ({
        commits: [commit({ applicable_product_tags: ['llm'], specifiers: [{ product_tags: ['llm'] }] })],
      }),
      /^commits\[0\]\.specifiers: cannot be combined with applicable_product_tags$/,
    ],
    [
      'a specifier that says nothing',
      () => ({ commits: [commit({ specifiers: [{}] })] }),
      /^commits\[0\]\.specifiers\[0\]: must name a product, tags, group values or exclude something$/,
    ],
    [
      'a specifier that excludes everything',
      () => ({ commits: [commit({ specifiers: [{ product_tags: ['a'], exclude: [{}] }] })] }),
      /^commits\[0\]\.specifiers\[0\]\.exclude\[0\]\.product_tags: is required$/,
    ],
    [
      'an unknown product among those covered',
      () => ({ commits: [commit({ applicable_product_ids: [ids.tokens, UNKNOWN] })] }),
      /^commits\[0\]\.applicable_product_ids\[1\]: product .* not found$/,
    ],
    [
      'a rollover fraction above 1',
      () => ({ commits: [commit({ rollover_fraction: 1.01 })] }),
      /^commits\[0\]\.rollover_fraction: must be at most 1$/,
    ],
    [
      'an unknown rate type',
      () => ({ commits: [commit({ rate_type: 'BEST_RATE' })] }),
      /^commits\[0\]\.rate_type: must be one of LIST_RATE, COMMIT_RATE$/,
    ],
    [
      'CONTRACT_IDS without ids',
      () => ({
        commits: [commit({ hierarchy_configuration: { child_access: { type: 'CONTRACT_IDS' } } })],
      }),
      /^commits\[0\]\.hierarchy_configuration\.child_access\.contract_ids: is required/,
    ],
    [
      'an undeclared custom field',
      () => ({ commits: [commit({ custom_fields: { a: 'b' } })] }),
      /^commits\[0\]\.custom_fields\.a: is not a declared custom field of entity commit$/,
    ],
    [
      'one temporary id twice',
      () => ({ commits: [commit({ temporary_id: 'x' }), commit({ temporary_id: 'x' })] }),
      /^commits\[1\]\.temporary_id: repeats "x"$/,
    ],
  ]);
});

describe('postpaid commits are refused with', () => {
  refuses([
    [
      'two segments',
      () => ({ commits: [postpaid({ access_schedule: { schedule_items: [segment, segment] } })] }),
      /^commits\[0\]\.access_schedule\.schedule_items: must have exactly 1 item for POSTPAID commits$/,
    ],
    [
      'no invoice schedule',
      () => ({ commits: [postpaid({ invoice_schedule: undefined })] }),
      /^commits\[0\]\.invoice_schedule: is required for POSTPAID commits$/,
    ],
    [
      'two invoices',
      () => ({
        commits: [
          postpaid({
            invoice_schedule: {
              schedule_items: [
                { timestamp: END, amount: 50 },
                { timestamp: END, amount: 50 },
              ],
            },
          }),
        ],
      }),
      /^commits\[0\]\.invoice_schedule\.schedule_items: must have exactly 1 item for POSTPAID commits$/,
    ],
    [
      'another amount on the invoice',
      () => ({
        commits: [postpaid({ invoice_schedule: { schedule_items: [{ timestamp: END, amount: 99.9 }] } })],
      }),
      /^commits\[0\]\.invoice_schedule\.schedule_items\[0\]\.amount: must equal the access amount 100/,
    ],
    [
      'an invoice that is not made',
      () => ({
        commits: [
          postpaid({
            invoice_schedule: { do_not_invoice: true, schedule_items: [{ timestamp: END, amount: 100 }] },
          }),
        ],
      }),
      /^commits\[0\]\.invoice_schedule\.do_not_invoice: is for PREPAID commits only$/,
    ],
  ]);
});

describe('invoice schedules are refused with', () => {
  const path = 'scheduled_charges\\[0\\]\\.schedule';
  const refused = (schedule: Body, message: string): [() => Body, RegExp] => [
    () => ({ scheduled_charges: [charge(schedule)] }),
    new RegExp(`^${path}${message}`),
  ];
  refuses([
    ['nothing in them', ...refused({}, ': must have schedule_items or a recurring_schedule$')],
    [
      'both kinds of schedule',
      ...refused(
        { schedule_items: [{ timestamp: START, amount: 1 }], ...repeating() },
        '\\.recurring_schedule: cannot be combined with schedule_items$',
      ),
    ],
    [
      'no amount',
      ...refused(
        { schedule_items: [{ timestamp: START }] },
        '\\.schedule_items\\[0\\]\\.amount: is required',
      ),
    ],
    [
      'an amount beside its parts',
      ...refused(
        { schedule_items: [{ timestamp: START, amount: 1, unit_price: 1, quantity: 1 }] },
        '\\.schedule_items\\[0\\]\\.unit_price: cannot be combined with amount$',
      ),
    ],
    [
      'a price without a quantity',
      ...refused(
        { schedule_items: [{ timestamp: START, unit_price: 1 }] },
        '\\.schedule_items\\[0\\]\\.quantity: is required with unit_price$',
      ),
    ],
    [
      'a quantity without a price',
      ...refused(
        { schedule_items: [{ timestamp: START, quantity: 1 }] },
        '\\.schedule_items\\[0\\]\\.unit_price: is required with quantity$',
      ),
    ],
    [
      'a recurring schedule that ends as it starts',
      ...refused(
        repeating({ ending_before: START }),
        '\\.recurring_schedule\\.ending_before: must be after starting_at$',
      ),
    ],
    [
      'a weekly one, which edits have only',
      ...refused(
        repeating({ frequency: 'WEEKLY' }),
        '\\.recurring_schedule\\.frequency: must be one of MONTHLY',
      ),
    ],
    [
      'do_not_invoice outside of commits',
      ...refused({ do_not_invoice: true, ...repeating() }, '\\.do_not_invoice: is for invoice schedules of'),
    ],
  ]);
});
