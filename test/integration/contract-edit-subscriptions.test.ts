/** Changes of subscriptions by an edit: ends, quantities and seats. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
let api: ApiClient;
let catalogue: TermsCatalogue;
let customer: string;
let contract: string;
let counted: string;
let seated: string;

beforeAll(async () => {
  // The quantity schedule shows the present and the future: from here all of it is the future.
  api = createCatalogueApi(pool.db, { now: Date.UTC(2026, 8, 30, 12, 30) });
  catalogue = await createTermsCatalogue(api);
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});
beforeEach(async () => {
  const common = {
    subscription_rate: { product_id: catalogue.seats, billing_frequency: 'MONTHLY' },
    collection_schedule: 'ADVANCE',
    proration: {},
  };
  contract = await createdId(api, CONTRACTS, {
    customer_id: customer,
    rate_card_id: catalogue.card,
    starting_at: '2026-10-01T00:00:00Z',
    subscriptions: [
      { ...common, initial_quantity: 4, ending_before: '2027-10-01T00:00:00Z' },
      {
        ...common,
        quantity_management_mode: 'SEAT_BASED',
        seat_config: {
          seat_group_key: 'user',
          initial_seat_ids: ['ada', 'bob'],
          initial_unassigned_seats: 1,
        },
      },
    ],
  });
  const state = await get();
  counted = state.text('data.subscriptions[0].id');
  seated = state.text('data.subscriptions[1].id');
});

const at = (month: number) => `2026-${month}-01T00:00:00.000Z`;

async function get(): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
}

function send(subscription_id: string, patch: object): Promise<ApiAnswer> {
  return api.send('POST', '/v2/contracts/edit', {
    customer_id: customer,
    contract_id: contract,
    update_subscriptions: [{ subscription_id, ...patch }],
  });
}

async function refused(subscription: string, patch: object): Promise<string> {
  const answer = await send(subscription, patch);
  expect(answer.status).toBe(400);
  return answer.text('message');
}

/** Edits and returns the quantities by their starts; the history must repeat the patch. */
async function quantities(subscription: string, patch: object): Promise<Record<string, unknown>> {
  const answer = await send(subscription, patch);
  expect(answer.at('message')).toBeUndefined();
  expect(answer.at('data.edit.update_subscriptions')).toEqual([{ id: subscription, ...patch }]);
  const state = await get();
  const index = subscription === counted ? 0 : 1;
  const schedule = state.list(`data.subscriptions[${index}].quantity_schedule`) as {
    starting_at: string;
    quantity: number;
  }[];
  return Object.fromEntries(schedule.map((entry) => [entry.starting_at, entry.quantity]));
}

describe('quantities', () => {
  test('quantities of subscriptions are set and moved; those of one date count in the order sent', async () => {
    const quantity_updates = [
      { starting_at: at(12), quantity: 12 },
      { starting_at: at(12), quantity_delta: -1 },
      { starting_at: at(11), quantity_delta: 2 },
    ];
    expect(await quantities(counted, { quantity_updates })).toEqual({
      [at(10)]: 4,
      [at(11)]: 6,
      [at(12)]: 11,
    });
    const later = [{ starting_at: at(11), quantity: 1 }];
    expect(await quantities(counted, { quantity_updates: later })).toEqual({
      [at(10)]: 4,
      [at(11)]: 1,
      [at(12)]: 11,
    });
  });

  test('quantities of subscriptions are never negative, also not by what is scheduled for later', async () => {
    const path = 'update_subscriptions[0].quantity_updates';
    const updates = (...quantity_updates: object[]) => refused(counted, { quantity_updates });
    expect(await updates({ starting_at: at(11), quantity_delta: -5 })).toBe(
      `${path}[0].quantity_delta: makes the quantity negative`,
    );
    expect(
      await updates({ starting_at: at(12), quantity_delta: -3 }, { starting_at: at(11), quantity: 2 }),
    ).toBe(`${path}[1].quantity: makes the quantity negative`);
    expect(await updates({ starting_at: at(11), quantity_delta: 0 })).toBe(
      `${path}[0].quantity_delta: must not be 0`,
    );
    expect(await updates({ starting_at: at(11), quantity: 1, quantity_delta: 1 })).toBe(
      `${path}[0].quantity_delta: cannot be combined with quantity`,
    );
    expect(await updates({ starting_at: at(11) })).toBe(
      `${path}[0].quantity: is required without quantity_delta`,
    );
    expect(await updates({ starting_at: '2027-10-01T00:00:00Z', quantity: 1 })).toBe(
      `${path}[0].starting_at: must lie within the subscription`,
    );
    expect(await refused(seated, { quantity_updates: [{ starting_at: at(11), quantity: 1 }] })).toBe(
      `${path}[0]: is for QUANTITY_ONLY subscriptions: use seat_updates`,
    );
  });

  test('an end and a rounding are set and taken away', async () => {
    const rounding = { rounding_method: 'FLOOR', decimal_places: -2 };
    await quantities(counted, { ending_before: at(12), proration_rounding: rounding });
    const state = await get();
    expect(state.at('data.subscriptions[0]')).toMatchObject({
      ending_before: at(12),
      proration: { rounding },
    });
    await quantities(counted, { ending_before: null, proration_rounding: null });
    const open = await get();
    expect(open.at('data.subscriptions[0].ending_before')).toBeUndefined();
    expect(open.at('data.subscriptions[0].proration.rounding')).toBeUndefined();
    expect(await refused(counted, { ending_before: at(10) })).toBe(
      'update_subscriptions[0].ending_before: must be after starting_at',
    );
  });
});

