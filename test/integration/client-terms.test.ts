/** The behaviour of terms, renewals and lists that clients of the interface rely on, in requests as they send them. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { refusalOf } from '../support/refusal.ts';
import { type Body, START, termFixtures } from '../support/term-fixtures.ts';

const { api } = await serviceForFile({ usage: 'naive', sandboxNow: '2026-11-20T12:00:00Z' });
const EDIT = '/v2/contracts/edit';
const PACKAGES = '/v1/packages/create';
let ids: TermsCatalogue;
let terms: ReturnType<typeof termFixtures>;
let customer_id: string;

beforeAll(async () => {
  ids = await createTermsCatalogue(api);
  terms = termFixtures(ids);
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

describe('custom_field_filters over several entities', () => {
  const filter = (entity: string, key: string, value: string) => ({ entity, key, value });
  const gift = (entity: string) => filter(entity, 'kind', 'gift');
  const threshold = (custom_field_filters: Body[]) =>
    terms.prepaidThreshold({ threshold_balance_specifiers: [{ exclude: [{ custom_field_filters }] }] });
  const NAME = 'prepaid_balance_threshold_configuration';
  const FIELD = `${NAME}.threshold_balance_specifiers[0].exclude[0].custom_field_filters`;
  const SAME = 'must have the same keys and values for each entity';

  test.each<[string, Body[]]>([
    ['another value', [gift('Commit'), filter('ContractCredit', 'kind', 'promotion')]],
    ['another key', [gift('Commit'), filter('ContractCredit', 'source', 'gift')]],
    ['one key less', [gift('Commit'), filter('Commit', 'source', 'a'), gift('ContractCredit')]],
    [
      'one key more',
      [gift('Commit'), gift('ContractCreditOrCommit'), filter('ContractCreditOrCommit', 'a', 'b')],
    ],
  ])('custom_field_filters over several entities are refused with %s for one of them', async (_, filters) => {
    const contract_id = await createdId(api, CONTRACTS, contract({ [NAME]: threshold([gift('Commit')]) }));
    const reference = { customer_id, contract_id };
    const refused = threshold(filters);
    const { threshold_balance_specifiers } = refused;
    expect(await refusalOf(api, CONTRACTS, contract({ [NAME]: refused }))).toBe(`${FIELD}: ${SAME}`);
    const packaged = { name: 'Package', rate_card_id: ids.card, [NAME]: refused };
    expect(await refusalOf(api, PACKAGES, packaged)).toBe(`${FIELD}: ${SAME}`);
    const update = { ...reference, [`update_${NAME}`]: { threshold_balance_specifiers } };
    expect(await refusalOf(api, EDIT, update)).toBe(`update_${FIELD}: ${SAME}`);
    const other = await createdId(api, CONTRACTS, contract());
    const addition = { customer_id, contract_id: other, [`add_${NAME}`]: refused };
    expect(await refusalOf(api, EDIT, addition)).toBe(`add_${FIELD}: ${SAME}`);
  });

  test('custom_field_filters over several entities are accepted with the same keys and values in any order', async () => {
    const both = ['Commit', 'ContractCredit'].flatMap((entity, index) => {
      const filters = [gift(entity), filter(entity, 'source', 'a')];
      return index === 0 ? filters : filters.toReversed();
    });
    const contract_id = await createdId(api, CONTRACTS, contract({ [NAME]: threshold(both) }));
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
    expect(read.at(`data.${FIELD}`)).toEqual(both);
  });
});

describe('filters of alerts over several entities', () => {
  const ALERT = '/v1/alerts/create';
  const filter = (entity: string, key: string, value?: string) => ({ entity, key, ...(value && { value }) });
  const alert = (change: Body) => ({
    name: 'Low balance',
    alert_type: 'low_remaining_contract_credit_and_commit_balance_reached',
    threshold: 10,
    customer_id,
    ...change,
  });
  const different = [filter('Commit', 'kind', 'gift'), filter('ContractCredit', 'kind', 'promotion')];
  const same = [filter('Commit', 'kind', 'gift'), filter('ContractCredit', 'kind', 'gift')];
  const open = [filter('Commit', 'kind'), filter('ContractCredit', 'kind')];
  const SAME = 'must have the same keys and values for each entity';

  test('filters of alerts over several entities are refused unless each has the same keys and values', async () => {
    const specified = (custom_field_filters: Body[], exclude: Body[] = []) =>
      alert({ alert_specifiers: [{ custom_field_filters, exclude }] });
    expect(await refusalOf(api, ALERT, alert({ custom_field_filters: different }))).toBe(
      `custom_field_filters: ${SAME}`,
    );
    expect(await refusalOf(api, ALERT, specified(different))).toBe(
      `alert_specifiers[0].custom_field_filters: ${SAME}`,
    );
    expect(await refusalOf(api, ALERT, specified(same, [{ custom_field_filters: different }]))).toBe(
      `alert_specifiers[0].exclude[0].custom_field_filters: ${SAME}`,
    );
    const two = [...open, filter('Commit', 'team'), filter('ContractCredit', 'team')];
    expect(await refusalOf(api, ALERT, specified(two))).toBe(
      'alert_specifiers: must have at most one key without a value',
    );
    await createdId(api, ALERT, alert({ custom_field_filters: same }));
    await createdId(api, ALERT, specified([...open, filter('Contract', 'plan', 'pro')]));
  });
});

describe('a recurring term', () => {
  const access_amount = { unit_price: 1, credit_type_id: USD_CENTS.id };

  async function withSubscription() {
    const subscriptions = [terms.subscription({ temporary_id: 'seats' })];
    const subscription_config = {
      subscription_id: 'seats',
      allocation: 'POOLED',
      apply_seat_increase_config: { is_prorated: false },
    };
    const recurring_credits = [terms.recurring({ access_amount, subscription_config })];
    const contract_id = await createdId(api, CONTRACTS, contract({ subscriptions, recurring_credits }));
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
    const config = { ...subscription_config, subscription_id: read.text('data.subscriptions[0].id') };
    return { contract_id, config, id: read.text('data.recurring_credits[0].id') };
  }

  test('a recurring term with subscription_config has no quantity, in an edit neither', async () => {
    const { contract_id, config, id } = await withSubscription();
    const both = terms.recurring({ subscription_config: config });
    const reference = { customer_id, contract_id };
    expect(await refusalOf(api, EDIT, { ...reference, add_recurring_credits: [both] })).toBe(
      'add_recurring_credits[0].access_amount.quantity: cannot be combined with subscription_config',
    );
    const update = { recurring_credit_id: id, access_amount: { quantity: 2 } };
    expect(await refusalOf(api, EDIT, { ...reference, update_recurring_credits: [update] })).toBe(
      'update_recurring_credits[0].access_amount.quantity: is that of the subscription',
    );
  });

  test('a recurring term does not start before its contract, in an edit neither', async () => {
    const contract_id = await createdId(api, CONTRACTS, contract());
    const early = terms.recurring({ starting_at: '2026-09-30T23:00:00Z' });
    expect(await refusalOf(api, EDIT, { customer_id, contract_id, add_recurring_commits: [early] })).toBe(
      'add_recurring_commits[0].starting_at: must not be before the contract starts',
    );
  });

  test.each(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'])(
    'a recurring term may last for less than one of its %s periods',
    async (recurrence_frequency) => {
      const ending_before = '2026-10-01T12:00:00.000Z';
      const short = terms.recurring({ recurrence_frequency, ending_before });
      const contract_id = await createdId(api, CONTRACTS, contract({ recurring_commits: [short] }));
      const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
      expect(read.at('data.recurring_commits[0]')).toMatchObject({
        ending_before,
        recurrence_frequency,
        proration: 'FIRST_AND_LAST',
      });
    },
  );

  test('a recurring term of a package may last for a day of its year', async () => {
    const { starting_at: _, ...recurring } = terms.recurring({
      recurrence_frequency: 'ANNUAL',
      starting_at_offset: { unit: 'DAYS', value: 0 },
      duration: { unit: 'DAYS', value: 1 },
    });
    const packaged = { name: 'Package', rate_card_id: ids.card, recurring_commits: [recurring] };
    const package_id = await createdId(api, PACKAGES, packaged);
    const contract_id = await createdId(api, CONTRACTS, { customer_id, package_id, starting_at: START });
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
    expect(read.text('data.recurring_commits[0].ending_before')).toBe('2026-10-02T00:00:00.000Z');
  });
});

test('a flat overwrite of a subscription product names the billing frequency', async () => {
  const overwrite = (specifier: Body) => ({
    starting_at: START,
    type: 'OVERWRITE',
    overwrite_rate: { rate_type: 'FLAT', price: 1 },
    override_specifiers: [{ product_id: ids.seats, ...specifier }],
  });
  expect(await refusalOf(api, CONTRACTS, contract({ overrides: [overwrite({})] }))).toBe(
    'overrides[0].override_specifiers[0].billing_frequency: is required for SUBSCRIPTION products',
  );
  const direct = { ...overwrite({}), override_specifiers: undefined, product_id: ids.seats };
  expect(await refusalOf(api, CONTRACTS, contract({ overrides: [direct] }))).toMatch(
    /^overrides\[0\]\.product_id: .*billing_frequency/,
  );
  const named = overwrite({ billing_frequency: 'MONTHLY' });
  await createdId(api, CONTRACTS, contract({ overrides: [named] }));
});

test('the end of a renewed contract can be set again, and moved', async () => {
  const contract_id = await createdId(api, CONTRACTS, contract());
  const renewedAt = '2027-01-01T00:00:00.000Z';
  const transition = { type: 'RENEWAL', from_contract_id: contract_id };
  const newer = await createdId(api, CONTRACTS, contract({ starting_at: renewedAt, transition }));
  for (const ending_before of [renewedAt, '2026-12-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z']) {
    await api.post('/v1/contracts/updateEndDate', { customer_id, contract_id, ending_before });
    const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
    expect(read.at('data')).toMatchObject({ ending_before, transitions: [{ to_contract_id: newer }] });
  }
  const renewal = await api.post('/v2/contracts/get', { customer_id, contract_id: newer });
  expect(renewal.text('data.starting_at')).toBe(renewedAt);
});

describe('lists', () => {
  const LISTS: [string, () => Body][] = [
    ['/v1/packages/list', () => ({})],
    [`${PRODUCTS.replace('create', 'list')}`, () => ({})],
    [`${RATE_CARDS.replace('create', 'list')}`, () => ({})],
    ['/v1/contract-pricing/rate-cards/getRates', () => ({ rate_card_id: ids.card, at: START })],
    [
      '/v1/contract-pricing/rate-cards/getRateSchedule',
      () => ({ rate_card_id: ids.card, starting_at: START }),
    ],
  ];

  test.each(LISTS)('%s takes limit, at most 100, and next_page from the query', async (path, body) => {
    for (const name of ['One', 'Other']) {
      await createdId(api, PACKAGES, { name, rate_card_id: ids.card });
      await createdId(api, RATE_CARDS, { name });
    }
    const whole = await api.post(path, body(), { query: { limit: 100 } });
    expect(whole.at('next_page')).toBeNull();
    const read: unknown[] = [];
    let next_page: string | null = null;
    do {
      const query: Record<string, string | number> = {
        limit: 1,
        ...(next_page === null ? {} : { next_page }),
      };
      const page = await api.post(path, body(), { query });
      expect(page.list('data')).toHaveLength(1);
      read.push(...page.list('data'));
      next_page = page.at('next_page') as string | null;
    } while (next_page !== null);
    expect(read.length).toBeGreaterThan(1);
    expect(read).toEqual(whole.list('data'));
    const beyond = await api.send('POST', path, body(), { query: { limit: 101 } });
    expect([beyond.status, beyond.text('message')]).toEqual([400, expect.stringMatching(/^limit: /)]);
  });

  test('packages come by 10, other lists by 100', async () => {
    for (let index = 0; index < 11; index += 1) {
      await createdId(api, PACKAGES, { name: `Package ${index}`, rate_card_id: ids.card });
      await createdId(api, PRODUCTS, { name: `Fee ${index}`, type: 'FIXED' });
    }
    const packages = await api.post('/v1/packages/list', {});
    expect(packages.list('data')).toHaveLength(10);
    expect(packages.at('next_page')).toEqual(expect.any(String));
    const products = await api.post(PRODUCTS.replace('create', 'list'), {});
    expect(products.list('data').length).toBeGreaterThan(10);
    expect(products.at('next_page')).toBeNull();
  });

  test('v2 lists the contract that starts last first, v1 the one that starts first', async () => {
    const starts = ['2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z', START];
    const ids: string[] = [];
    for (const starting_at of starts) ids.push(await createdId(api, CONTRACTS, contract({ starting_at })));
    const [second, last, first] = ids;
    const idsOf = async (path: string) =>
      (await api.post(path, { customer_id })).list('data').map((one) => (one as Body).id);
    expect(await idsOf('/v2/contracts/list')).toEqual([last, second, first]);
    expect(await idsOf('/v1/contracts/list')).toEqual([first, second, last]);
  });

  test('contracts with equal starts come in the order of their creation in v1, and in the reverse one in v2, while the clock stands still', async () => {
    const customer = await createdId(api, '/v1/customers', { name: 'Equal starts' });
    const made: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      made.push(await createdId(api, CONTRACTS, { customer_id: customer, starting_at: START }));
    }
    const idsOf = async (path: string) =>
      (await api.post(path, { customer_id: customer })).list('data').map((one) => (one as Body).id);
    expect(await idsOf('/v1/contracts/list')).toEqual(made);
    expect(await idsOf('/v2/contracts/list')).toEqual(made.toReversed());
  });

  test('the settings of a customer for deliveries are read back as they were set', async () => {
    const id = await createdId(api, '/v1/customers', { name: 'Delivered' });
    const shown = async () => {
      const { body } = await api.get(`/v1/customers/${id}`);
      const { data } = body as { data: Record<string, unknown> };
      const listed = (await api.get(`/v1/customers?customer_ids=${id}`)).at('data[0]');
      expect(listed).toEqual(data);
      return [data.current_billable_status, data.customer_config];
    };
    const config = { crm_account_id: null, salesforce_account_id: null };
    expect(await shown()).toEqual([
      { value: 'billable', effective_at: null },
      { ...config, leave_stripe_invoices_in_draft: null },
    ]);
    await api.post('/v1/customers/setBillableStatus', { customer_id: id, billable_status: 'unbillable' });
    await api.post(`/v1/customers/${id}/updateConfig`, { leave_stripe_invoices_in_draft: true });
    expect(await shown()).toEqual([
      { value: 'unbillable', effective_at: null },
      { ...config, leave_stripe_invoices_in_draft: true },
    ]);
  });

  test('what is archived a second time is refused as already archived', async () => {
    const customer = await createdId(api, '/v1/customers', { name: 'Archived' });
    const contract_id = await createdId(api, CONTRACTS, { customer_id: customer, starting_at: START });
    const product_id = await createdId(api, PRODUCTS, { name: 'Archived', type: 'FIXED' });
    const package_id = await createdId(api, PACKAGES, { name: 'Archived' });
    for (const [path, body] of [
      ['/v1/contracts/archive', { customer_id: customer, contract_id, void_invoices: false }],
      ['/v1/contract-pricing/products/archive', { product_id }],
      ['/v1/packages/archive', { package_id }],
      ['/v1/customers/archive', { id: customer }],
    ] as const) {
      await api.post(path, body);
      const again = await api.send('POST', path, body);
      expect([path, again.status, again.text('message')]).toEqual([
        path,
        400,
        expect.stringContaining('already archived'),
      ]);
    }
  });

  test('contracts of a customer come all at once', async () => {
    for (let index = 0; index < 26; index += 1) await createdId(api, CONTRACTS, contract());
    const answer = await api.post('/v2/contracts/list', { customer_id });
    expect(answer.list('data')).toHaveLength(26);
    expect(answer.at('')).not.toHaveProperty('next_page');
  });
});
