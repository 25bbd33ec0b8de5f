/** Answers of create, get and list show every kind of term as it was sent, in both versions. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { withTerms } from '../../src/store/contract-terms/contract-terms.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { ACTOR_NAME, CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile, clickhouseForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile({ clickhouse: await clickhouseForFile() });
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
const created = { created_at: '2026-11-20T12:34:56.789Z', created_by: ACTOR_NAME };
const cents = { id: USD_CENTS.id, name: USD_CENTS.name };
const START = '2026-10-01T00:00:00.000Z';
const YEAR_END = '2027-10-01T00:00:00.000Z';
const year = { starting_at: START, ending_before: YEAR_END };

function expectedCommits() {
  const { fee, tokens, models, unit } = catalogue;
  const product = { id: fee, name: 'Fee' };
  const common = { id, contract: { id }, product, custom_fields: {}, ...created };
  return {
    commits: [
      {
        ...common,
        type: 'PREPAID',
        name: 'Prepaid',
        description: 'Paid up front',
        priority: 7,
        rate_type: 'COMMIT_RATE',
        rollover_fraction: 0.25,
        access_schedule: { credit_type: cents, schedule_items: [{ id, amount: 100_000.5, ...year }] },
        invoice_schedule: {
          credit_type: cents,
          schedule_items: [
            { id, timestamp: '2026-10-01T08:15:30.000Z', unit_price: 40_000, quantity: 2, amount: 80_000 },
          ],
        },
        applicable_product_ids: [tokens],
        applicable_product_tags: ['llm'],
        hierarchy_configuration: { child_access: { type: 'ALL' } },
        spend_tracker_attributes: { counts_as_discounted: true },
        cost_basis: expect.anything(),
      },
      {
        ...common,
        type: 'POSTPAID',
        priority: 100,
        rate_type: 'LIST_RATE',
        access_schedule: { credit_type: cents, schedule_items: [{ id, amount: 50_000, ...year }] },
        invoice_schedule: {
          credit_type: cents,
          schedule_items: [{ id, timestamp: YEAR_END, unit_price: 50_000, quantity: 1, amount: 50_000 }],
        },
        cost_basis: 1,
      },
      ...expectedGrants(),
    ],
    credits: [
      {
        ...common,
        type: 'CREDIT',
        name: 'Welcome',
        priority: 100,
        rate_type: 'LIST_RATE',
        access_schedule: {
          credit_type: { id: unit, name: 'Coins' },
          schedule_items: [{ id, amount: 12, ...year }],
        },
        specifiers: [
          { product_id: models, pricing_group_values: { model: 'a' } },
          { product_tags: ['llm'], exclude: [{ product_tags: ['llm', 'beta'] }] },
        ],
      },
      ...expectedShares(),
    ],
  };
}

/** The same of the credit for each seat: 500 for each of the seats, assigned or not. */
function expectedShares() {
  const month = (number: number) => new Date(Date.UTC(2026, number - 1, 1)).toISOString();
  return [10, 11, 12].map((number) =>
    expect.objectContaining({
      ...{ type: 'CREDIT', priority: 4, recurring_credit_id: id },
      access_schedule: expect.objectContaining({
        schedule_items: [
          { id, amount: SEATS * 500, starting_at: month(number), ending_before: month(number + 1) },
        ],
      }),
    }),
  );
}

/** Two with names and three without. */
const SEATS = 5;

/** The commits that the recurring commit has created: the two months that have begun, and the next one. */
function expectedGrants() {
  const month = (number: number) => new Date(Date.UTC(2026, number - 1, 1)).toISOString();
  return [10, 11, 12].map((number) => ({
    id,
    contract: { id },
    type: 'PREPAID',
    name: 'Monthly',
    priority: 3,
    product: { id: catalogue.fee, name: 'Fee' },
    access_schedule: {
      credit_type: { id: catalogue.unit, name: 'Coins' },
      schedule_items: [{ id, amount: 30, starting_at: month(number), ending_before: month(number + 2) }],
    },
    invoice_schedule: {
      credit_type: cents,
      schedule_items: [{ id, timestamp: month(number), unit_price: 5, quantity: 3, amount: 15 }],
    },
    cost_basis: 0.25,
    recurring_commit_id: id,
    rollover_fraction: 1,
    rate_type: 'LIST_RATE',
    custom_fields: {},
    created_at: month(number),
  }));
}

