/**
 * The official client, unchanged: the histories of subscriptions, and the balances of seats.
 *
 * SDK methods covered in this file:
 * - v1.contracts: getSubscriptionSeatsHistory, listSeatBalances, retrieveSubscriptionQuantityHistory
 */
import Metronome, { BadRequestError, NotFoundError } from '@metronome/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-12-20T00:00:00Z' });
let client: Metronome;
let catalogue: TermsCatalogue;

const START = '2026-10-01T00:00:00.000Z';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
  catalogue = await createTermsCatalogue(service.api);
});

type Input = NonNullable<Metronome.V1.ContractCreateParams['subscriptions']>[number];

type Credits = NonNullable<Metronome.V1.ContractCreateParams['recurring_credits']>;

async function subscribe(terms: Partial<Input>, recurring_credits: Credits = []) {
  const customer_id = await createdId(service.api, '/v1/customers', { name: 'Customer' });
  const { data } = await client.v1.contracts.create({
    customer_id,
    rate_card_id: catalogue.card,
    starting_at: START,
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: catalogue.seats },
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        ...terms,
      },
    ],
    recurring_credits,
    overrides: [
      {
        type: 'MULTIPLIER',
        starting_at: '2026-11-10T00:00:00Z',
        multiplier: 0.5,
        override_specifiers: [{ product_id: catalogue.seats, billing_frequency: 'MONTHLY' }],
      },
    ],
  });
  const contract = await client.v2.contracts.retrieve({ customer_id, contract_id: data.id });
  const subscription_id = contract.data.subscriptions?.[0]?.id ?? '';
  const reference = { customer_id, contract_id: data.id };
  return { reference, all: { ...reference, subscription_id } };
}

describe('the quantity history', () => {
  it('the quantity history has each change of the quantity and of the price, which is that of the period', async () => {
    const { reference, all } = await subscribe({ initial_quantity: 10 });
    await client.v2.contracts.edit({
      ...reference,
      update_subscriptions: [
        {
          subscription_id: all.subscription_id,
          quantity_updates: [
            { starting_at: '2026-11-20T00:00:00Z', quantity_delta: 2 },
            { starting_at: '2027-01-20T00:00:00Z', quantity: 50 },
          ],
        },
      ],
    });
    const { data } = await client.v1.contracts.retrieveSubscriptionQuantityHistory(all);
    expect(data.subscription_id).toBe(all.subscription_id);
    expect(data.history).toEqual([
      { starting_at: START, data: [{ quantity: 10, unit_price: 2_000, total: 20_000 }] },
      {
        starting_at: '2026-11-20T00:00:00.000Z',
        data: [{ quantity: 12, unit_price: 2_000, total: 24_000 }],
      },
      {
        starting_at: '2026-12-01T00:00:00.000Z',
        data: [{ quantity: 12, unit_price: 1_000, total: 12_000 }],
      },
    ]);
  });

  it('the quantity history is refused with a code where something is unknown', async () => {
    const { all } = await subscribe({ initial_quantity: 1 });
    const read = (change: object) =>
      client.v1.contracts.retrieveSubscriptionQuantityHistory({ ...all, ...change });
    await expect(read({ customer_id: UNKNOWN_ID })).rejects.toMatchObject({
      ...{ status: 404, error: { code: 'CustomerNotFound' } },
    });
    await expect(read({ contract_id: UNKNOWN_ID })).rejects.toMatchObject({
      ...{ status: 404, error: { code: 'ContractNotFound' } },
    });
    const missing = read({ subscription_id: UNKNOWN_ID });
    await expect(missing).rejects.toBeInstanceOf(NotFoundError);
    await expect(missing).rejects.toMatchObject({ error: { code: 'SubscriptionNotFound' } });
  });
});

const seated: Partial<Input> = {
  quantity_management_mode: 'SEAT_BASED',
  seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada'], initial_unassigned_seats: 1 },
};

