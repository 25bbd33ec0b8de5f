/**
 * Customers with one year of usage, and their invoices as computed by hand. Read a row as: what is sold at which
 * prices, under which terms, what was used on which days, what was changed, and what has to be on the invoices.
 * An invoice is its period, its total in cents, and the lines that are not zero, in their order.
 */
import { ADD_RATE, CONTRACTS, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { day, FOR_EVER, type Life } from './run-lives.ts';

const flat = (price: number, more: object = {}) => ({ price, ...more });
const tiers = (...steps: readonly (readonly [size: number | null, price: number])[]) => ({
  rate_type: 'TIERED',
  tiers: steps.map(([size, price]) => (size === null ? { price } : { size, price })),
});
const at = (price: number) => ({ Work: { rates: [flat(price)] } });
const since = (start: string) => ({ starting_at: day(start) });
const until = (end: string) => ({ ending_before: day(end) });
const override = (terms: object) => ({ overrides: [{ ...since('01-01'), ...terms }] });
const BY_MODEL = { pricing_group_key: ['model'] };
const model = (name: string) => ({ pricing_group_values: { model: name } });
const monthly = (terms: object) => ({ usage_statement_schedule: { frequency: 'MONTHLY', ...terms } });

/** Days on which what was used before is sent, because a billing period ends. */
const sentBy = (...days: readonly string[]) =>
  Object.fromEntries(days.map((one) => [one, async () => undefined]));

const TIERS = tiers([10, 3], [null, 1]);

export const LIVES: readonly Life[] = [
  {
    name: 'a flat price, month by month',
    products: at(2),
    uses: [
      ['01-10', 5],
      ['02-10', 7],
      ['12-31', 1],
    ],
    invoices: ['01 10: 5 × 2', '02 14: 7 × 2', '12 2: 1 × 2'],
  },
  {
    name: 'tiers begin again every month',
    products: { Work: { rates: [TIERS] } },
    uses: [
      ['03-02', 8],
      ['03-20', 6],
      ['04-02', 4],
    ],
    invoices: ['03 34: 10 × 3, 4 × 1', '04 12: 4 × 3'],
  },
  {
    name: 'one event through three tiers',
    products: { Work: { rates: [tiers([10, 5], [20, 3], [null, 1])] } },
    uses: [['05-05', 50]],
    invoices: ['05 130: 10 × 5, 20 × 3, 20 × 1'],
  },
  {
    name: 'a correction walks back down the tiers',
    products: { Work: { rates: [TIERS] } },
    uses: [
      ['02-03', 12],
      ['02-10', -4],
    ],
    invoices: ['02 24: 8 × 3'],
  },
  {
    name: 'a correction of the month before is negative',
    products: at(2),
    uses: [
      ['06-10', 5],
      ['07-02', -3],
    ],
    invoices: ['06 10: 5 × 2', '07 -6: -3 × 2'],
  },
  {
    name: 'a new price inside a month',
    products: { Work: { rates: [flat(2), flat(3, since('02-15'))] } },
    uses: [
      ['02-10', 10],
      ['02-20', 10],
    ],
    invoices: ['02 50: 10 × 2, 10 × 3'],
  },
  {
    name: 'a price for ten days, then the old one',
    products: { Work: { rates: [flat(2), flat(1, { ...since('03-10'), ...until('03-20') })] } },
    uses: [
      ['03-05', 1],
      ['03-15', 1],
      ['03-25', 1],
    ],
    invoices: ['03 5: 1 × 2, 1 × 1, 1 × 2'],
  },
  {
    name: 'new tiers go on where the old ones were',
    products: { Work: { rates: [TIERS, { ...tiers([10, 6], [null, 2]), ...since('02-15') }] } },
    uses: [
      ['02-10', 8],
      ['02-20', 6],
    ],
    invoices: ['02 44: 8 × 3, 2 × 6, 4 × 2'],
  },
  {
    name: 'half the list price',
    products: at(4),
    contract: override({ type: 'MULTIPLIER', multiplier: 0.5 }),
    uses: [['06-05', 10]],
    invoices: ['06 20: 10 × 2'],
  },
  {
    name: 'the smallest of two multipliers',
    products: at(10),
    contract: {
      overrides: [0.9, 0.8].map((multiplier) => ({ ...since('01-01'), type: 'MULTIPLIER', multiplier })),
    },
    uses: [['06-05', 10]],
    invoices: ['06 80: 10 × 8'],
  },
  {
    name: 'a price of its own from the middle of July',
    products: at(4),
    contract: (products) =>
      override({
        ...{ ...since('07-16'), type: 'OVERWRITE', product_id: products.get('Work') },
        overwrite_rate: { rate_type: 'FLAT', price: 1 },
      }),
    uses: [
      ['07-10', 5],
      ['07-20', 5],
    ],
    invoices: ['07 25: 5 × 4, 5 × 1'],
  },
  {
    name: 'the first five at half price',
    products: at(4),
    contract: {
      multiplier_override_prioritization: 'EXPLICIT',
      ...override({ type: 'TIERED', priority: 1, tiers: [{ size: 5, multiplier: 0.5 }] }),
    },
    uses: [['08-05', 8]],
    invoices: ['08 22: 5 × 2, 3 × 4'],
  },
  {
    name: 'one model at half price',
    products: { Work: { product: BY_MODEL, rates: [flat(2, model('a')), flat(3, model('b'))] } },
    contract: (products) =>
      override({
        ...{ type: 'MULTIPLIER', multiplier: 0.5 },
        override_specifiers: [{ product_id: products.get('Work'), ...model('a') }],
      }),
    uses: [
      ['09-05', 4, 'a'],
      ['09-05', 4, 'b'],
    ],
    invoices: ['09 16: 4 × 1, 4 × 3'],
  },
  {
    name: 'not entitled from the middle of April',
    products: at(2),
    contract: override({ ...since('04-16'), entitled: false }),
    uses: [
      ['04-05', 5],
      ['04-20', 100],
      ['05-20', 100],
    ],
    invoices: ['04 10: 5 × 2'],
  },
  {
    name: 'usage of a model without a price is left out',
    products: { Work: { product: BY_MODEL, rates: [flat(2, model('a'))] } },
    uses: [
      ['09-05', 4, 'a'],
      ['09-05', 9, 'b'],
    ],
    invoices: ['09 8: 4 × 2'],
  },
  {
    name: 'a usage filter, and another one from April on',
    products: at(2),
    contract: { usage_filter: { group_key: 'model', group_values: ['a'], ...since('01-01') } },
    uses: [
      ['03-05', 5, 'a'],
      ['03-06', 7, 'b'],
      ['04-05', 5, 'a'],
      ['04-06', 7, 'b'],
    ],
    changes: {
      '03-20': ({ api, customerId, contractId }) =>
        api.post('/v1/contracts/setUsageFilter', {
          ...{ customer_id: customerId, contract_id: contractId, ...since('04-01') },
          ...{ group_key: 'model', group_values: ['b'] },
        }),
    },
    invoices: ['03 10: 5 × 2', '04 14: 7 × 2'],
  },
  {
    name: 'another metric in the middle of May',
    products: at(2),
    uses: [
      ['05-05', 10],
      ['05-20', 10],
      ['05-21', 10],
    ],
    changes: {
      '05-10': ({ api, products, metrics }) =>
        api.post('/v1/contract-pricing/products/update', {
          ...{
            product_id: products.get('Work'),
            billable_metric_id: metrics.get('count'),
            ...since('05-16'),
          },
        }),
    },
    invoices: ['05 24: 10 × 2, 2 × 2'],
  },
  {
    name: 'thousands, rounded up once for the month',
    products: {
      Work: {
        product: {
          quantity_conversion: { conversion_factor: 1000, operation: 'DIVIDE' },
          quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 0 },
        },
        rates: [flat(7)],
      },
    },
    uses: [
      ['06-05', 1_500],
      ['06-10', 400],
    ],
    invoices: ['06 14: 2 × 7'],
  },
  {
    name: 'the highest value',
    products: { Work: { metric: 'max', rates: [flat(2)] } },
    uses: [
      ['05-05', 5],
      ['05-10', 9],
      ['05-15', 3],
    ],
    invoices: ['05 18: 9 × 2'],
  },
  {
    name: 'the last value, which fell',
    products: { Work: { metric: 'latest', rates: [flat(2)] } },
    uses: [
      ['06-05', 9],
      ['06-10', 4],
    ],
    invoices: ['06 8: 4 × 2'],
  },
  {
    name: 'different values, every month anew',
    products: { Work: { metric: 'unique', rates: [flat(2)] } },
    uses: [
      ['05-05', 1],
      ['05-06', 2],
      ['05-07', 1],
      ['06-05', 1],
    ],
    invoices: ['05 4: 2 × 2', '06 2: 1 × 2'],
  },
  {
    name: 'a SQL metric',
    products: { Work: { metric: 'query', rates: [flat(2)] } },
    uses: [
      ['04-05', 5],
      ['04-10', 9],
    ],
    invoices: ['04 18: 9 × 2'],
  },
  {
    name: 'support of ten percent',
    products: {
      Work: { rates: [flat(2)] },
      Support: { product: { parts: ['Work'] }, rates: [{ rate_type: 'PERCENTAGE', price: 0.1 }] },
    },
    uses: [['07-05', 50]],
    invoices: ['07 110: 50 × 2, 100 × 0.1'],
  },
  {
    name: 'support of at least eight cents, for two months',
    products: {
      Work: { rates: [flat(2)] },
      Support: {
        product: { parts: ['Work'] },
        rates: [{ rate_type: 'PERCENTAGE', price: 0.1, minimum_config: { minimum: 8 } }],
      },
    },
    contract: { ...since('08-01'), ...until('10-01') },
    uses: [
      ['08-05', 10],
      ['09-05', 50],
    ],
    // 10 % of 20 are 2, so 6 are missing; 10 % of 100 are enough.
    invoices: ['08 28: 10 × 2, 20 × 0.1, 1 × 6', '09 110: 50 × 2, 100 × 0.1'],
  },
  {
    name: 'credits worth two and a half cents',
    products: { Work: { rates: [] } },
    card: async (api) => {
      const custom_credit_type_id = await createdId(api, '/v1/credit-types/create', {
        name: 'Credits of a life',
      });
      return { credit_type_conversions: [{ custom_credit_type_id, fiat_per_custom_credit: 2.5 }] };
    },
    uses: [['03-05', 4]],
    changes: {
      '02-02': async ({ api, cardId, products }) => {
        const units = await api.get('/v1/credit-types/list', { query: { limit: 100 } });
        const credits = units
          .list('data')
          .findIndex((_, index) => units.at(`data[${index}].name`) === 'Credits of a life');
        await api.post(ADD_RATE, {
          ...{ rate_card_id: cardId, product_id: products.get('Work'), ...FOR_EVER, price: 3 },
          credit_type_id: units.text(`data[${credits}].id`),
        });
      },
    },
    invoices: ['03 30: 4 × 3, 12 × 2.5'],
  },
  {
    name: 'quarters',
    products: { Work: { rates: [TIERS] } },
    contract: monthly({ frequency: 'QUARTERLY' }),
    uses: [
      ['02-05', 8],
      ['03-05', 8],
      ['05-05', 7],
    ],
    invoices: ['01 36: 10 × 3, 6 × 1', '04 21: 7 × 3'],
  },
  {
    name: 'a year',
    products: { Work: { rates: [TIERS] } },
    contract: monthly({ frequency: 'ANNUAL' }),
    uses: [
      ['02-05', 8],
      ['11-05', 7],
    ],
    invoices: ['01 35: 10 × 3, 5 × 1'],
  },
  {
    name: 'three weeks',
    products: at(2),
    contract: { ...since('01-05'), ...until('01-26'), ...monthly({ frequency: 'WEEKLY' }) },
    uses: [
      ['01-06', 1],
      ['01-13', 2],
      ['01-20', 3],
      ['01-27', 100],
    ],
    changes: sentBy('01-12', '01-19'),
    invoices: ['01-05 2: 1 × 2', '01-12 4: 2 × 2', '01-19 6: 3 × 2'],
  },
  {
    name: 'months from the 31st, or the last day of a shorter one',
    products: at(2),
    contract: { ...until('03-31'), ...monthly({ day: 'CUSTOM_DATE', billing_anchor_date: day('01-31') }) },
    uses: [
      ['01-30', 1],
      ['01-31', 2],
      ['02-27', 3],
      ['02-28', 4],
      ['03-30', 5],
    ],
    changes: sentBy('01-31', '02-28'),
    invoices: ['01 2: 1 × 2', '01-31 10: 5 × 2', '02-28 18: 9 × 2'],
  },
  {
    name: 'an earlier end',
    products: at(2),
    uses: [
      ['06-10', 5],
      ['06-14', 1],
      ['06-20', 100],
    ],
    changes: {
      '06-01': ({ api, customerId, contractId }) =>
        api.post('/v1/contracts/updateEndDate', {
          ...{ customer_id: customerId, contract_id: contractId, ...until('06-15') },
        }),
      ...sentBy('06-15'),
    },
    invoices: ['06 12: 6 × 2'],
  },
  {
    name: 'a renewal at another price',
    products: at(2),
    uses: [
      ['07-10', 5],
      ['08-10', 5],
    ],
    changes: {
      '07-20': ({ api, customerId, contractId, cardId }) =>
        createdId(api, CONTRACTS, {
          ...{ customer_id: customerId, rate_card_id: cardId, ...since('08-01') },
          transition: { type: 'RENEWAL', from_contract_id: contractId },
          ...{ overrides: [{ ...since('08-01'), type: 'MULTIPLIER', multiplier: 1.5 }] },
        }),
    },
    invoices: ['07 10: 5 × 2', '08 15: 5 × 3'],
  },
  {
    name: 'fees on dates of their own',
    products: at(2),
    uses: [['04-10', 5]],
    changes: {
      '02-10': async ({ api, customerId, contractId }) =>
        api.post('/v2/contracts/edit', {
          ...{ customer_id: customerId, contract_id: contractId },
          add_scheduled_charges: [
            {
              product_id: await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' }),
              schedule: {
                recurring_schedule: {
                  ...{ ...since('03-05'), ...until('06-05'), frequency: 'MONTHLY' },
                  ...{ amount: 100, amount_distribution: 'DIVIDED_ROUNDED' },
                },
              },
            },
          ],
        }),
    },
    invoices: ['03-05 33: 1 × 33', '04-05 33: 1 × 33', '04 10: 5 × 2', '05-05 34: 1 × 34'],
  },
  {
    name: 'a fee on the invoice of the month that ends on its day',
    products: at(2),
    contract: { scheduled_charges_on_usage_invoices: 'ALL' },
    uses: [['04-10', 5]],
    changes: {
      '02-10': async ({ api, customerId, contractId }) =>
        api.post('/v2/contracts/edit', {
          ...{ customer_id: customerId, contract_id: contractId },
          add_scheduled_charges: [
            {
              product_id: await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' }),
              schedule: { schedule_items: [{ timestamp: day('05-01'), amount: 500 }] },
            },
          ],
        }),
    },
    invoices: ['04 510: 1 × 500, 5 × 2'],
  },
  {
    name: 'voided, and regenerated with what came late',
    products: at(2),
    uses: [['02-10', 5]],
    changes: {
      '03-10': async ({ api, send, invoiceId }) => {
        await send(['02-12', 3]);
        const id = await invoiceId('02-01');
        await api.post('/v1/invoices/void', { id });
        await api.post('/v1/invoices/regenerate', { id });
      },
    },
    invoices: ['02 16: 8 × 2', '02 VOID 10: 5 × 2'],
  },
  {
    name: 'late usage is told and not billed',
    tellsLate: true,
    products: at(2),
    uses: [['04-10', 5]],
    changes: { '05-10': ({ send }) => send(['04-12', 3]) },
    invoices: ['04 10: 5 × 2; late 3 = 6'],
  },
];