function expectedRecurring() {
  const common = {
    id,
    contract: { id },
    product: { id: catalogue.fee, name: 'Fee' },
    rate_type: 'LIST_RATE',
  };
  return {
    recurring_commits: [
      {
        ...common,
        name: 'Monthly',
        access_amount: { unit_price: 10, quantity: 3, credit_type_id: catalogue.unit },
        invoice_amount: { unit_price: 5, quantity: 3, credit_type_id: USD_CENTS.id },
        priority: 3,
        rollover_fraction: 1,
        starting_at: START,
        ending_before: '2027-04-01T00:00:00.000Z',
        commit_duration: { value: 2, unit: 'PERIODS' },
        recurrence_frequency: 'MONTHLY',
        proration: 'NONE',
        proration_rounding: {
          access: { rounding_method: 'HALF_UP', decimal_places: -2 },
          invoice: { rounding_method: 'FLOOR', decimal_places: 0 },
        },
      },
    ],
    recurring_credits: [
      {
        ...common,
        access_amount: { unit_price: 500, credit_type_id: USD_CENTS.id },
        priority: 4,
        starting_at: START,
        commit_duration: { value: 1, unit: 'PERIODS' },
        proration: 'FIRST_AND_LAST',
        subscription_config: {
          subscription_id: id,
          allocation: 'INDIVIDUAL',
          apply_seat_increase_config: { is_prorated: true },
        },
      },
    ],
  };
}

function expectedOverrides(): Record<string, unknown>[] {
  const { tokens, models, seats } = catalogue;
  const common = { id, created_at: created.created_at, starting_at: START };
  return [
    {
      ...common,
      ending_before: YEAR_END,
      type: 'MULTIPLIER',
      multiplier: 0.9,
      priority: 1,
      entitled: false,
      applicable_product_tags: ['llm'],
      is_commit_specific: false,
    },
    {
      ...common,
      type: 'OVERWRITE',
      overwrite_rate: { rate_type: 'TIERED', tiers: [{ size: 10, price: 1.5 }, { price: 1 }] },
      override_specifiers: [{ product_id: models, pricing_group_values: { model: 'a' } }],
      is_commit_specific: false,
    },
    {
      ...common,
      type: 'TIERED',
      priority: 2,
      override_tiers: [{ size: 5, multiplier: 0.5 }, { multiplier: 0.25 }],
      is_commit_specific: true,
      target: 'COMMIT_RATE',
      override_specifiers: [
        { product_id: tokens, commit_ids: [id], recurring_commit_ids: [id] },
        { exclude: [{ product_tags: ['llm', 'beta'] }, { product_tags: ['old'] }] },
      ],
    },
    {
      ...common,
      type: 'MULTIPLIER',
      multiplier: 0,
      priority: 5,
      override_specifiers: [{ product_id: seats, billing_frequency: 'MONTHLY' }],
      is_commit_specific: false,
    },
  ];
}

/** Version 1 repeats the rate of an OVERWRITE. */
function expectedOverridesV1(): Record<string, unknown>[] {
  return expectedOverrides().map((override) => Object.assign({}, override, override.overwrite_rate));
}

function expectedCharges() {
  const share = (timestamp: string, amount: number) => ({
    id,
    timestamp,
    amount,
    unit_price: amount,
    quantity: 1,
  });
  return [
    {
      id,
      product: { id: catalogue.fee, name: 'Fee' },
      name: 'Set-up',
      schedule: {
        credit_type: cents,
        schedule_items: [
          share('2026-10-15T12:00:00.000Z', 33),
          share('2026-11-15T12:00:00.000Z', 33),
          share('2026-12-15T12:00:00.000Z', 34),
        ],
      },
      custom_fields: {},
    },
  ];
}

function expectedSubscriptions() {
  const common = {
    id,
    subscription_rate: { billing_frequency: 'MONTHLY', product: { id: catalogue.seats, name: 'Seats' } },
    fiat_credit_type_id: USD_CENTS.id,
    custom_fields: {},
    billing_periods: {
      current: { starting_at: '2026-11-01T00:00:00.000Z', ending_before: '2026-12-01T00:00:00.000Z' },
      next: { starting_at: '2026-12-01T00:00:00.000Z', ending_before: '2027-01-01T00:00:00.000Z' },
    },
  };
  return [
    {
      ...common,
      name: 'Seats',
      collection_schedule: 'ADVANCE',
      proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user' },
      starting_at: START,
      quantity_schedule: [{ quantity: 5, starting_at: START }],
      billing_cycle_config: { anchor_date: START, invoice_placement: 'ON_SCHEDULED_INVOICE' },
      billing_periods: {
        ...common.billing_periods,
        previous: { starting_at: START, ending_before: '2026-11-01T00:00:00.000Z' },
      },
    },
    {
      ...common,
      collection_schedule: 'ARREARS',
      proration: {
        is_prorated: false,
        invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE',
        rounding: { rounding_method: 'CEILING', decimal_places: 1 },
      },
      quantity_management_mode: 'QUANTITY_ONLY',
      starting_at: '2026-11-01T00:00:00.000Z',
      ending_before: '2027-05-01T00:00:00.000Z',
      quantity_schedule: [
        { quantity: 4, starting_at: '2026-11-01T00:00:00.000Z', ending_before: '2027-05-01T00:00:00.000Z' },
      ],
      billing_cycle_config: {
        anchor_date: '2026-11-01T00:00:00.000Z',
        invoice_placement: 'ON_USAGE_INVOICE',
      },
    },
  ];
}