describe('seats', () => {
  test('new seats take unassigned ones first; unknown and repeated ids change nothing', async () => {
    expect(
      await quantities(seated, {
        seat_updates: {
          add_seat_ids: [{ seat_ids: ['cleo', 'ada', 'dan'], starting_at: at(11) }],
          remove_seat_ids: [{ seat_ids: ['nobody'], starting_at: at(11) }],
        },
      }),
    ).toEqual({ [at(10)]: 3, [at(11)]: 4 });
  });

  test('a seat is handed over in one edit without a change of the quantity', async () => {
    expect(
      await quantities(seated, {
        seat_updates: {
          add_seat_ids: [{ seat_ids: ['eve'], starting_at: at(11) }],
          remove_seat_ids: [{ seat_ids: ['bob'], starting_at: at(11) }],
          add_unassigned_seats: [{ quantity: 1, starting_at: at(11) }],
          remove_unassigned_seats: [{ quantity: 1, starting_at: at(12) }],
        },
      }),
    ).toEqual({ [at(10)]: 3, [at(11)]: 3, [at(12)]: 2 });
  });

  test('no more empty seats go than there are', async () => {
    const remove_unassigned_seats = [{ quantity: 9, starting_at: at(11) }];
    expect(await quantities(seated, { seat_updates: { remove_unassigned_seats } })).toEqual({
      [at(10)]: 3,
      [at(11)]: 2,
    });
  });

  test('seats are for SEAT_BASED subscriptions, and within them', async () => {
    const seat_updates = { add_seat_ids: [{ seat_ids: ['x'], starting_at: '2026-09-01T00:00:00Z' }] };
    expect(await refused(counted, { seat_updates })).toBe(
      'update_subscriptions[0].seat_updates: is for SEAT_BASED subscriptions: use quantity_updates',
    );
    expect(await refused(seated, { seat_updates })).toBe(
      'update_subscriptions[0].seat_updates.add_seat_ids[0].starting_at: must lie within the subscription',
    );
  });

  test('a quantity and its scheduled changes become unassigned seats', async () => {
    await quantities(counted, {
      quantity_updates: [
        { starting_at: at(11), quantity: 6 },
        { starting_at: at(12), quantity: 2 },
      ],
    });
    const quantity_management_mode_update = {
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user' },
    };
    expect(await quantities(counted, { quantity_management_mode_update })).toEqual({
      [at(10)]: 4,
      [at(11)]: 6,
      [at(12)]: 2,
    });
    const state = await get();
    expect(state.at('data.subscriptions[0]')).toMatchObject({
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user' },
    });
    const add_seat_ids = [{ seat_ids: ['ada', 'bob', 'cleo', 'dan', 'eve'], starting_at: at(10) }];
    expect(await quantities(counted, { seat_updates: { add_seat_ids } })).toEqual({
      [at(10)]: 5,
      [at(11)]: 7,
      [at(12)]: 5,
    });
    expect(await refused(counted, { quantity_management_mode_update })).toMatch(/is SEAT_BASED already$/);
  });

  test('seats are 1,000 at most unless more are configured, also those of a quantity that becomes seats', async () => {
    const more = (quantity: number) => ({
      seat_updates: { add_unassigned_seats: [{ quantity, starting_at: at(11) }] },
    });
    const problem = 'a subscription has at most 1000 seats, this one would have 1001';
    expect(await refused(seated, more(998))).toBe(`update_subscriptions[0].seat_updates: ${problem}`);
    expect(await quantities(seated, more(997))).toEqual({ [at(10)]: 3, [at(11)]: 1000 });
    await quantities(counted, { quantity_updates: [{ starting_at: at(11), quantity: 1_001 }] });
    const quantity_management_mode_update = {
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user' },
    };
    expect(await refused(counted, { quantity_management_mode_update })).toBe(
      `update_subscriptions[0].quantity_management_mode_update: ${problem}`,
    );
    const contract_of_more = await api.send('POST', CONTRACTS, {
      ...{ customer_id: customer, rate_card_id: catalogue.card, starting_at: at(10) },
      subscriptions: [
        {
          subscription_rate: { product_id: catalogue.seats, billing_frequency: 'MONTHLY' },
          ...{ collection_schedule: 'ADVANCE', proration: {}, quantity_management_mode: 'SEAT_BASED' },
          seat_config: { seat_group_key: 'user', initial_seat_ids: ['a'], initial_unassigned_seats: 1_000 },
        },
      ],
    });
    expect([contract_of_more.status, contract_of_more.text('message')]).toEqual([
      ...[400, `subscriptions[0].seat_config: ${problem}`],
    ]);
  });

  test('a quantity with a fraction cannot become seats', async () => {
    await quantities(counted, { quantity_updates: [{ starting_at: at(11), quantity: 1.5 }] });
    const quantity_management_mode_update = {
      quantity_management_mode: 'SEAT_BASED',
      seat_config: { seat_group_key: 'user' },
    };
    expect(await refused(counted, { quantity_management_mode_update })).toBe(
      'update_subscriptions[0].quantity_management_mode_update: a quantity with a fraction cannot become seats',
    );
  });
});
