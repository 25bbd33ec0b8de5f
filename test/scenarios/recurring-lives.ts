/**
 * Customers with recurring commits and credits, and their invoices as computed by hand; rows are read as those of
 * lives.ts. A covered line is followed by what was applied: `5 × 2, -10, 3 × 2` are 8 units, of which a balance paid 5.
 */
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { day, FOR_EVER, type Life } from './run-lives.ts';

/** A unit of work at this price, and a product that names what is bought. */
const at = (price: number) => ({
  Work: { rates: [{ ...FOR_EVER, price }] },
  Pack: { product: { type: 'FIXED', billable_metric_id: undefined }, rates: [] },
});
const cents = (unit_price: number) => ({ unit_price, quantity: 1, credit_type_id: USD_CENTS.id });

/** For one month each, from the start of the year. */
const granting = (amount: number, terms: object = {}) => ({
  ...{ access_amount: cents(amount), commit_duration: { value: 1 }, priority: 1 },
  ...{ starting_at: day('01-01'), ...terms },
});
const pack = (products: ReadonlyMap<string, string>) => ({ product_id: products.get('Pack') });
const credit =
  (amount: number, terms: object = {}) =>
  (products: ReadonlyMap<string, string>) => ({
    recurring_credits: [{ ...granting(amount, terms), ...pack(products) }],
  });
const bought =
  (amount: number, price: number, terms: object = {}, contract: object = {}) =>
  (products: ReadonlyMap<string, string>) => ({
    recurring_commits: [{ ...granting(amount, terms), invoice_amount: cents(price), ...pack(products) }],
    ...contract,
  });

/** Sets the quantity of the only subscription from this day on. */
const seats =
  (on: string, quantity: number): NonNullable<Life['changes']>[string] =>
  async ({ api, customerId: customer_id, contractId: contract_id }) => {
    const contract = await api.post('/v2/contracts/get', { customer_id, contract_id });
    const subscription_id = contract.text('data.subscriptions[0].id');
    const quantity_updates = [{ quantity, starting_at: day(on) }];
    return api.post('/v2/contracts/edit', {
      ...{ customer_id, contract_id },
      update_subscriptions: [{ subscription_id, quantity_updates }],
    });
  };