/** The settings come back as they were sent, defaults filled in. */
function expectedSettings() {
  const sent = everyTerm(catalogue, customer);
  return {
    spend_threshold_configuration: sent.spend_threshold_configuration,
    prepaid_balance_threshold_configuration: sent.prepaid_balance_threshold_configuration,
    spend_trackers: [
      {
        alias: 'recharges',
        credit_type_id: USD_CENTS.id,
        reset_frequency: 'BILLING_PERIOD',
        applicable_spend_specifiers: [
          { spend_type: 'COMMIT_PURCHASE', sources: ['THRESHOLD_RECHARGE'], discounted: 'ANY' },
        ],
        accumulated_spend: {
          amount: 0,
          period_starting_at: '2026-11-01T00:00:00.000Z',
          period_ending_before: '2026-12-01T00:00:00.000Z',
        },
      },
    ],
  };
}

function expectedHeader() {
  return {
    name: 'All of it',
    rate_card_id: catalogue.card,
    ...year,
    net_payment_terms_days: 30,
    scheduled_charges_on_usage_invoices: 'ALL',
    usage_statement_schedule: { frequency: 'MONTHLY', billing_anchor_date: '2026-11-01T00:00:00.000Z' },
    ...created,
  };
}

function expectedFlat(contractId: string) {
  return {
    id: contractId,
    customer_id: customer,
    ...expectedHeader(),
    ...expectedSettings(),
    ...expectedCommits(),
    ...expectedRecurring(),
    overrides: expectedOverrides(),
    scheduled_charges: expectedCharges(),
    subscriptions: expectedSubscriptions(),
    transitions: [],
    usage_filter: [{ group_key: 'model', group_values: ['a', 'b'], ...year }],
    multiplier_override_prioritization: 'EXPLICIT',
    custom_fields: {},
  };
}

async function createEverything(): Promise<ApiAnswer> {
  return api.post(CONTRACTS, everyTerm(catalogue, customer));
}

