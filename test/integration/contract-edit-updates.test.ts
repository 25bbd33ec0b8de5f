/** Updates of terms by an edit: the resulting terms and the history, for each kind of term. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;
let contract: string;
let before: ApiAnswer;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  contract = await createdId(api, CONTRACTS, everyTerm(catalogue, customer));
  before = await get();
});

const EDIT = '/v2/contracts/edit';
const YEAR_END = '2027-10-01T00:00:00.000Z';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const anyId = expect.stringMatching(/^[0-9a-f-]{36}$/);

async function get(): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
}

async function edit(changes: object): Promise<ApiAnswer> {
  await api.post(EDIT, { customer_id: customer, contract_id: contract, ...changes });
  return get();
}

async function refused(changes: object): Promise<string> {
  const answer = await api.send('POST', EDIT, { customer_id: customer, contract_id: contract, ...changes });
  expect(answer.status).toBe(400);
  expect((await get()).at('data')).toEqual(before.at('data'));
  return answer.text('message');
}

/** The record of the last edit. */
async function recorded(): Promise<unknown> {
  const answer = await api.post('/v2/contracts/getEditHistory', {
    customer_id: customer,
    contract_id: contract,
  });
  return answer.list('data').at(-1);
}

describe('commits and credits', () => {
  test('every field is changed, and the history repeats the request', async () => {
    const { tokens, models, fee } = catalogue;
    const commit_id = before.text('data.commits[0].id');
    const patch = {
      name: 'Renamed',
      description: 'Changed',
      rollover_fraction: 0.5,
      applicable_product_ids: [models],
      applicable_product_tags: null,
      product_id: fee,
      hierarchy_configuration: { child_access: { type: 'NONE' } },
      priority: 2.5,
      rate_type: 'LIST_RATE',
    };
    const after = await edit({ update_commits: [{ commit_id, ...patch }] });
    const { applicable_product_tags: _, product_id: __, ...shown } = patch;
    expect(after.at('data.commits[0]')).toMatchObject(shown);
    expect(after.at('data.commits[0].applicable_product_tags')).toBeUndefined();
    expect(await recorded()).toMatchObject({ update_commits: [{ id: commit_id, ...patch }] });
    const credit_id = before.text('data.credits[0].id');
    const cleared = await edit({
      update_credits: [{ credit_id, specifiers: null, applicable_product_ids: [tokens], priority: null }],
    });
    expect(cleared.at('data.credits[0].specifiers')).toBeUndefined();
    expect(cleared.at('data.credits[0]')).toMatchObject({ applicable_product_ids: [tokens], priority: 100 });
    expect(await recorded()).toMatchObject({ update_credits: [{ id: credit_id, specifiers: null }] });
  });

  test('access and invoice items are removed, changed and added', async () => {
    const commit_id = before.text('data.commits[0].id');
    const segment = before.text('data.commits[0].access_schedule.schedule_items[0].id');
    const item = before.text('data.commits[0].invoice_schedule.schedule_items[0].id');
    const access_schedule = {
      add_schedule_items: [{ amount: 5, starting_at: YEAR_END, ending_before: '2028-01-01T00:00:00.000Z' }],
      update_schedule_items: [{ id: segment, amount: 7.25, ending_before: '2027-06-01T00:00:00.000Z' }],
    };
    const invoice_schedule = {
      add_schedule_items: [{ timestamp: '2026-09-30T00:00:00.000Z', unit_price: 3, quantity: 4 }],
      update_schedule_items: [{ id: item, quantity: 3 }],
    };
    const after = await edit({ update_commits: [{ commit_id, access_schedule, invoice_schedule }] });
    expect(after.at('data.commits[0].access_schedule.schedule_items')).toEqual([
      {
        id: segment,
        amount: 7.25,
        starting_at: '2026-10-01T00:00:00.000Z',
        ending_before: '2027-06-01T00:00:00.000Z',
      },
      { id: anyId, ...access_schedule.add_schedule_items[0] },
    ]);
    expect(after.at('data.commits[0].invoice_schedule.schedule_items')).toMatchObject([
      { amount: 12, unit_price: 3, quantity: 4 },
      { id: item, amount: 120_000, unit_price: 40_000, quantity: 3 },
    ]);
    expect(await recorded()).toMatchObject({
      update_commits: [{ id: commit_id, access_schedule, invoice_schedule }],
    });
    const [added] = after.list('data.commits[0].invoice_schedule.schedule_items');
    const removed = await edit({
      update_commits: [
        { commit_id, invoice_schedule: { remove_schedule_items: [{ id: (added as { id: string }).id }] } },
      ],
    });
    expect(removed.list('data.commits[0].invoice_schedule.schedule_items')).toHaveLength(1);
  });

  test('a postpaid commit keeps one access item and one invoice item of the same amount', async () => {
    const commit_id = before.text('data.commits[1].id');
    const segment = before.text('data.commits[1].access_schedule.schedule_items[0].id');
    const item = before.text('data.commits[1].invoice_schedule.schedule_items[0].id');
    const access_schedule = { update_schedule_items: [{ id: segment, amount: 60_000 }] };
    expect(await refused({ update_commits: [{ commit_id, access_schedule }] })).toBe(
      'update_commits[0].invoice_schedule: must equal the access amount 60000 for POSTPAID commits',
    );
    const invoice_schedule = { update_schedule_items: [{ id: item, amount: 60_000 }] };
    const after = await edit({ update_commits: [{ commit_id, access_schedule, invoice_schedule }] });
    expect(after.at('data.commits[1].invoice_schedule.schedule_items[0].amount')).toBe(60_000);
  });

  test('a commit that was free of charge gets a price', async () => {
    const free = await edit({
      add_commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          access_schedule: {
            schedule_items: [{ amount: 1, starting_at: '2026-10-01T00:00:00Z', ending_before: YEAR_END }],
          },
        },
      ],
    });
    const added = `data.commits[${before.list('data.commits').length}]`;
    const commit_id = free.text(`${added}.id`);
    const invoice_schedule = { add_schedule_items: [{ timestamp: YEAR_END, amount: 4 }] };
    const after = await edit({ update_commits: [{ commit_id, invoice_schedule }] });
    expect(after.at(`${added}.invoice_schedule`)).toMatchObject({
      credit_type: { id: USD_CENTS.id },
      schedule_items: [{ amount: 4, unit_price: 4, quantity: 1 }],
    });
  });

  test('a refusal names the place in the request', async () => {
    const commit_id = before.text('data.commits[0].id');
    const segment = before.text('data.commits[0].access_schedule.schedule_items[0].id');
    const access = (access_schedule: object) => ({ update_commits: [{ commit_id, access_schedule }] });
    expect(
      await refused(
        access({ update_schedule_items: [{ id: segment, ending_before: '2026-10-01T00:00:00Z' }] }),
      ),
    ).toBe(
      'update_commits[0].access_schedule.update_schedule_items[0].ending_before: must be after starting_at',
    );
    expect(await refused(access({ remove_schedule_items: [{ id: segment }] }))).toBe(
      'update_commits[0].access_schedule.remove_schedule_items: must leave at least 1 item',
    );
    expect(await refused(access({ remove_schedule_items: [{ id: UNKNOWN }] }))).toBe(
      `update_commits[0].access_schedule.remove_schedule_items[0].id: the schedule has no item ${UNKNOWN}`,
    );
    expect(await refused({ update_commits: [{ commit_id: UNKNOWN }] })).toBe(
      `update_commits[0].commit_id: the contract has no commit ${UNKNOWN}`,
    );
    expect(await refused({ update_credits: [{ credit_id: commit_id }] })).toBe(
      `update_credits[0].credit_id: the contract has no credit ${commit_id}`,
    );
    expect(await refused({ update_commits: [{ commit_id, product_id: catalogue.tokens }] })).toBe(
      'update_commits[0].product_id: must be a FIXED product, not USAGE',
    );
    expect(await refused({ update_commits: [{ commit_id, specifiers: [{ product_tags: ['x'] }] }] })).toMatch(
      /^update_commits\[0\]\.specifiers: cannot be combined/,
    );
  });

  test('a commit whose product is archived can still be changed', async () => {
    const fee = await createdId(api, '/v1/contract-pricing/products/create', {
      type: 'FIXED',
      name: 'Old fee',
    });
    const added = await edit({
      add_credits: [
        {
          product_id: fee,
          access_schedule: {
            schedule_items: [{ amount: 1, starting_at: '2026-10-01T00:00:00Z', ending_before: YEAR_END }],
          },
        },
      ],
    });
    await api.post('/v1/contract-pricing/products/archive', { product_id: fee });
    const credit_id = added.text('data.credits[1].id');
    const after = await edit({ update_credits: [{ credit_id, name: 'Still' }] });
    expect(after.at('data.credits[1].name')).toBe('Still');
  });
});

