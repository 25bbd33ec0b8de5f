/**
 * Customers with commits and credits over one quarter. Invoices and ledgers are computed by hand. Work costs 2 cents, 1
 * at the commit rate; points cost 3 of a unit that is worth 2.5 cents. Access is the quarter unless a row says otherwise.
 */
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { type BalanceScenario, type Buyer, day, type Shop } from './run-balances.ts';

type More = Readonly<Record<string, unknown>>;
type Segment = readonly [amount: number, from: string, until: string];

const quarter = (amount: number): Segment => [amount, '01-01', '04-01'];
const granting = (...segments: readonly Segment[]) => ({
  access_schedule: {
    schedule_items: segments.map(([amount, from, until]) => ({
      ...{ amount, starting_at: day(from), ending_before: day(until) },
    })),
  },
});
const paid = (amount: number, on: string) => ({
  invoice_schedule: { schedule_items: [{ amount, timestamp: day(on) }] },
});
const prepaid = ({ feeId }: Shop, amount: number, more: More = {}) => ({
  ...{ type: 'PREPAID', name: 'Bought', product_id: feeId, ...granting(quarter(amount)), ...more },
});
const postpaid = ({ feeId }: Shop, amount: number, more: More = {}) => ({
  ...{ type: 'POSTPAID', name: 'Minimum', product_id: feeId, ...granting(quarter(amount)) },
  ...{ ...paid(amount, '04-01'), ...more },
});
const credit = ({ feeId }: Shop, amount: number, more: More = {}) => ({
  ...{ name: 'Trial', product_id: feeId, ...granting(quarter(amount)), ...more },
});
const trial = (amount: number, more?: More) => (shop: Shop) => ({ credits: [credit(shop, amount, more)] });
const bought = (amount: number, more?: More) => (shop: Shop) => ({ commits: [prepaid(shop, amount, more)] });
const minimum = (amount: number, more?: More) => (shop: Shop) => ({
  commits: [postpaid(shop, amount, more)],
});

/** The commit or credit of the buyer, and the segment with this number. */
async function balanceOf({ api, customerId }: Buyer, segment = 0) {
  const found = await api.post('/v1/contracts/customerBalances/list', {
    ...{ customer_id: customerId, include_contract_balances: true },
  });
  return {
    id: found.text('data[0].id'),
    segmentId: found.text(`data[0].access_schedule.schedule_items[${segment}].id`),
  };
}

const byHand = (amount: number) => async (buyer: Buyer) => {
  const { id, segmentId } = await balanceOf(buyer);
  await buyer.api.post('/v1/contracts/addManualBalanceLedgerEntry', {
    ...{ customer_id: buyer.customerId, contract_id: buyer.contractId, id, segment_id: segmentId },
    ...{ amount, reason: 'by hand' },
  });
};

const resize = (kind: 'commit' | 'credit', amount: number) => async (buyer: Buyer) => {
  const { id, segmentId } = await balanceOf(buyer);
  const access_schedule = { update_schedule_items: [{ id: segmentId, amount }] };
  await buyer.api.post('/v2/contracts/edit', {
    ...{ customer_id: buyer.customerId, contract_id: buyer.contractId },
    [`update_${kind}s`]: [{ [`${kind}_id`]: id, access_schedule }],
  });
};

const onInvoice =
  (what: 'void' | 'regenerate', type: 'USAGE' | 'SCHEDULED') =>
  async ({ api, customerId }: Buyer) => {
    const query = { type, status: what === 'void' ? 'FINALIZED' : 'VOID' };
    const found = await api.get(`/v1/customers/${customerId}/invoices`, { query });
    await api.post(`/v1/invoices/${what}`, { id: found.text('data[0].id') });
  };

/** A credit of the customer. */
const shared =
  (amount: number, more: (buyer: Buyer) => More = () => ({})) =>
  (buyer: Buyer) =>
    createdId(buyer.api, '/v1/contracts/customerCredits/create', {
      ...{ ...credit(buyer, amount), customer_id: buyer.customerId, name: 'Shared', priority: 1 },
      ...more(buyer),
    });

