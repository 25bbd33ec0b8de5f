/** Commits and credits of a customer: created, refused, and listed. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';

type Body = Record<string, unknown>;

const pool = await databaseForFile();
const clickhouse = await clickhouseForFile();
const day = (month: number) => new Date(Date.UTC(2026, month - 1)).toISOString();
const on = (month: number): ApiClient =>
  createCatalogueApi(pool.db, { now: Date.parse(day(month)), clickhouse });
const api = on(1);

const COMMITS = '/v1/contracts/customerCommits/create';
const CREDITS = '/v1/contracts/customerCredits/create';
const LIST_COMMITS = '/v1/contracts/customerCommits/list';
const LIST_CREDITS = '/v1/contracts/customerCredits/list';
const LIST_BALANCES = '/v1/contracts/customerBalances/list';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let catalogue: TermsCatalogue;
let customer: string;
let contract: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  for (const entity of ['commit', 'contract_credit']) {
    await api.post('/v1/customFields/addKey', { entity, key: 'deal', enforce_uniqueness: false });
  }
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  contract = await newContract();
});

async function newContract(change: Body = {}): Promise<string> {
  const body = { customer_id: customer, rate_card_id: catalogue.card, starting_at: day(1), ...change };
  return createdId(api, CONTRACTS, body);
}

function segment(amount: number, from: number, until: number) {
  return { amount, starting_at: day(from), ending_before: day(until) };
}

function credit(change: Body = {}): Body {
  return {
    customer_id: customer,
    priority: 5,
    product_id: catalogue.fee,
    access_schedule: { schedule_items: [segment(100, 1, 12)] },
    ...change,
  };
}

function prepaid(change: Body = {}): Body {
  return credit({ type: 'PREPAID', ...change });
}

function postpaid(change: Body = {}): Body {
  const invoice_schedule = { schedule_items: [{ timestamp: day(12), unit_price: 50, quantity: 2 }] };
  return credit({ type: 'POSTPAID', invoice_schedule, invoice_contract_id: contract, ...change });
}

describe('creation', () => {
  test('creation keeps every field of a commit', async () => {
    const id = await createdId(
      api,
      COMMITS,
      prepaid({
        type: 'prepaid',
        rate_type: 'commit_rate',
        name: 'Enterprise',
        description: 'Signed in January',
        priority: 2.5,
        access_schedule: { credit_type_id: USD, schedule_items: [segment(100.25, 1, 6), segment(50, 6, 12)] },
        invoice_schedule: {
          credit_type_id: USD,
          schedule_items: [{ timestamp: '2026-02-01T10:30:00Z', unit_price: 40, quantity: 2 }],
        },
        invoice_contract_id: contract,
        applicable_contract_ids: [contract],
        specifiers: [
          { product_id: catalogue.models, pricing_group_values: { model: 'a' } },
          { product_tags: ['llm'] },
        ],
        netsuite_sales_order_id: 'ignored',
        custom_fields: { deal: 'D-1' },
        uniqueness_key: `enterprise of ${customer}`,
      }),
    );
    const { body } = await api.post(LIST_COMMITS, { customer_id: customer, include_balance: true });
    expect(body).toEqual({
      data: [
        {
          id,
          type: 'PREPAID',
          rate_type: 'COMMIT_RATE',
          name: 'Enterprise',
          description: 'Signed in January',
          priority: 2.5,
          product: { id: catalogue.fee, name: 'Fee' },
          access_schedule: {
            credit_type: { id: USD, name: 'USD (cents)' },
            schedule_items: [
              { id: expect.any(String), ...segment(100.25, 1, 6) },
              { id: expect.any(String), ...segment(50, 6, 12) },
            ],
          },
          invoice_schedule: {
            credit_type: { id: USD, name: 'USD (cents)' },
            schedule_items: [
              {
                id: expect.any(String),
                timestamp: '2026-02-01T10:30:00.000Z',
                unit_price: 40,
                quantity: 2,
                amount: 80,
              },
            ],
          },
          invoice_contract: { id: contract },
          applicable_contract_ids: [contract],
          specifiers: [
            { product_id: catalogue.models, pricing_group_values: { model: 'a' } },
            { product_tags: ['llm'] },
          ],
          balance: 100.25,
          cost_basis: expect.anything(),
          custom_fields: { deal: 'D-1' },
          uniqueness_key: `enterprise of ${customer}`,
          created_at: day(1),
          created_by: 'API_TOKEN',
        },
      ],
      next_page: null,
    });
  });

  test('creation keeps every field of a credit', async () => {
    const id = await createdId(
      api,
      CREDITS,
      credit({
        name: 'Welcome',
        rate_type: 'LIST_RATE',
        access_schedule: { credit_type_id: catalogue.unit, schedule_items: [segment(7, 1, 12)] },
        applicable_product_ids: [catalogue.tokens],
        applicable_product_tags: ['llm'],
        applicable_contract_ids: [contract],
        custom_fields: { deal: 'D-2' },
        uniqueness_key: `welcome of ${customer}`,
      }),
    );
    const answer = await api.post(LIST_CREDITS, { customer_id: customer, include_ledgers: true });
    expect(answer.at('data[0]')).toMatchObject({
      id,
      type: 'CREDIT',
      name: 'Welcome',
      access_schedule: { credit_type: { id: catalogue.unit, name: 'Coins' } },
      applicable_product_ids: [catalogue.tokens],
      applicable_product_tags: ['llm'],
      applicable_contract_ids: [contract],
      custom_fields: { deal: 'D-2' },
      uniqueness_key: `welcome of ${customer}`,
      ledger: [{ type: 'CREDIT_SEGMENT_START', amount: 7, timestamp: day(1) }],
    });
  });

  test('a postpaid commit names the contract of its true-up', async () => {
    await api.post(COMMITS, postpaid());
    const answer = await api.post(LIST_COMMITS, { customer_id: customer, include_ledgers: true });
    expect(answer.at('data[0].invoice_contract.id')).toBe(contract);
    expect(answer.at('data[0].ledger')).toMatchObject([
      { type: 'POSTPAID_COMMIT_INITIAL_BALANCE', amount: 100 },
    ]);
  });

  test('a prepaid commit without an invoice, or with do_not_invoice, needs no contract', async () => {
    const invoice_schedule = { do_not_invoice: true, schedule_items: [{ timestamp: day(2), amount: 25 }] };
    await api.post(COMMITS, prepaid());
    await api.post(COMMITS, prepaid({ invoice_schedule }));
    const answer = await api.post(LIST_COMMITS, { customer_id: customer });
    expect(
      answer
        .list('data')
        .map((_, index) => answer.at(`data[${index}].cost_basis`))
        .toSorted(),
    ).toEqual([0, 0.25]);
  });
});

describe('creation is refused', () => {
  const invoiced = { schedule_items: [{ timestamp: '2026-02-01T00:00:00Z', amount: 25 }] };

  test.each<[string, string, () => Body]>([
    ['priority', 'a commit without a priority', () => prepaid({ priority: undefined })],
    ['type', 'a commit of type CREDIT', () => prepaid({ type: 'CREDIT' })],
    ['product_id', 'a product that is not FIXED', () => prepaid({ product_id: catalogue.tokens })],
    ['access_schedule', 'no access', () => prepaid({ access_schedule: undefined })],
    [
      'access_schedule.schedule_items',
      'no segment',
      () => prepaid({ access_schedule: { schedule_items: [] } }),
    ],
    [
      'access_schedule.schedule_items[0].starting_at',
      'access that begins within an hour',
      () =>
        prepaid({
          access_schedule: {
            schedule_items: [{ ...segment(1, 1, 2), starting_at: '2026-01-01T00:30:00Z' }],
          },
        }),
    ],
    [
      'specifiers',
      'specifiers beside ids',
      () => prepaid({ applicable_product_ids: [catalogue.tokens], specifiers: [{ product_tags: ['llm'] }] }),
    ],
    [
      'specifiers',
      'specifiers beside tags',
      () => prepaid({ applicable_product_tags: ['llm'], specifiers: [{ product_tags: ['llm'] }] }),
    ],
    ['invoice_contract_id', 'an invoice on no contract', () => prepaid({ invoice_schedule: invoiced })],
    ['invoice_contract_id', 'a true-up on no contract', () => postpaid({ invoice_contract_id: undefined })],
    [
      'invoice_schedule',
      'a postpaid commit without an invoice',
      () => postpaid({ invoice_schedule: undefined }),
    ],
    [
      'invoice_schedule.schedule_items[0].amount',
      'another amount than the access',
      () => postpaid({ invoice_schedule: invoiced }),
    ],
    [
      'access_schedule.schedule_items',
      'a postpaid commit of two segments',
      () => postpaid({ access_schedule: { schedule_items: [segment(50, 1, 6), segment(50, 6, 12)] } }),
    ],
    [
      'custom_fields.unknown',
      'a custom field that nobody declared',
      () => prepaid({ custom_fields: { unknown: 'x' } }),
    ],
    ['uniqueness_key', 'an empty uniqueness key', () => prepaid({ uniqueness_key: '' })],
    ['name', 'an empty name', () => prepaid({ name: '' })],
  ])('%s: %s', async (field, _, body) => {
    const answer = await api.send('POST', COMMITS, body());
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringContaining(`${field}:`)]);
    expect((await api.post(LIST_COMMITS, { customer_id: customer })).list('data')).toEqual([]);
  });

  test('creation is refused if it names a contract of another customer, as one that does not exist', async () => {
    const own = customer;
    customer = await createdId(api, '/v1/customers', { name: 'Other' });
    const foreign = await newContract();
    customer = own;
    for (const [field, body] of [
      ['invoice_contract_id', postpaid({ invoice_contract_id: foreign })],
      ['applicable_contract_ids[1]', prepaid({ applicable_contract_ids: [contract, foreign] })],
      ['applicable_contract_ids[0]', prepaid({ applicable_contract_ids: [UNKNOWN] })],
    ] as const) {
      const answer = await api.send('POST', COMMITS, body);
      expect([answer.status, answer.text('message')]).toEqual([404, expect.stringContaining(`${field}:`)]);
    }
  });

  test('creation is refused by an archived contract that would invoice it, and by an archived customer', async () => {
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: contract,
      void_invoices: false,
    });
    const onArchived = await api.send('POST', COMMITS, postpaid());
    expect([onArchived.status, onArchived.text('message')]).toEqual([
      400,
      `invoice_contract_id: contract ${contract} is archived`,
    ]);
    await api.post('/v1/customers/archive', { id: customer });
    expect((await api.send('POST', CREDITS, credit())).status).toBe(400);
  });

  test('creation is refused for a customer that there is not', async () => {
    const answer = await api.send('POST', COMMITS, prepaid({ customer_id: UNKNOWN }));
    expect([answer.status, answer.at('code')]).toEqual([404, 'CustomerNotFound']);
  });
});

describe('a uniqueness key', () => {
  test('a uniqueness key is used once by commits and credits together, without a time limit', async () => {
    const uniqueness_key = `key of ${customer}`;
    const id = await createdId(api, COMMITS, prepaid({ uniqueness_key }));
    await api.post('/v2/contracts/commits/archive', { customer_id: customer, commit_id: id });
    for (const [path, body] of [
      [COMMITS, prepaid({ uniqueness_key })],
      [CREDITS, credit({ uniqueness_key })],
    ] as const) {
      const answer = await api.send('POST', path, body);
      expect([answer.status, answer.at('conflicting_id')]).toEqual([409, id]);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
    const listed = await api.post(LIST_BALANCES, { customer_id: customer, include_archived: true });
    expect(listed.list('data')).toHaveLength(1);
  });

  test('a uniqueness key has one winner among concurrent requests', async () => {
    const uniqueness_key = `raced of ${customer}`;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.send('POST', COMMITS, postpaid({ uniqueness_key }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await api.post(LIST_COMMITS, { customer_id: customer })).list('data')).toHaveLength(1);
  });
});

describe('lists', () => {
  const ids = async (path: string, body: Body = {}) => {
    const answer = await api.post(path, { customer_id: customer, ...body });
    return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
  };

  async function made() {
    const early = await createdId(
      api,
      COMMITS,
      prepaid({ access_schedule: { schedule_items: [segment(1, 1, 3)] } }),
    );
    const split = await createdId(
      on(2),
      COMMITS,
      prepaid({ access_schedule: { schedule_items: [segment(1, 2, 3), segment(1, 6, 8)] } }),
    );
    const gift = await createdId(on(3), CREDITS, credit());
    return { early, split, gift };
  }

  test('lists of commits and credits show commits, credits, or both, each in the order of creation', async () => {
    const { early, split, gift } = await made();
    expect(await ids(LIST_COMMITS)).toEqual([early, split]);
    expect(await ids(LIST_CREDITS)).toEqual([gift]);
    expect(await ids(LIST_BALANCES)).toEqual([early, split, gift]);
    expect(await ids(LIST_COMMITS, { commit_id: split })).toEqual([split]);
    expect(await ids(LIST_COMMITS, { commit_id: gift })).toEqual([]);
    expect(await ids(LIST_CREDITS, { credit_id: gift })).toEqual([gift]);
    expect(await ids(LIST_BALANCES, { id: split })).toEqual([split]);
  });

  test('select by access, whose start counts and whose end does not', async () => {
    const { early, split } = await made();
    expect(await ids(LIST_COMMITS, { covering_date: day(2) })).toEqual([early, split]);
    expect(await ids(LIST_COMMITS, { covering_date: day(3) })).toEqual([]);
    expect(await ids(LIST_COMMITS, { covering_date: day(6) })).toEqual([split]);
    expect(await ids(LIST_COMMITS, { starting_at: day(3) })).toEqual([split]);
    expect(await ids(LIST_COMMITS, { starting_at: day(8) })).toEqual([]);
    expect(await ids(LIST_COMMITS, { effective_before: day(2) })).toEqual([early]);
    expect(await ids(LIST_COMMITS, { effective_before: day(1) })).toEqual([]);
  });

  test('lists of commits and credits show those of contracts and archived ones on request', async () => {
    const own = await createdId(api, COMMITS, prepaid());
    const [ofContract] = [
      await newContract({
        ending_before: day(4),
        commits: [
          {
            type: 'PREPAID',
            product_id: catalogue.fee,
            access_schedule: { schedule_items: [segment(9, 1, 12)] },
          },
        ],
        credits: [{ product_id: catalogue.fee, access_schedule: { schedule_items: [segment(9, 5, 12)] } }],
      }),
    ];
    expect(await ids(LIST_COMMITS)).toEqual([own]);
    const withContracts = await api.post(LIST_COMMITS, {
      customer_id: customer,
      include_contract_commits: true,
      covering_date: day(2),
    });
    expect(withContracts.list('data')).toHaveLength(2);
    expect(withContracts.list('data')).toContainEqual(
      expect.objectContaining({ contract: { id: ofContract } }),
    );
    // Access ends with the contract.
    expect(await ids(LIST_COMMITS, { include_contract_commits: true, covering_date: day(5) })).toEqual([own]);
    expect(await ids(LIST_CREDITS, { include_contract_credits: true, covering_date: day(6) })).toEqual([]);
    expect(await ids(LIST_BALANCES, { include_contract_balances: true })).toHaveLength(3);
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: ofContract,
      void_invoices: false,
    });
    await api.post('/v2/contracts/commits/archive', { customer_id: customer, commit_id: own });
    expect(await ids(LIST_BALANCES, { include_contract_balances: true })).toEqual([]);
    expect(await ids(LIST_COMMITS, { include_archived: true })).toEqual([own]);
    expect(
      await ids(LIST_BALANCES, { include_contract_balances: true, include_archived: true }),
    ).toHaveLength(3);
  });

  test('lists of commits and credits leave out what has nothing left', async () => {
    const { early, split, gift } = await made();
    const answer = await on(3).post(LIST_BALANCES, { customer_id: customer, exclude_zero_balances: true });
    expect(answer.list('data')).toMatchObject([{ id: gift }]);
    expect(answer.at('data[0].balance')).toBeUndefined();
    expect([early, split]).not.toContain(gift);
  });

  test('lists of commits and credits have pages of at most 25, and lose nothing between them', async () => {
    const made: string[] = [];
    for (let index = 0; index < 27; index += 1) made.push(await createdId(api, CREDITS, credit()));
    const first = await api.post(LIST_CREDITS, { customer_id: customer });
    expect(first.list('data')).toHaveLength(25);
    const second = await api.post(LIST_CREDITS, {
      customer_id: customer,
      next_page: first.text('next_page'),
    });
    expect(second.at('next_page')).toBe(null);
    const listed: string[] = [];
    let next_page: unknown = null;
    do {
      const page = await api.post(LIST_CREDITS, { customer_id: customer, limit: 10, next_page });
      listed.push(...page.list('data').map((_, index) => page.text(`data[${index}].id`)));
      next_page = page.at('next_page');
    } while (next_page !== null);
    expect(listed.toSorted()).toEqual(made.toSorted());
  });

  test.each([
    [LIST_COMMITS, { limit: 0 }, 'limit'],
    [LIST_COMMITS, { limit: 26 }, 'limit'],
    [LIST_CREDITS, { limit: 1.5 }, 'limit'],
    [LIST_BALANCES, { next_page: 'bm9uc2Vuc2U' }, 'next_page'],
    [LIST_COMMITS, { commit_id: 'x' }, 'commit_id'],
    [LIST_COMMITS, { covering_date: 'today' }, 'covering_date'],
  ])('%s refuses %o', async (path, body, field) => {
    const answer = await api.send('POST', path, { customer_id: customer, ...body });
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringContaining(field)]);
  });

  test.each([LIST_COMMITS, LIST_CREDITS, LIST_BALANCES])('%s knows its customer', async (path) => {
    const answer = await api.send('POST', path, { customer_id: UNKNOWN });
    expect([answer.status, answer.at('code')]).toEqual([404, 'CustomerNotFound']);
  });
});