describe('recurring commits and credits', () => {
  test('amounts, end, rate type and rounding are changed; null takes rounding and end away', async () => {
    const recurring_commit_id = before.text('data.recurring_commits[0].id');
    const patch = {
      access_amount: { unit_price: 11, quantity: 2 },
      invoice_amount: { quantity: 2 },
      ending_before: '2027-05-01T00:00:00.000Z',
      rate_type: 'COMMIT_RATE',
      proration_rounding: { access: null, invoice: { rounding_method: 'CEILING', decimal_places: 1 } },
    };
    const after = await edit({ update_recurring_commits: [{ recurring_commit_id, ...patch }] });
    expect(after.at('data.recurring_commits[0]')).toMatchObject({
      ...patch,
      access_amount: { unit_price: 11, quantity: 2, credit_type_id: catalogue.unit },
      invoice_amount: { unit_price: 5, quantity: 2, credit_type_id: USD_CENTS.id },
      proration_rounding: { invoice: { rounding_method: 'CEILING', decimal_places: 1 } },
    });
    expect(after.at('data.recurring_commits[0].proration_rounding.access')).toBeUndefined();
    expect(await recorded()).toMatchObject({
      update_recurring_commits: [{ id: recurring_commit_id, ...patch }],
    });
    const open = await edit({
      update_recurring_commits: [{ recurring_commit_id, ending_before: null, proration_rounding: null }],
    });
    expect(open.at('data.recurring_commits[0].ending_before')).toBeUndefined();
    expect(open.at('data.recurring_commits[0].proration_rounding')).toBeUndefined();
    expect(await recorded()).toMatchObject({
      update_recurring_commits: [{ ending_before: null, proration_rounding: null }],
    });
  });

  test('the quantity of a credit that is tied to a subscription is the subscription’s', async () => {
    const recurring_credit_id = before.text('data.recurring_credits[0].id');
    expect(
      await refused({ update_recurring_credits: [{ recurring_credit_id, access_amount: { quantity: 2 } }] }),
    ).toBe('update_recurring_credits[0].access_amount.quantity: is that of the subscription');
    const after = await edit({
      update_recurring_credits: [{ recurring_credit_id, access_amount: { unit_price: 2 } }],
    });
    expect(after.at('data.recurring_credits[0].access_amount.unit_price')).toBe(2);
  });

  test('an end before the start is refused', async () => {
    const recurring_commit_id = before.text('data.recurring_commits[0].id');
    expect(
      await refused({
        update_recurring_commits: [{ recurring_commit_id, ending_before: '2026-10-01T00:00:00Z' }],
      }),
    ).toBe('update_recurring_commits[0].ending_before: must be after starting_at');
  });
});