/** A second contract, for the same usage. */
const another =
  (from: string, more: (buyer: Buyer) => More = () => ({})) =>
  (buyer: Buyer) =>
    createdId(buyer.api, CONTRACTS, {
      ...{ customer_id: buyer.customerId, rate_card_id: buyer.cardId, starting_at: day(from) },
      ...more(buyer),
    });
const renewed = another('03-01', ({ contractId }) => ({
  transition: { type: 'RENEWAL', from_contract_id: contractId },
}));

export const BALANCE_SCENARIOS: readonly BalanceScenario[] = [
  {
    name: 'a purchased commit pays until it is empty',
    terms: bought(30, paid(25, '01-15')),
    uses: [
      ['01-10', 10],
      ['02-10', 10],
    ],
    invoices: ['01 0: 10 × 2 by Bought', 'S 01-15 25: 25 Bought', '02 10: 5 × 2 by Bought, 5 × 2'],
    ledgers: ['Bought start 30 01-01, used -20 02-01, used -10 03-01'],
  },
  {
    name: 'what is left expires',
    terms: bought(30, granting([30, '01-01', '02-15'])),
    uses: [['01-10', 5]],
    invoices: ['01 0: 5 × 2 by Bought'],
    ledgers: ['Bought start 30 01-01, used -10 02-01, expired -20 02-15'],
  },
  {
    name: 'usage after the end of access is not covered, in the same month too',
    terms: bought(30, granting([30, '01-01', '02-15'])),
    uses: [
      ['02-10', 5],
      ['02-20', 5],
    ],
    invoices: ['02 10: 5 × 2 by Bought, 5 × 2'],
    ledgers: ['Bought start 30 01-01, used -10 02-15, expired -20 02-15'],
  },
  {
    name: 'a balance is used up to a part of a unit',
    terms: trial(5),
    uses: [['01-10', 4]],
    invoices: ['01 3: 2.5 × 2 by Trial, 1.5 × 2'],
    ledgers: ['Trial start 5 01-01, used -5 02-01'],
  },
  {
    name: 'what was free pays before what was paid',
    terms: (shop) => ({ commits: [prepaid(shop, 20, paid(20, '01-05'))], credits: [credit(shop, 10)] }),
    uses: [['01-10', 8]],
    invoices: ['01 0: 5 × 2 by Trial, 3 × 2 by Bought', 'S 01-05 20: 20 Bought'],
    ledgers: [
      'Bought start 20 01-01, used -6 02-01, expired -14 04-01',
      'Trial start 10 01-01, used -10 02-01',
    ],
  },
  {
    name: 'priority decides before the cost',
    terms: (shop) => ({
      commits: [prepaid(shop, 20, { ...paid(20, '01-05'), priority: 10 })],
      credits: [credit(shop, 10, { priority: 50 })],
    }),
    uses: [['01-10', 8]],
    invoices: ['01 0: 8 × 2 by Bought', 'S 01-05 20: 20 Bought'],
    ledgers: [
      'Bought start 20 01-01, used -16 02-01, expired -4 04-01',
      'Trial start 10 01-01, expired -10 04-01',
    ],
  },
  {
    name: 'amounts do not move between segments',
    terms: bought(0, granting([10, '01-01', '02-01'], [10, '02-01', '03-01'])),
    uses: [
      ['01-10', 8],
      ['02-10', 2],
    ],
    invoices: ['01 6: 5 × 2 by Bought, 3 × 2', '02 0: 2 × 2 by Bought'],
    ledgers: ['Bought start 10 01-01, start 10 02-01, used -10 02-01, used -4 03-01, expired -6 03-01'],
  },
  {
    name: 'what usage leaves of a commitment is billed',
    terms: minimum(100),
    uses: [['01-10', 10]],
    invoices: ['01 20: 10 × 2 by Minimum', 'S 04-01 80: 80 Minimum'],
    ledgers: ['Minimum start 100 01-01, used -20 02-01, trueup -80 04-01'],
  },
  {
    name: 'a commitment that is exceeded has no true-up',
    terms: minimum(15),
    uses: [['01-10', 10]],
    invoices: ['01 20: 7.5 × 2 by Minimum, 2.5 × 2'],
    ledgers: ['Minimum start 15 01-01, used -15 02-01'],
  },
  {
    name: 'a commitment is lowered by hand',
    terms: minimum(100),
    uses: [['01-10', 10]],
    changes: { '01-20': byHand(-30) },
    invoices: ['01 20: 10 × 2 by Minimum', 'S 04-01 50: 50 Minimum'],
    ledgers: ['Minimum start 100 01-01, manual -30 01-01, used -20 02-01, trueup -50 04-01'],
  },
  {
    name: 'a true-up is disabled',
    terms: minimum(100),
    uses: [['01-10', 10]],
    changes: {
      '02-05': async (buyer) =>
        buyer.api.post('/v1/contracts/commits/disableTrueup', {
          ...{ customer_id: buyer.customerId, contract_id: buyer.contractId },
          commit_id: (await balanceOf(buyer)).id,
        }),
    },
    invoices: ['01 20: 10 × 2 by Minimum'],
    ledgers: ['Minimum start 100 01-01, used -20 02-01, expired -80 04-01'],
  },
  {
    name: 'a true-up is billed at the end of a contract that ends early',
    terms: minimum(100),
    uses: [['01-10', 10]],
    changes: {
      '02-05': ({ api, customerId, contractId }) =>
        api.post('/v1/contracts/updateEndDate', {
          ...{ customer_id: customerId, contract_id: contractId, ending_before: day('03-01') },
        }),
    },
    invoices: ['01 20: 10 × 2 by Minimum', 'S 03-01 80: 80 Minimum'],
    ledgers: ['Minimum start 100 01-01, used -20 02-01, trueup -80 03-01'],
  },
  {
    name: 'a commitment comes last, whatever its priority',
    terms: (shop) => ({
      commits: [postpaid(shop, 50, { priority: 1 }), prepaid(shop, 10, { priority: 1000 })],
    }),
    uses: [['01-10', 10]],
    invoices: ['01 10: 5 × 2 by Bought, 5 × 2 by Minimum', 'S 04-01 40: 40 Minimum'],
    ledgers: [
      'Bought start 10 01-01, used -10 02-01',
      'Minimum start 50 01-01, used -10 02-01, trueup -40 04-01',
    ],
  },
  {
    name: 'a commit for one product',
    terms: (shop) => ({ commits: [prepaid(shop, 30, { applicable_product_ids: [shop.workId] })] }),
    uses: [
      ['01-10', 5],
      ['01-11', 2, 'points'],
    ],
    invoices: ['01 15: 5 × 2 by Bought, 2 × 3, 6 × 2.5'],
    ledgers: ['Bought start 30 01-01, used -10 02-01, expired -20 04-01'],
  },
  {
    name: 'a credit in a custom unit pays before the conversion',
    terms: (shop) => {
      const { schedule_items } = granting(quarter(3)).access_schedule;
      return {
        credits: [credit(shop, 3, { access_schedule: { credit_type_id: shop.unitId, schedule_items } })],
      };
    },
    uses: [['01-10', 2, 'points']],
    invoices: ['01 7.5: 1 × 3 by Trial, 1 × 3, 3 × 2.5'],
    ledgers: ['Trial start 3 01-01, used -3 02-01'],
  },
  {
    name: 'a credit in the currency pays for a part of the conversion',
    terms: trial(10),
    uses: [['01-10', 2, 'points']],
    invoices: ['01 5: 2 × 3, 4 × 2.5 by Trial, 2 × 2.5'],
    ledgers: ['Trial start 10 01-01, used -10 02-01'],
  },
  {
    name: 'work is paid before the conversion',
    terms: trial(20),
    uses: [
      ['01-10', 5],
      ['01-05', 2, 'points'],
    ],
    invoices: ['01 5: 5 × 2 by Trial, 2 × 3, 4 × 2.5 by Trial, 2 × 2.5'],
    ledgers: ['Trial start 20 01-01, used -20 02-01'],
  },
  {
    name: 'a commit counts at its commit rate, the rest costs the list price',
    terms: bought(10, { rate_type: 'COMMIT_RATE' }),
    uses: [['01-10', 20]],
    invoices: ['01 20: 10 × 1 by Bought, 10 × 2'],
    ledgers: ['Bought start 10 01-01, used -10 02-01'],
  },
  {
    name: 'a commitment at its commit rate is due at that rate',
    terms: minimum(50, { rate_type: 'COMMIT_RATE' }),
    uses: [['01-10', 20]],
    invoices: ['01 20: 20 × 1 by Minimum', 'S 04-01 30: 30 Minimum'],
    ledgers: ['Minimum start 50 01-01, used -20 02-01, trueup -30 04-01'],
  },
  {
    name: 'two contracts share a credit of the customer',
    uses: [
      ['01-10', 5],
      ['02-10', 5],
    ],
    changes: { '01-02': shared(30), '01-20': another('02-01') },
    invoices: ['01 0: 5 × 2 by Shared', '02 0: 5 × 2 by Shared', '02 0: 5 × 2 by Shared'],
    ledgers: ['Shared start 30 01-01, used -10 02-01, used -10 03-01, used -10 03-01'],
  },
  {
    name: 'the second contract gets what the first one leaves',
    uses: [['02-10', 5]],
    changes: { '01-02': shared(15), '01-20': another('02-01') },
    invoices: ['02 0: 5 × 2 by Shared', '02 5: 2.5 × 2 by Shared, 2.5 × 2'],
    ledgers: ['Shared start 15 01-01, used -10 03-01, used -5 03-01'],
  },
  {
    name: 'a credit of the customer for one contract',
    uses: [['02-10', 5]],
    changes: {
      '01-02': shared(30, ({ contractId }) => ({ applicable_contract_ids: [contractId] })),
      '01-20': another('02-01'),
    },
    invoices: ['02 0: 5 × 2 by Shared', '02 10: 5 × 2'],
    ledgers: ['Shared start 30 01-01, used -10 03-01, expired -20 04-01'],
  },
  {
    name: 'an amount is raised before the invoice',
    terms: trial(10),
    uses: [['01-10', 10]],
    changes: { '01-20': resize('credit', 16) },
    invoices: ['01 4: 8 × 2 by Trial, 2 × 2'],
    ledgers: ['Trial start 16 01-01, used -16 02-01'],
  },
  {
    name: 'an amount is raised after the invoice, which stays',
    terms: trial(10),
    uses: [
      ['01-10', 8],
      ['02-10', 5],
    ],
    changes: { '02-05': resize('credit', 30) },
    invoices: ['01 6: 5 × 2 by Trial, 3 × 2', '02 0: 5 × 2 by Trial'],
    ledgers: ['Trial start 30 01-01, used -10 02-01, used -10 03-01, expired -10 04-01'],
  },
  {
    name: 'a segment of the past is raised, and more of it expires',
    terms: bought(0, granting([10, '01-01', '02-01'], [10, '02-01', '03-01'])),
    uses: [['01-10', 3]],
    changes: { '02-05': resize('commit', 14) },
    invoices: ['01 0: 3 × 2 by Bought'],
    ledgers: ['Bought start 14 01-01, start 10 02-01, used -6 02-01, expired -8 02-01, expired -10 03-01'],
  },
  {
    name: 'a credit that is archived pays until then',
    terms: trial(30),
    uses: [
      ['01-10', 5],
      ['01-25', 2],
    ],
    changes: {
      '01-20': async (buyer) =>
        buyer.api.post('/v2/contracts/credits/archive', {
          customer_id: buyer.customerId,
          credit_id: (await balanceOf(buyer)).id,
        }),
    },
    invoices: ['01 4: 5 × 2 by Trial, 2 × 2'],
    ledgers: ['Trial start 30 01-01, used -10 01-20, canceled -20 01-20'],
  },
  {
    name: 'access that is shortened covers no later month',
    uses: [
      ['01-10', 5],
      ['02-10', 5],
    ],
    changes: {
      '01-02': shared(30),
      '01-20': async (buyer) =>
        buyer.api.post('/v1/contracts/customerCredits/updateEndDate', {
          ...{ customer_id: buyer.customerId, credit_id: (await balanceOf(buyer)).id },
          access_ending_before: day('02-01'),
        }),
    },
    invoices: ['01 0: 5 × 2 by Shared', '02 10: 5 × 2'],
    ledgers: ['Shared start 30 01-01, used -10 02-01, expired -20 02-01'],
  },
  {
    name: 'an entry by hand adds to a credit',
    terms: trial(10),
    uses: [['01-10', 8]],
    changes: { '01-20': byHand(6) },
    invoices: ['01 0: 8 × 2 by Trial'],
    ledgers: ['Trial start 10 01-01, manual 6 01-01, used -16 02-01'],
  },
  {
    name: 'a voided invoice gives back, and the next one takes it',
    terms: trial(20),
    uses: [
      ['01-10', 8],
      ['02-10', 8],
    ],
    changes: { '02-05': onInvoice('void', 'USAGE') },
    invoices: ['01 VOID 0: 8 × 2 by Trial', '02 0: 8 × 2 by Trial'],
    ledgers: ['Trial start 20 01-01, used -16 02-01, credited 16 02-05, used -16 03-01, expired -4 04-01'],
  },
  {
    name: 'a regenerated invoice takes what is left then',
    terms: trial(20),
    uses: [
      ['01-10', 8],
      ['02-10', 8],
    ],
    changes: { '02-05': onInvoice('void', 'USAGE'), '03-05': onInvoice('regenerate', 'USAGE') },
    invoices: ['01 12: 2 × 2 by Trial, 6 × 2', '01 VOID 0: 8 × 2 by Trial', '02 0: 8 × 2 by Trial'],
    ledgers: ['Trial start 20 01-01, used -16 02-01, used -4 02-01, credited 16 02-05, used -16 03-01'],
  },
  {
    name: 'a voided purchase cancels what is left',
    terms: bought(50, paid(40, '01-15')),
    uses: [
      ['01-10', 5],
      ['02-03', 5],
      ['02-20', 5],
    ],
    changes: { '02-05': onInvoice('void', 'SCHEDULED') },
    invoices: ['01 0: 5 × 2 by Bought', 'S 01-15 VOID 40: 40 Bought', '02 10: 5 × 2 by Bought, 5 × 2'],
    ledgers: ['Bought start 50 01-01, used -10 02-01, used -10 02-05, canceled -30 02-05'],
  },
  {
    name: 'a regenerated purchase can be used again',
    terms: bought(50, paid(40, '01-15')),
    uses: [
      ['01-10', 5],
      ['02-20', 10],
    ],
    changes: { '02-05': onInvoice('void', 'SCHEDULED'), '02-25': onInvoice('regenerate', 'SCHEDULED') },
    invoices: [
      '01 0: 5 × 2 by Bought',
      'S 01-15 VOID 40: 40 Bought',
      '02 0: 10 × 2 by Bought',
      'S 02-25 40: 40 Bought',
    ],
    ledgers: ['Bought start 50 01-01, used -10 02-01, used -20 03-01, expired -20 04-01'],
  },
  {
    name: 'the end of the contract ends access',
    terms: (shop) => ({ ...bought(30)(shop), ending_before: day('03-01') }),
    uses: [['01-10', 5]],
    invoices: ['01 0: 5 × 2 by Bought'],
    ledgers: ['Bought start 30 01-01, used -10 02-01, expired -20 03-01'],
  },
  {
    name: 'half of the amount rolls over, and the rest expires',
    terms: (shop) => ({ ...bought(40, { rollover_fraction: 0.5 })(shop), ending_before: day('03-01') }),
    uses: [
      ['01-10', 5],
      ['03-10', 6],
    ],
    changes: { '02-05': renewed },
    invoices: ['01 0: 5 × 2 by Bought', '03 0: 6 × 2 by Bought'],
    ledgers: [
      'Bought start 20 03-01, used -12 04-01',
      'Bought start 40 01-01, used -10 02-01, rolled -20 03-01, expired -10 03-01',
    ],
  },
  {
    name: 'no more rolls over than is left',
    terms: (shop) => ({ ...bought(40, { rollover_fraction: 0.5 })(shop), ending_before: day('03-01') }),
    uses: [
      ['01-10', 15],
      ['03-10', 6],
    ],
    changes: { '02-05': renewed },
    invoices: ['01 0: 15 × 2 by Bought', '03 2: 5 × 2 by Bought, 1 × 2'],
    ledgers: [
      'Bought start 10 03-01, used -10 04-01',
      'Bought start 40 01-01, used -30 02-01, rolled -10 03-01',
    ],
  },
];