describe('the balances of seats', () => {
  const CREDIT_TYPE = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
  const seatIds = Array.from({ length: 30 }, (_, index) => `user-${10 + index}`);

  async function withAllowance() {
    const { reference, all } = await subscribe(
      {
        ...{ ...seated, temporary_id: 'seats' },
        seat_config: { seat_group_key: 'user', initial_seat_ids: seatIds, initial_unassigned_seats: 2 },
      },
      // One per month from October on, so that each seat has more than three.
      [
        {
          access_amount: { credit_type_id: CREDIT_TYPE, unit_price: 100 },
          ...{ product_id: catalogue.fee, priority: 1, commit_duration: { value: 1, unit: 'PERIODS' } },
          ...{ recurrence_frequency: 'MONTHLY', starting_at: START },
          subscription_config: {
            ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
            apply_seat_increase_config: { is_prorated: false },
          },
        },
      ],
    );
    return { reference, all };
  }

  it('the balances of seats are listed seat by seat, and pages have 25 seats, or fewer where they show 100 credits', async () => {
    const { reference } = await withAllowance();
    const covering_date = '2026-12-10T00:00:00Z';
    const balances = [{ credit_type_id: CREDIT_TYPE, balance: 100, starting_balance: 100 }];
    const first = await client.v1.contracts.listSeatBalances({ ...reference, covering_date });
    expect(first.data).toEqual(seatIds.slice(0, 25).map((seat_id) => ({ seat_id, balances })));
    expect(first.pagination).toMatchObject({ seats_included: 25, seats_available_for_next_page: 5 });
    const rest = await client.v1.contracts.listSeatBalances({
      ...{ ...reference, covering_date, cursor: first.pagination.next_page ?? '' },
    });
    expect(rest.data.map(({ seat_id }) => seat_id)).toEqual(seatIds.slice(25));
    expect(rest.pagination).toEqual({
      ...{ seats_included: 5, seats_available_for_next_page: 0, next_page: null },
    });
    const shown = await client.v1.contracts.listSeatBalances({
      ...{ ...reference, limit: 100, include_credits_and_commits: true, include_ledgers: true },
      // Without a date there are those that are open now.
      starting_at: START,
    });
    const each = shown.data[0]?.credits?.length ?? 0;
    expect(each).toBeGreaterThan(3);
    expect(shown.data).toHaveLength(Math.ceil(100 / each));
    expect(shown.data.every(({ credits }) => credits?.length === each)).toBe(true);
    expect(shown.data[0]?.credits?.[0]).toMatchObject({
      ...{ balance: 0, start_date: START, end_date: '2026-11-01T00:00:00.000Z' },
      ledger_entries: [
        { type: 'CREDIT_SEGMENT_START', amount: 100, timestamp: START },
        { type: 'CREDIT_EXPIRATION', amount: -100, timestamp: '2026-11-01T00:00:00.000Z' },
      ],
    });
  });

  it('the balances of seats are refused for a subscription without seats', async () => {
    const { reference, all } = await subscribe({ initial_quantity: 3 });
    const subscription_ids = [all.subscription_id];
    await expect(
      client.v1.contracts.listSeatBalances({ ...reference, subscription_ids }),
    ).rejects.toBeInstanceOf(BadRequestError);
    expect((await client.v1.contracts.listSeatBalances(reference)).data).toEqual([]);
  });
});

describe('the seats history', () => {
  it('the seats history has segments of the same seats, page by page, up to the present one', async () => {
    const { reference, all } = await subscribe(seated);
    const on = (day: string) => `2026-${day}T00:00:00.000Z`;
    await client.v2.contracts.edit({
      ...reference,
      update_subscriptions: [
        {
          subscription_id: all.subscription_id,
          seat_updates: {
            add_seat_ids: [
              { seat_ids: ['bob'], starting_at: on('10-10') },
              { seat_ids: ['eve'], starting_at: on('11-10') },
              { seat_ids: ['zoe'], starting_at: on('12-30') },
            ],
            remove_seat_ids: [{ seat_ids: ['ada', 'nobody'], starting_at: on('12-01') }],
          },
        },
      ],
    });
    const segments = [
      [START, on('10-10'), 2, ['ada']],
      [on('10-10'), on('11-10'), 2, ['ada', 'bob']],
      [on('11-10'), on('12-01'), 3, ['ada', 'bob', 'eve']],
      [on('12-01'), on('12-30'), 2, ['bob', 'eve']],
    ].map(([starting_at, ending_before, total_quantity, assigned_seat_ids]) => ({
      ...{ starting_at, ending_before, total_quantity, assigned_seat_ids },
    }));
    const read = (more: object) => client.v1.contracts.getSubscriptionSeatsHistory({ ...all, ...more });
    expect((await read({})).data).toEqual(segments);
    const first = await read({ limit: 3 });
    expect(first.data).toEqual(segments.slice(0, 3));
    const second = await read({ limit: 3, cursor: first.next_page });
    expect(second).toEqual({ data: segments.slice(3), next_page: null });
    expect((await read({ covering_date: on('11-10') })).data).toEqual([segments[2]]);
    expect((await read({ starting_at: on('11-10'), ending_before: on('11-30') })).data).toEqual([
      segments[2],
    ]);
    const both = read({ covering_date: on('11-10'), starting_at: START });
    await expect(both).rejects.toBeInstanceOf(BadRequestError);
    await expect(both).rejects.toMatchObject({ error: { code: 'InvalidArgument' } });
    await expect(read({ limit: 11 })).rejects.toBeInstanceOf(BadRequestError);
  });

  it('the seats history is refused for a subscription without seats', async () => {
    const { all } = await subscribe({ initial_quantity: 3 });
    await expect(client.v1.contracts.getSubscriptionSeatsHistory(all)).rejects.toMatchObject({
      ...{ status: 400, error: { code: 'InvalidArgument' } },
    });
  });
});