describe('scheduled charges', () => {
  test('items are removed, changed and added', async () => {
    const scheduled_charge_id = before.text('data.scheduled_charges[0].id');
    const [first, second] = before.list('data.scheduled_charges[0].schedule.schedule_items') as {
      id: string;
    }[];
    const invoice_schedule = {
      remove_schedule_items: [{ id: first?.id }],
      update_schedule_items: [{ id: second?.id, timestamp: '2027-02-01T00:00:00.000Z', amount: -1.5 }],
      add_schedule_items: [{ timestamp: '2027-01-01T00:00:00.000Z', amount: 9 }],
    };
    const after = await edit({ update_scheduled_charges: [{ scheduled_charge_id, invoice_schedule }] });
    expect(after.list('data.scheduled_charges[0].schedule.schedule_items')).toMatchObject([
      { amount: 34 },
      { amount: 9 },
      { id: second?.id, amount: -1.5, unit_price: -1.5, quantity: 1 },
    ]);
    expect(await recorded()).toMatchObject({
      update_scheduled_charges: [{ id: scheduled_charge_id, invoice_schedule }],
    });
    before = after;
    const both = { add_schedule_items: [{ timestamp: YEAR_END, amount: 1, unit_price: 1 }] };
    expect(
      await refused({ update_scheduled_charges: [{ scheduled_charge_id, invoice_schedule: both }] }),
    ).toBe(
      'update_scheduled_charges[0].invoice_schedule.add_schedule_items[0].unit_price: cannot be combined with amount',
    );
  });
});

