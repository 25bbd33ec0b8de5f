/** Subscriptions on invoices: where their charges are placed, when they are issued, and what changes of the past bill. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-01T00:00:00Z' });
const { api } = service;
/** A seat is 2,000 cents a month, a token 10. */
const catalogue = await createTermsCatalogue(api);

let year = 2025;
let customer = '';
let contract = '';
/** Every test has its own year. */
beforeEach(async () => {
  year += 1;
  customer = await createdId(api, '/v1/customers', { name: `Customer of ${year}` });
  await service.moveClock(date('01-01'));
});

/** The next test moves the clock, and is not to wait for the invoices of this one. */
afterEach(async () => {
  await api.post('/v1/contracts/archive', {
    customer_id: customer,
    contract_id: contract,
    void_invoices: false,
  });
});

/** `02-11` or `02-11T05`. */
function date(text: string): string {
  const [day = '', hour = '00'] = text.split('T');
  return `${year}-${day}T${hour}:00:00.000Z`;
}

/** The findings of the reconciliation of the customer's invoices. */
async function findings(): Promise<readonly string[]> {
  const range = { starting_on: date('01-01'), ending_before: date('12-31') };
  const { differences, unchecked } = await reconcile(api, { ...range, customer_id: customer });
  return [...differences, ...unchecked];
}

const subscription = (change: object = {}) => ({
  subscription_rate: { billing_frequency: 'MONTHLY', product_id: catalogue.seats },
  collection_schedule: 'ADVANCE',
  proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
  initial_quantity: 10,
  ...change,
});

async function contractWith(subscriptions: readonly object[], terms: object = {}): Promise<void> {
  contract = await createdId(api, '/v1/contracts/create', {
    customer_id: customer,
    rate_card_id: catalogue.card,
    starting_at: date('01-01'),
    usage_statement_schedule: { frequency: 'MONTHLY' },
    subscriptions,
    ...terms,
  });
}

async function edit(change: object): Promise<void> {
  const answer = await api.get(`/v1/customers/${customer}/invoices`);
  expect(answer.status).toBe(200);
  const { body } = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
  const [first] = (body as { data: { subscriptions: { id: string }[] } }).data.subscriptions;
  const edited = await api.post('/v2/contracts/edit', {
    customer_id: customer,
    contract_id: contract,
    update_subscriptions: [{ subscription_id: first?.id, ...change }],
  });
  expect(edited.status).toBe(200);
}