describe('a contract with terms of every kind', () => {
  test('a contract is returned whole by its creation', async () => {
    const answer = await createEverything();
    const contract = expectedFlat(answer.text('data.id'));
    const overrides = expectedOverridesV1();
    expect(answer.at('data.contract')).toEqual({ ...contract, overrides });
  });

  test('a contract is returned whole by v2 get and list', async () => {
    const contractId = (await createEverything()).text('data.id');
    const body = { customer_id: customer, contract_id: contractId };
    const expected = { ...expectedFlat(contractId), billing_provider_configuration_schedule: [] };
    expect((await api.post('/v2/contracts/get', body)).at('data')).toEqual(expected);
    const list = await api.post('/v2/contracts/list', { customer_id: customer });
    expect(list.at('data')).toEqual([expected]);
  });

  test('a contract is returned whole by v1 get and list, with the rate of an OVERWRITE repeated', async () => {
    const contractId = (await createEverything()).text('data.id');
    const state = {
      ...expectedHeader(),
      ...expectedSettings(),
      ...expectedCommits(),
      ...expectedRecurring(),
      overrides: expectedOverridesV1(),
      scheduled_charges: expectedCharges(),
      transitions: [],
      usage_filter: {
        initial: { group_key: 'model', group_values: ['a', 'b'], starting_at: START },
        current: { group_key: 'model', group_values: ['a', 'b'], starting_at: START },
        updates: [],
      },
    };
    const expected = {
      id: contractId,
      customer_id: customer,
      initial: state,
      current: state,
      amendments: [],
      custom_fields: {},
      scheduled_charges_on_usage_invoices: 'ALL',
      subscriptions: expectedSubscriptions(),
      ...expectedSettings(),
    };
    const body = { customer_id: customer, contract_id: contractId };
    expect((await api.post('/v1/contracts/get', body)).at('data')).toEqual(expected);
    const list = await api.post('/v1/contracts/list', { customer_id: customer });
    expect(list.at('data')).toEqual([expected]);
  });

  test('a contract with terms of every kind names in its overrides and recurring terms the ids that temporary ids were given', async () => {
    const answer = await createEverything();
    const commitId = answer.text('data.contract.commits[0].id');
    const recurringId = answer.text('data.contract.recurring_commits[0].id');
    const path = 'data.contract.overrides[2].override_specifiers[0]';
    expect(answer.at(`${path}.commit_ids`)).toEqual([commitId]);
    expect(answer.at(`${path}.recurring_commit_ids`)).toEqual([recurringId]);
    expect(answer.text('data.contract.recurring_credits[0].subscription_config.subscription_id')).toBe(
      answer.text('data.contract.subscriptions[0].id'),
    );
  });

  test('a contract with terms of every kind is loaded as it was created, whatever other contracts there are', async () => {
    const other = await createdId(api, CONTRACTS, {
      customer_id: customer,
      starting_at: '2026-01-01T00:00:00Z',
    });
    const contractId = (await createEverything()).text('data.id');
    const contracts = await loadContracts(pool.db, { customerIds: [customer] });
    const [bare, full] = await withTerms(pool.db, contracts);
    expect([bare?.contract.id, full?.contract.id]).toEqual([other, contractId]);
    expect(
      Object.values(bare?.terms ?? {})
        .flat()
        .filter(Boolean),
    ).toEqual([]);
    const given = full?.terms.commits.filter(({ recurringCommitId }) => recurringCommitId === null);
    expect(given?.map((commit) => commit.type)).toEqual(['PREPAID', 'POSTPAID', 'CREDIT']);
  });
});

describe('numbers', () => {
  test('numbers keep every digit they were sent with', async () => {
    const body = JSON.stringify({
      customer_id: customer,
      rate_card_id: catalogue.card,
      starting_at: START,
      commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          access_schedule: { schedule_items: [{ amount: 0, ...year }] },
        },
      ],
    }).replace('"amount":0', '"amount":9007199254740993.0123456789012345');
    const answer = await api.send('POST', CONTRACTS, undefined, { rawBody: body });
    expect(answer.digits('data.contract.commits[0].access_schedule.schedule_items[0].amount')).toBe(
      '9007199254740993.0123456789012345',
    );
  });
});

describe('balances and ledgers', () => {
  test('balances and ledgers are shown on request: what is open now, and the entries that granted it', async () => {
    const contractId = (await createEverything()).text('data.id');
    const body = { customer_id: customer, contract_id: contractId };
    const plain = await api.post('/v2/contracts/get', body);
    expect(plain.at('data.commits[0].balance')).toBeUndefined();
    expect(plain.at('data.commits[0].ledger')).toBeUndefined();
    for (const path of ['/v1/contracts/get', '/v2/contracts/get']) {
      const answer = await api.post(path, { ...body, include_balance: true, include_ledgers: true });
      const state = path.startsWith('/v1') ? 'data.current' : 'data';
      expect(answer.at(`${state}.commits[0].balance`)).toBe(100_000.5);
      expect(answer.at(`${state}.commits[0].ledger`)).toEqual([
        {
          type: 'PREPAID_COMMIT_SEGMENT_START',
          amount: 100_000.5,
          timestamp: START,
          segment_id: answer.text(`${state}.commits[0].access_schedule.schedule_items[0].id`),
        },
      ]);
      expect(answer.at(`${state}.commits[1].ledger[0].type`)).toBe('POSTPAID_COMMIT_INITIAL_BALANCE');
      expect(answer.at(`${state}.credits[0].ledger[0].type`)).toBe('CREDIT_SEGMENT_START');
    }
  });

  test('balances and ledgers are 0 for segments that are not open', async () => {
    const answer = await api.post(CONTRACTS, {
      customer_id: customer,
      starting_at: START,
      commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          access_schedule: {
            schedule_items: [
              { amount: 5, starting_at: START, ending_before: '2026-11-20T12:00:00Z' },
              { amount: 7, starting_at: '2026-11-20T13:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
            ],
          },
        },
      ],
    });
    const body = { customer_id: customer, contract_id: answer.text('data.id'), include_balance: true };
    expect((await api.post('/v2/contracts/get', body)).at('data.commits[0].balance')).toBe(0);
  });
});