describe('threshold settings', () => {
  test('given threshold settings are changed, the others stay', async () => {
    const spend = {
      is_enabled: false,
      threshold_amount: 6_000,
      commit: { name: 'Other', priority: 4 },
      payment_gate_config: { payment_gate_type: 'EXTERNAL' },
    };
    const prepaid = {
      recharge_to_amount: 9_000,
      commit: { applicable_product_tags: null, applicable_product_ids: [catalogue.tokens], priority: null },
      discount_configuration: { payment_fraction: 0.5 },
      threshold_balance_specifiers: null,
    };
    const after = await edit({
      update_spend_threshold_configuration: spend,
      update_prepaid_balance_threshold_configuration: prepaid,
    });
    expect(after.at('data.spend_threshold_configuration')).toEqual({
      ...spend,
      commit: { product_id: catalogue.fee, name: 'Other', priority: 4 },
    });
    expect(after.at('data.prepaid_balance_threshold_configuration')).toMatchObject({
      threshold_amount: 500,
      recharge_to_amount: 9_000,
      commit: { product_id: catalogue.fee, applicable_product_ids: [catalogue.tokens] },
      discount_configuration: { payment_fraction: 0.5, cap: { spend_tracker_alias: 'recharges' } },
    });
    const path = 'data.prepaid_balance_threshold_configuration';
    expect(after.at(`${path}.threshold_balance_specifiers`)).toBeUndefined();
    expect(after.at(`${path}.commit.priority`)).toBeUndefined();
    expect(await recorded()).toMatchObject({
      update_spend_threshold_configuration: spend,
      update_prepaid_balance_threshold_configuration: prepaid,
    });
    const without = await edit({
      update_prepaid_balance_threshold_configuration: { discount_configuration: null },
    });
    expect(without.at(`${path}.discount_configuration`)).toBeUndefined();
  });

  test('the result must be sound, and there is one of each', async () => {
    expect(
      await refused({ update_prepaid_balance_threshold_configuration: { recharge_to_amount: 600 } }),
    ).toMatch(/^update_prepaid_balance_threshold_configuration\.recharge_to_amount: must be at least/);
    const { spend_threshold_configuration } = everyTerm(catalogue, customer);
    expect(await refused({ add_spend_threshold_configuration: spend_threshold_configuration })).toBe(
      'add_spend_threshold_configuration: the contract has one already: use update_spend_threshold_configuration',
    );
  });

  test('settings that are not there cannot be changed', async () => {
    contract = await createdId(api, CONTRACTS, {
      customer_id: customer,
      rate_card_id: catalogue.card,
      starting_at: '2026-10-01T00:00:00Z',
    });
    before = await get();
    expect(await refused({ update_spend_threshold_configuration: { is_enabled: false } })).toBe(
      'update_spend_threshold_configuration: the contract has none: use add_spend_threshold_configuration',
    );
  });
});