export const RECURRING_LIVES: readonly Life[] = [
  {
    name: 'ten free cents a month, which are not carried over',
    products: at(2),
    contract: credit(10),
    uses: [
      ['01-10', 8],
      ['02-10', 3],
      ['03-10', 7],
    ],
    invoices: ['01 6: 5 × 2, -10, 3 × 2', '02 0: 3 × 2, -6', '03 4: 5 × 2, -10, 2 × 2'],
  },
  {
    name: 'a pack every quarter from the middle of January, and a quarter of one at the end',
    products: at(2),
    // 23 of 92 days are left of the last.
    contract: bought(30, 20, {
      ...{ starting_at: day('01-15'), ending_before: day('08-07'), recurrence_frequency: 'QUARTERLY' },
    }),
    uses: [
      ['01-10', 2],
      ['02-10', 10],
      ['03-10', 10],
      ['08-20', 10],
    ],
    invoices: [
      '01-15 20: 1 × 20',
      '01 4: 2 × 2',
      '02 0: 10 × 2, -20',
      '03 10: 5 × 2, -10, 5 × 2',
      '04-15 20: 1 × 20',
      '07-15 5: 1 × 5',
      '08 12.5: 3.75 × 2, -7.5, 6.25 × 2',
    ],
  },
  {
    name: 'parts of a credit in its first and its last month',
    products: at(1),
    // 16 of 31 days, 28 of 28, 10 of 31; the last can be used until its month ends.
    contract: credit(31, { starting_at: day('01-16'), ending_before: day('03-11') }),
    uses: [
      ['01-20', 20],
      ['02-10', 31],
      ['03-20', 15],
      ['04-05', 2],
    ],
    invoices: ['01 4: 16 × 1, -16, 4 × 1', '02 0: 31 × 1, -31', '03 5: 10 × 1, -10, 5 × 1', '04 2: 2 × 1'],
  },
  {
    name: 'four cents on each of three days',
    products: at(2),
    contract: credit(4, {
      ...{ starting_at: day('05-01'), ending_before: day('05-04'), recurrence_frequency: 'DAILY' },
    }),
    uses: [
      ['05-01', 1],
      ['05-02', 3],
      ['05-05', 1],
    ],
    invoices: ['05 4: 1 × 2, -2, 2 × 2, -4, 2 × 2'],
  },
  {
    name: 'credits for two months each: the older one pays first',
    products: at(1),
    contract: credit(10, { commit_duration: { value: 2 }, ending_before: day('04-01') }),
    uses: [
      ['01-10', 4],
      ['02-10', 8],
      ['03-10', 20],
    ],
    invoices: ['01 0: 4 × 1, -4', '02 0: 6 × 1, -6, 2 × 1, -2', '03 2: 8 × 1, -8, 10 × 1, -10, 2 × 1'],
  },
  {
    name: 'a smaller credit from the next month on',
    products: at(1),
    contract: credit(10),
    uses: [
      ['02-10', 12],
      ['03-20', 12],
      ['04-20', 12],
    ],
    changes: {
      '03-10': async ({ api, customerId, contractId }) => {
        const reference = { customer_id: customerId, contract_id: contractId };
        const contract = await api.post('/v2/contracts/get', reference);
        const recurring_credit_id = contract.text('data.recurring_credits[0].id');
        await api.post('/v2/contracts/edit', {
          ...{
            ...reference,
            update_recurring_credits: [{ recurring_credit_id, access_amount: { unit_price: 4 } }],
          },
        });
      },
    },
    invoices: ['02 2: 10 × 1, -10, 2 × 1', '03 2: 10 × 1, -10, 2 × 1', '04 8: 4 × 1, -4, 8 × 1'],
  },
  {
    name: 'a renewal in June carries half of that month',
    products: at(1),
    contract: credit(10, { rollover_fraction: 0.5 }),
    uses: [
      ['06-05', 3],
      ['06-20', 8],
      ['07-05', 2],
    ],
    changes: {
      '04-10': ({ api, customerId, contractId, cardId }) =>
        createdId(api, CONTRACTS, {
          ...{ customer_id: customerId, rate_card_id: cardId, starting_at: day('06-16') },
          transition: { type: 'RENEWAL', from_contract_id: contractId },
        }),
      '06-16': async () => undefined,
    },
    // The last child is half of a month, so 2.5 of its 5 roll over at most; 2 are left.
    invoices: ['06 0: 3 × 1, -3', '06-16 6: 2 × 1, -2, 6 × 1', '07 2: 2 × 1'],
  },
  {
    name: 'packs on the usage invoice that ends on their day',
    products: at(2),
    contract: bought(20, 5, { ending_before: day('03-01') }, { scheduled_charges_on_usage_invoices: 'ALL' }),
    uses: [
      ['01-10', 15],
      ['02-10', 3],
    ],
    invoices: ['01 5: 1 × 5', '01 15: 1 × 5, 10 × 2, -20, 5 × 2', '02 0: 3 × 2, -6'],
  },
  {
    name: 'half a pack in June, because the contract ends',
    products: at(1),
    contract: bought(30, 30, { starting_at: day('04-01') }),
    uses: [['06-05', 20]],
    changes: {
      '05-10': ({ api, customerId, contractId }) =>
        api.post('/v1/contracts/updateEndDate', {
          ...{ customer_id: customerId, contract_id: contractId, ending_before: day('06-16') },
        }),
      '06-16': async () => undefined,
    },
    invoices: ['04 30: 1 × 30', '05 30: 1 × 30', '06 15: 1 × 15', '06 5: 15 × 1, -15, 5 × 1'],
  },
  {
    name: 'ten cents for each seat, of which there are two, then three, then one',
    products: {
      ...at(1),
      Seat: {
        product: { type: 'SUBSCRIPTION', billable_metric_id: undefined },
        rates: [{ ...FOR_EVER, price: 0, billing_frequency: 'MONTHLY' }],
      },
    },
    contract: (products: ReadonlyMap<string, string>) => ({
      ...credit(10, {
        access_amount: { unit_price: 10, credit_type_id: USD_CENTS.id },
        subscription_config: {
          subscription_id: 'seats',
          apply_seat_increase_config: { is_prorated: false },
        },
        ending_before: day('04-01'),
      })(products),
      subscriptions: [
        {
          subscription_rate: { billing_frequency: 'MONTHLY', product_id: products.get('Seat') },
          ...{ collection_schedule: 'ADVANCE', initial_quantity: 2, temporary_id: 'seats' },
          ending_before: day('04-01'),
          proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        },
      ],
    }),
    uses: [
      ['01-05', 25],
      ['01-20', 12],
      ['02-20', 31],
      ['03-05', 12],
    ],
    changes: {
      '01-15': seats('01-15', 3),
      '02-10': seats('02-10', 1),
      // Grants that the decrease took away are not granted again.
      '02-15': seats('02-15', 3),
      '02-25': seats('02-25', 1),
    },
    // The third seat pays for nothing before 15 January.
    invoices: [
      '01 0: 2 × 0',
      '01 7: 20 × 1, -20, 5 × 1, 10 × 1, -10, 2 × 1, 1 × 0, 3 × 0',
      '02 1: 30 × 1, -30, 1 × 1, 1 × 0',
      '03 2: 10 × 1, -10, 2 × 1',
    ],
  },
];