/** `SCHEDULED 02-01 FINALIZED 20000: Seats 02-01 - 03-01 10 × 2000`, without empty drafts and zero lines of usage. */
async function invoices(): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customer}/invoices?limit=100&skip_zero_qty_line_items=true`);
  return answer
    .list('data')
    .map((_, index) => {
      const one = `data[${index}]`;
      const lines = answer.list(`${one}.line_items`).map((_line, position) => {
        const line = `${one}.line_items[${position}]`;
        const day = (name: string) => String(answer.at(`${line}.${name}`) ?? '').slice(5, 10);
        const time =
          answer.at(`${line}.type`) === 'subscription'
            ? ` ${day('starting_at')} - ${day('ending_before')}`
            : '';
        const amount =
          answer.at(`${line}.quantity`) === undefined
            ? answer.digits(`${line}.total`)
            : `${answer.digits(`${line}.quantity`)} × ${answer.digits(`${line}.unit_price`)}`;
        return `${answer.text(`${line}.name`)}${time} ${amount}`;
      });
      const head = ['type', 'status'].map((name) => answer.text(`${one}.${name}`));
      const day = answer.text(`${one}.issued_at`).slice(5, 10);
      return `${head[0]} ${day} ${head[1]} ${answer.digits(`${one}.total`)}: ${lines.join(', ')}`;
    })
    .filter((text) => !text.endsWith('DRAFT 0: '));
}

describe('placement', () => {
  test('the first charge in advance has its own invoice, the others join the usage invoice that ends on their day', async () => {
    await contractWith([subscription()]);
    await service.moveClock(date('01-01T01'));
    expect(await invoices()).toEqual([
      'SCHEDULED 01-01 FINALIZED 20000: Seats 01-01 - 02-01 10 × 2000',
      'USAGE 02-02 DRAFT 20000: Seats 02-01 - 03-01 10 × 2000',
    ]);
    await service.moveClock(date('02-02T01'));
    expect(await invoices()).toEqual([
      'SCHEDULED 01-01 FINALIZED 20000: Seats 01-01 - 02-01 10 × 2000',
      'USAGE 02-02 FINALIZED 20000: Seats 02-01 - 03-01 10 × 2000',
      'USAGE 03-02 DRAFT 20000: Seats 03-01 - 04-01 10 × 2000',
    ]);
    expect(await findings()).toEqual([]);
  });

  test('on scheduled invoices all charges have them, and the next one is a draft', async () => {
    await contractWith([
      subscription({ billing_cycle_config: { invoice_placement: 'ON_SCHEDULED_INVOICE' } }),
    ]);
    await service.moveClock(date('03-15'));
    expect((await invoices()).map((text) => text.slice(0, 38))).toEqual([
      'SCHEDULED 01-01 FINALIZED 20000: Seats',
      'SCHEDULED 02-01 FINALIZED 20000: Seats',
      'USAGE 02-02 FINALIZED 0: ',
      'SCHEDULED 03-01 FINALIZED 20000: Seats',
      'USAGE 03-02 FINALIZED 0: ',
      'SCHEDULED 04-01 DRAFT 20000: Seats 04-',
    ]);
  });

  test('in arrears a period is on the usage invoice that ends with it, and the last part is prorated', async () => {
    await contractWith([
      subscription({
        collection_schedule: 'ARREARS',
        proration: { is_prorated: true, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        ending_before: date('03-11'),
      }),
    ]);
    await service.moveClock(date('04-03'));
    expect((await invoices()).filter((text) => text.includes('Seats'))).toEqual([
      'USAGE 02-02 FINALIZED 20000: Seats 01-01 - 02-01 10 × 2000',
      'USAGE 03-02 FINALIZED 20000: Seats 02-01 - 03-01 10 × 2000',
      // No usage invoice ends on this day.
      'SCHEDULED 03-11 FINALIZED 6451.6129032258064516129: Seats 03-01 - 03-11 10 × 645.16129032258064516129',
    ]);
  });

  test('a week of a month has a separate invoice, week after week', async () => {
    await api.post('/v1/contract-pricing/rate-cards/addRates', {
      rate_card_id: catalogue.card,
      rates: [
        {
          ...{ product_id: catalogue.seats, billing_frequency: 'WEEKLY', rate_type: 'FLAT', price: 700 },
          ...{ starting_at: '2020-01-01T00:00:00Z', entitled: true },
        },
      ],
    });
    await contractWith([
      subscription({
        subscription_rate: { billing_frequency: 'WEEKLY', product_id: catalogue.seats },
        billing_cycle_config: { anchor_date: date('01-01') },
        initial_quantity: 1,
      }),
    ]);
    await service.moveClock(date('02-10'));
    const charged = (await invoices()).filter((text) => text.includes('Seats'));
    expect(charged.map((text) => text.replace(/.*Seats/, ''))).toEqual([
      ' 01-01 - 01-08 1 × 700',
      ' 01-08 - 01-15 1 × 700',
      ' 01-15 - 01-22 1 × 700',
      ' 01-22 - 01-29 1 × 700',
      ' 01-29 - 02-05 1 × 700',
      ' 02-05 - 02-12 1 × 700',
      ' 02-12 - 02-19 1 × 700',
    ]);
  });
});

describe('changes of the quantity', () => {
  test('an increase is invoiced when it takes effect, and the next period has the new quantity', async () => {
    await contractWith([subscription()]);
    await service.moveClock(date('01-16T12'));
    await edit({ quantity_updates: [{ starting_at: date('01-16T12'), quantity_delta: 2 }] });
    await service.moveClock(date('01-16T13'));
    expect(await invoices()).toEqual([
      'SCHEDULED 01-01 FINALIZED 20000: Seats 01-01 - 02-01 10 × 2000',
      'SCHEDULED 01-16 FINALIZED 2000: Seats 01-16 - 02-01 2 × 1000',
      'USAGE 02-02 DRAFT 24000: Seats 02-01 - 03-01 12 × 2000',
    ]);
    expect(await findings()).toEqual([]);
  });

  test('an increase in an invoiced past bills the difference once, on an invoice of its date', async () => {
    await contractWith([subscription()]);
    await service.moveClock(date('03-10'));
    const before = await invoices();
    await edit({ quantity_updates: [{ starting_at: date('02-15'), quantity: 12 }] });
    await service.moveClock(date('03-10T01'));
    const after = await invoices();
    expect(after.filter((text) => !before.includes(text))).toEqual([
      'SCHEDULED 02-15 FINALIZED 2000: Seats 02-15 - 03-01 2 × 1000',
      'SCHEDULED 03-01 FINALIZED 4000: Seats 03-01 - 04-01 2 × 2000',
      'USAGE 04-02 DRAFT 24000: Seats 04-01 - 05-01 12 × 2000',
    ]);
    await edit({ quantity_updates: [{ starting_at: date('02-15'), quantity: 12 }] });
    await service.moveClock(date('03-11'));
    expect(await invoices()).toEqual(after);
  });
});

describe('commits and credits', () => {
  const credit = (amount: number, start: string, end: string) => ({
    product_id: catalogue.fee,
    name: 'Welcome',
    priority: 1,
    access_schedule: {
      schedule_items: [{ amount, starting_at: date(start), ending_before: date(end) }],
    },
  });

  test('a credit pays for charges on scheduled and on usage invoices, and its ledger has them', async () => {
    await contractWith([subscription()], { credits: [credit(25_000, '01-01', '03-01')] });
    await service.moveClock(date('01-01T01'));
    expect(await invoices()).toEqual([
      'SCHEDULED 01-01 FINALIZED 0: Seats 01-01 - 02-01 10 × 2000, Welcome applied -20000',
      'USAGE 02-02 DRAFT 15000: Seats 02-01 - 03-01 2.5 × 2000, Welcome applied -5000, Seats 02-01 - 03-01 7.5 × 2000',
    ]);
    await service.moveClock(date('02-03'));
    const { body } = await api.post('/v1/contracts/customerBalances/list', {
      customer_id: customer,
      include_ledgers: true,
      include_balance: true,
      include_contract_balances: true,
    });
    const [own] = (body as { data: { balance: unknown; ledger: { type: string; amount: unknown }[] }[] })
      .data;
    expect(String(own?.balance)).toBe('0');
    expect(own?.ledger.map(({ type, amount }) => `${type} ${amount}`)).toEqual([
      'CREDIT_SEGMENT_START 25000',
      'CREDIT_AUTOMATED_INVOICE_DEDUCTION -20000',
      'CREDIT_AUTOMATED_INVOICE_DEDUCTION -5000',
    ]);
    expect(await findings()).toEqual([]);
  });
});

describe('voided invoices', () => {
  test('a charge of a voided invoice is billed again by its regeneration alone, with the present quantity', async () => {
    await contractWith([subscription()]);
    await service.moveClock(date('01-10'));
    await edit({ quantity_updates: [{ starting_at: date('01-01'), quantity: 8 }] });
    const list = await api.get(`/v1/customers/${customer}/invoices?type=SCHEDULED`);
    const id = list.text('data[0].id');
    await api.post('/v1/invoices/void', { id });
    await service.moveClock(date('01-11'));
    expect((await invoices())[0]).toBe('SCHEDULED 01-01 VOID 20000: Seats 01-01 - 02-01 10 × 2000');
    await api.post('/v1/invoices/regenerate', { id });
    await service.moveClock(date('01-12'));
    expect(await invoices()).toEqual([
      'SCHEDULED 01-01 VOID 20000: Seats 01-01 - 02-01 10 × 2000',
      'SCHEDULED 01-11 FINALIZED 16000: Seats 01-01 - 02-01 8 × 2000',
      'USAGE 02-02 DRAFT 16000: Seats 02-01 - 03-01 8 × 2000',
    ]);
  });
});

describe('the explanation of a charge', () => {
  async function explained(
    type: string,
  ): Promise<{ formula: string[]; kind: string; is_reproduced?: boolean }[]> {
    const list = await api.get(`/v1/customers/${customer}/invoices`, { query: { type, limit: 100 } });
    const [first] = (list.body as { data: { id: string; line_items: object[] }[] }).data.filter(
      ({ line_items }) => line_items.length > 0,
    );
    const answer = await api.get(`/v1/customers/${customer}/invoices/${first?.id}/explain`);
    const { data } = answer.body as { data: Awaited<ReturnType<typeof explained>> };
    return data.filter(({ kind }) => kind === 'subscription' || kind === 'applied');
  }

  test('the explanation of a charge names the quantities, the price and the part of the period, before and after it is issued', async () => {
    await contractWith([
      subscription({
        ...{ collection_schedule: 'ARREARS', proration: { is_prorated: true }, starting_at: date('01-11') },
      }),
    ]);
    const steps = [
      `unit price: list price 2000`,
      `part of the period, ${year}-01-11T00:00:00Z to ${year}-02-01T00:00:00Z of ${year}-01-01T00:00:00Z to ${year}-02-01T00:00:00Z, in milliseconds: 2000 * 2678400000 / 2678400000 - 2000 * 864000000 / 2678400000 = 1354.83870967741935483871`,
      'total: 10 * 1354.83870967741935483871 = 13548.3870967741935483871',
    ];
    await service.moveClock(date('01-20'));
    const quantities = `quantity of the subscription: 10 from ${year}-01-11T00:00:00Z; the highest of the period so far: 10`;
    expect(await explained('USAGE')).toMatchObject([
      { kind: 'subscription', formula: [quantities, ...steps], is_reproduced: true },
    ]);
    await service.moveClock(date('02-03'));
    const issued = await explained('USAGE');
    expect(issued).toMatchObject([{ kind: 'subscription', formula: steps, is_reproduced: true }]);
  });

  test('the explanation of a charge that a credit pays a part of says which units, on a scheduled invoice too', async () => {
    await api.post('/v1/contracts/customerCredits/create', {
      ...{ customer_id: customer, priority: 1, product_id: catalogue.fee, name: 'Credit' },
      access_schedule: {
        schedule_items: [{ amount: 5_000, starting_at: date('01-01'), ending_before: date('12-01') }],
      },
    });
    await contractWith([subscription()]);
    await service.moveClock(date('01-03'));
    expect(await explained('SCHEDULED')).toMatchObject([
      {
        kind: 'subscription',
        formula: [
          'balance: "Credit", number 1 of 1 in the order',
          'what it had, without other lines of this invoice, without this line: 5000 - 0 - 5000 = 0',
          'covered: units above 0 up to 2.5 of the quantity: 2.5',
          'unit price: list price 2000',
          'total: 2.5 * 2000 = 5000',
        ],
        is_reproduced: true,
      },
      { kind: 'applied', is_reproduced: true },
      {
        kind: 'subscription',
        formula: [
          'not covered: units above 2.5 up to 10 of the quantity: 7.5',
          'unit price: list price 2000',
          'total: 7.5 * 2000 = 15000',
        ],
        is_reproduced: true,
      },
    ]);
  });

  /** Seats 1 to 3 are free for the first commit. Both commits have separate prices. */
  async function contractOfTwoPayers(): Promise<void> {
    const commit = (name: string, amount: number, priority: number) => ({
      ...{ temporary_id: name, type: 'PREPAID', product_id: catalogue.fee, name, priority },
      access_schedule: {
        schedule_items: [{ amount, starting_at: date('01-01'), ending_before: date('12-01') }],
      },
    });
    const priceFor = (name: string, ...tiers: readonly object[]) => ({
      ...{ starting_at: date('01-01'), type: 'TIERED', is_commit_specific: true, target: 'LIST_RATE' },
      ...{ priority: 1, tiers },
      override_specifiers: [
        { product_id: catalogue.seats, billing_frequency: 'MONTHLY', commit_ids: [name] },
      ],
    });
    await contractWith([subscription()], {
      multiplier_override_prioritization: 'EXPLICIT',
      commits: [commit('First', 2_000, 1), commit('Second', 3_500, 2)],
      overrides: [
        priceFor('First', { size: 3, multiplier: 0 }, { multiplier: 0.5 }),
        priceFor('Second', { size: 1, multiplier: 0.25 }, { multiplier: 0.75 }),
      ],
    });
  }

  test('the explanation of a charge that commits with other tiers and free units pay says which units, as a draft, issued, and after an edit', async () => {
    await contractOfTwoPayers();
    const shares = async () =>
      (await explained('SCHEDULED')).map(({ kind, formula, is_reproduced }) => {
        const units = formula.filter((step) => /covered|takes back/.test(step));
        return `${kind} ${is_reproduced}: ${units.join('; ')}`;
      });
    const expected = [
      'subscription true: covered: units above 0 up to 1 of the quantity: 1',
      'applied true: takes back line 1, "Seats": 0 - 500 = -500',
      'subscription true: not covered: units above 5 up to 10 of the quantity: 5',
      'subscription true: covered: units above 1 up to 3 of the quantity: 2',
      'applied true: takes back line 4, "Seats": 0 - 3000 = -3000',
      'subscription true: covered: units above 3 up to 5 of the quantity: 2',
      'applied true: takes back line 6, "Seats": 0 - 2000 = -2000',
    ];
    expect(await shares()).toEqual(expected);
    await service.moveClock(date('01-03'));
    expect(await shares()).toEqual(expected);
    const ids = { customer_id: customer, contract_id: contract };
    const now = await api.post('/v2/contracts/get', ids);
    const [first, second] = now.list('data.commits').map((_, index) => now.text(`data.commits[${index}].id`));
    await api.post('/v2/contracts/edit', {
      ...ids,
      update_commits: [
        { commit_id: first, priority: 2 },
        { commit_id: second, priority: 1 },
      ],
    });
    expect(await shares()).toEqual(expected);
  });
});

describe('a billing period that begins without a rate', () => {
  const warnings = async (status: string) => {
    const answer = await api.get(`/v1/customers/${customer}/invoices`, { query: { status, type: 'USAGE' } });
    return answer.list('data').flatMap((_, index) =>
      answer.list(`data[${index}].warnings`).map((__, at) => {
        const warning = `data[${index}].warnings[${at}]`;
        const texts = ['code', 'starting_at', 'ending_before'].map((name) =>
          answer.text(`${warning}.${name}`),
        );
        return [...texts, answer.digits(`${warning}.quantity`), answer.text(`${warning}.subscription_id`)];
      }),
    );
  };

  test('a billing period that begins without a rate is a warning of the usage invoice in whose period it begins, as a draft and once it is issued', async () => {
    const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
      ...{ name: `Late ${year}`, type: 'SUBSCRIPTION' },
    });
    await api.post('/v1/contract-pricing/rate-cards/addRate', {
      ...{ rate_card_id: catalogue.card, product_id, billing_frequency: 'MONTHLY', price: 100 },
      ...{ starting_at: date('02-01'), entitled: true, rate_type: 'FLAT' },
    });
    const subscription_rate = { billing_frequency: 'MONTHLY', product_id };
    // The second one has a price, and nothing to charge.
    await contractWith([subscription({ subscription_rate }), subscription({ initial_quantity: 0 })]);
    const answer = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
    const id = answer.text('data.subscriptions[0].id');
    const expected = [['unpriced_subscription', date('01-01'), date('02-01'), '10', id]];
    expect(await warnings('DRAFT')).toEqual(expected);
    await service.moveClock(date('02-03'));
    expect(await warnings('FINALIZED')).toEqual(expected);
    expect(await warnings('DRAFT')).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  test('a billing period that begins without a rate is none where the contract excludes the product', async () => {
    await contractWith([subscription()], {
      overrides: [
        {
          ...{ starting_at: date('01-01'), entitled: false },
          override_specifiers: [{ product_id: catalogue.seats, billing_frequency: 'MONTHLY' }],
        },
      ],
    });
    expect(await warnings('DRAFT')).toEqual([]);
  });
});
