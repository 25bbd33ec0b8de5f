/** The behaviour that clients of the interface rely on, in requests as they send them. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADD_RATE,
  CONTRACTS,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type Body, START, termFixtures } from '../support/term-fixtures.ts';

const { api } = await serviceForFile({ sandboxNow: '2026-11-20T12:00:00Z' });
let ids: TermsCatalogue;
let customer_id: string;

beforeAll(async () => {
  ids = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const contract = (fields: Body = {}) => ({
  customer_id,
  rate_card_id: ids.card,
  starting_at: START,
  ...fields,
});
const FOR_EVER = '2999-12-31T00:00:00.000Z';

describe('an end in 2999 is without a limit', () => {
  test('an end in 2999 is without a limit of a contract and of its terms', async () => {
    const { commit, multiplier, subscription, recurring } = termFixtures(ids);
    const until = { starting_at: START, ending_before: FOR_EVER };
    const contract_id = await createdId(api, CONTRACTS, {
      ...contract({ ending_before: FOR_EVER }),
      commits: [
        // Else it would pay for the subscription.
        commit({
          access_schedule: { schedule_items: [{ amount: 1, ...until }] },
          applicable_product_ids: [ids.tokens],
        }),
      ],
      overrides: [multiplier(until)],
      subscriptions: [subscription(until)],
      recurring_commits: [recurring(until)],
    });
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id, include_balance: true });
    for (const path of [
      'ending_before',
      'commits[0].access_schedule.schedule_items[0].ending_before',
      'overrides[0].ending_before',
      'subscriptions[0].ending_before',
      'recurring_commits[0].ending_before',
    ]) {
      expect(read.text(`data.${path}`)).toBe(FOR_EVER);
    }
    expect(read.at('data.commits[0].balance')).toBe(1);
    const drafts = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { limit: 100 } });
    expect(drafts.list('data').length).toBeGreaterThan(0);
    const schedule = await api.post('/v1/contracts/getContractRateSchedule', { customer_id, contract_id });
    expect(schedule.list('data').length).toBeGreaterThan(0);
  });

  test('an end in 2999 is without a limit of a contract whose end is set later, of a rate and of an alias', async () => {
    const contract_id = await createdId(api, CONTRACTS, contract());
    const end = { customer_id, contract_id, ending_before: FOR_EVER };
    await api.post('/v1/contracts/updateEndDate', end);
    const alias = { name: 'for ever', starting_at: START, ending_before: FOR_EVER };
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card', aliases: [alias] });
    const rate = { product_id: ids.tokens, starting_at: START, ending_before: FOR_EVER, entitled: true };
    const added = await api.post(ADD_RATE, { rate_card_id, ...rate, rate_type: 'FLAT', price: 1 });
    expect(added.status).toBe(200);
    const card = await api.post('/v1/contract-pricing/rate-cards/get', { id: rate_card_id });
    expect(card.text('data.aliases[0].ending_before')).toBe(FOR_EVER);
  });

  test('an end in 2999 is without a limit but a start is not', async () => {
    const answer = await api.send('POST', CONTRACTS, contract({ starting_at: FOR_EVER }));
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringMatching(/^starting_at: /)]);
  });
});

test('a product without group keys does not show them', async () => {
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  const usage = { name: 'Plain', type: 'USAGE', billable_metric_id };
  for (const keys of [{}, { pricing_group_key: [], presentation_group_key: [] }]) {
    const id = await createdId(api, PRODUCTS, { ...usage, ...keys });
    const read = await api.post('/v1/contract-pricing/products/get', { id });
    for (const state of ['initial', 'current']) {
      expect(read.at(`data.${state}`)).not.toHaveProperty('pricing_group_key');
      expect(read.at(`data.${state}`)).not.toHaveProperty('presentation_group_key');
    }
  }
});

test('a custom unit may be free', async () => {
  const custom_credit_type_id = await createdId(api, '/v1/credit-types/create', { name: 'Free' });
  const conversion = (fiat_per_custom_credit: number) => ({
    name: 'Free plan',
    credit_type_conversions: [{ custom_credit_type_id, fiat_per_custom_credit }],
  });
  const id = await createdId(api, RATE_CARDS, conversion(0));
  const card = await api.post('/v1/contract-pricing/rate-cards/get', { id });
  expect(card.at('data.credit_type_conversions[0].fiat_per_custom_credit')).toBe('0');
  const negative = await api.send('POST', RATE_CARDS, conversion(-1));
  expect(negative.status).toBe(400);
});

describe('a 409 has the id of the object in the way', () => {
  async function conflictOf(path: string, body: Body): Promise<unknown> {
    const answer = await api.send('POST', path, body);
    expect(answer.status).toBe(409);
    return answer.at('conflicting_id');
  }

  test('uniqueness keys of contracts, edits and packages', async () => {
    const body = contract({ uniqueness_key: `contract of ${customer_id}` });
    const contract_id = await createdId(api, CONTRACTS, body);
    expect(await conflictOf(CONTRACTS, body)).toBe(contract_id);
    const edit = { customer_id, contract_id, uniqueness_key: `edit of ${customer_id}` };
    const made = await api.post('/v2/contracts/edit', edit);
    expect(await conflictOf('/v2/contracts/edit', edit)).toBe(made.text('data.edit.id'));
    const packaged = { name: 'Package', uniqueness_key: `package of ${customer_id}` };
    const package_id = await createdId(api, '/v1/packages/create', packaged);
    expect(await conflictOf('/v1/packages/create', packaged)).toBe(package_id);
  });

  test('a 409 has the id of the object in the way: names of pricing units, and ingest aliases', async () => {
    const name = `Unit of ${customer_id}`;
    const unit = await createdId(api, '/v1/credit-types/create', { name });
    expect(await conflictOf('/v1/credit-types/create', { name })).toBe(unit);
    await api.post(`/v1/customers/${customer_id}/setIngestAliases`, { ingest_aliases: [name] });
    expect(await conflictOf('/v1/customers', { name: 'Other', ingest_aliases: [name] })).toBe(customer_id);
  });
});

describe('billing providers', () => {
  const LIST = '/v1/listConfiguredBillingProviders';

  test('linking one a second time is a 409 that says already', async () => {
    const link = {
      billing_provider: 'aws_marketplace',
      delivery_method: 'aws_sqs',
      configuration: { aws_region: 'eu-west-1', queue: customer_id },
    };
    const linked = await api.post('/v1/setUpBillingProvider', link);
    const again = await api.send('POST', '/v1/setUpBillingProvider', link);
    expect([again.status, again.text('message')]).toEqual([409, expect.stringContaining('already')]);
    expect(again.at('conflicting_id')).toBe(linked.at('data.delivery_method_id'));
  });

  test('listed billing providers can be used, also without a connection', async () => {
    const listed = (await api.post(LIST, {})).list('data') as Body[];
    const stripe = listed.find((one) => one.billing_provider === 'stripe');
    expect(stripe).toMatchObject({ delivery_method: 'direct_to_billing_provider' });
    const data = [
      {
        customer_id,
        billing_provider: 'stripe',
        delivery_method_id: stripe?.delivery_method_id,
        configuration: { stripe_customer_id: 'cus_1', stripe_collection_method: 'send_invoice' },
      },
    ];
    const set = await api.post('/v1/setCustomerBillingProviderConfigurations', { data });
    expect(set.at('data[0].delivery_method_id')).toBe(stripe?.delivery_method_id);
  });

  test('the same configuration set twice is one, another or an archived one is not', async () => {
    const SET = '/v1/setCustomerBillingProviderConfigurations';
    const one = (stripe_customer_id: string) => ({
      customer_id,
      billing_provider: 'stripe',
      delivery_method: 'direct_to_billing_provider',
      configuration: { stripe_customer_id, stripe_collection_method: 'send_invoice' },
    });
    const [first, same, other] = (await api.post(SET, { data: [one('a'), one('a'), one('b')] })).list(
      'data',
    ) as {
      id: string;
    }[];
    expect(same).toEqual(first);
    expect(other?.id).not.toBe(first?.id);
    expect((await api.post(SET, { data: [one('a')] })).at('data[0].id')).toBe(first?.id);
    await api.post('/v1/archiveCustomerBillingProviderConfigurations', {
      customer_id,
      customer_billing_provider_configuration_ids: [first?.id],
    });
    expect((await api.post(SET, { data: [one('a')] })).at('data[0].id')).not.toBe(first?.id);
  });
});

test('a subscription of a year on monthly statements has full years from its start', async () => {
  const { subscription } = termFixtures(ids);
  const starting_at = '2026-10-15T00:00:00.000Z';
  const annual = { product_id: ids.seats, billing_frequency: 'ANNUAL' };
  const rate = { product_id: ids.seats, starting_at: START, entitled: true, billing_frequency: 'ANNUAL' };
  await api.post(ADD_RATE, { rate_card_id: ids.card, ...rate, rate_type: 'FLAT', price: 1 });
  const contract_id = await createdId(api, CONTRACTS, {
    ...contract(),
    subscriptions: [subscription({ starting_at, subscription_rate: annual })],
  });
  const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
  expect(read.at('data.subscriptions[0].billing_periods.current')).toEqual({
    starting_at,
    ending_before: '2027-10-15T00:00:00.000Z',
  });
});

test.each([
  ['contract_start_date', '2026-10-15T00:00:00.000Z', '2026-11-15T00:00:00.000Z', 'CONTRACT_START'],
  ['first_billing_period', '2026-11-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z', 'FIRST_OF_MONTH'],
])(
  'a package with billing_anchor_date %s bills from there',
  async (billing_anchor_date, anchor, firstEnd, day) => {
    const CREATE = '/v1/packages/create';
    const package_id = await createdId(api, CREATE, {
      name: 'Package',
      rate_card_id: ids.card,
      billing_anchor_date,
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
    });
    const starting_at = '2026-10-15T00:00:00.000Z';
    const contract_id = await createdId(api, CONTRACTS, { customer_id, package_id, starting_at });
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
    expect(read.at('data.usage_statement_schedule')).toEqual({
      frequency: 'MONTHLY',
      billing_anchor_date: anchor,
    });
    const invoices = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { sort: 'date_asc' } });
    expect(invoices.at('data[0]')).toMatchObject({ start_timestamp: starting_at, end_timestamp: firstEnd });
    const stored = await api.post('/v1/packages/get', { package_id });
    expect(stored.at('data.usage_statement_schedule.day')).toBe(day);
    expect(stored.at('data')).not.toHaveProperty('billing_anchor_date');
    const bad = { name: 'Bad', billing_anchor_date: 'first_billing_period' };
    const contradiction = {
      ...bad,
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    };
    const answer = await api.send('POST', CREATE, contradiction);
    expect([answer.status, answer.text('message')]).toEqual([
      400,
      expect.stringMatching(/^billing_anchor_date: /),
    ]);
  },
);
