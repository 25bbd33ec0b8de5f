/** Changes of seats in the past: what an issued invoice has drawn from the share of a seat is not taken from the seat. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  balanceOfCredit,
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  type SeatCompany,
  seatsOfCredit,
  sendCalls,
} from '../support/seat-company.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-20T00:00:00Z' });
const { api } = service;

const day = (date: number, month = 9) => new Date(Date.UTC(2026, month, date)).toISOString();
const START = day(1);
const NOW = day(4, 10);

const CASES = ['removal', 'undrawn', 'later', 'voided', 'replaced', 'bumped', 'ended', 'upcoming'] as const;
const companies = new Map<string, SeatCompany>();
let quantities: SeatCompany;

function company(name: (typeof CASES)[number]): SeatCompany {
  const found = companies.get(name);
  if (found === undefined) throw new Error(`no company ${name}`);
  return found;
}

/** Ada and bob are there from the start, cleo from the 10th. Ada has drawn 50, cleo 30, bob nothing. Issued. */
beforeAll(async () => {
  const catalogue = await createSeatCatalogue(api);
  const terms = { start: START, months: 2 };
  for (const name of CASES) {
    const one = await createSeatCompany(api, catalogue, { ...terms, alias: name, seats: ['ada', 'bob'] });
    companies.set(name, one);
    await edit(one, { add_seat_ids: [{ seat_ids: ['cleo'], starting_at: day(10) }] });
    await sendCalls(api, one, { user: 'ada', at: day(3), count: 5 });
    await sendCalls(api, one, { user: 'cleo', at: day(12), count: 3 });
  }
  quantities = await createSeatCompany(api, catalogue, { ...terms, alias: 'quantities', seats: 2 });
  await sendCalls(api, quantities, { user: 'ada', at: day(3), count: 5 });
  await service.moveClock(NOW);
});

const edit = (one: SeatCompany, seat_updates: object) => editSubscription(api, one, { seat_updates });

async function issuedInvoice({ customer }: SeatCompany): Promise<string> {
  const answer = await api.get(`/v1/customers/${customer}/invoices`, {
    query: { status: 'FINALIZED', type: 'USAGE' },
  });
  expect(answer.list('data')).toHaveLength(1);
  return answer.text('data[0].id');
}

const outcome = (answer: ApiAnswer) =>
  answer.status === 200 ? 'made' : `${answer.status} ${answer.text('message')}`;

async function refusal(one: SeatCompany, field: string, seat: string): Promise<string> {
  const problem = `takes the share of seat "${seat}" in commit or credit ${one.credit}`;
  const invoice = await issuedInvoice(one);
  return `400 update_subscriptions[0].${field}: ${problem}, on which invoice ${invoice} has drawn: void the invoice first`;
}

/** The shares of all seats add up to the balance of the credit. */
async function expectShares(one: SeatCompany, shares: readonly string[]): Promise<void> {
  expect(await seatsOfCredit(api, one)).toEqual(shares);
  const left = shares.reduce((total, share) => total + Number(share.split(' ')[1]), 0);
  expect(await balanceOfCredit(api, one)).toBe(String(left));
}

const SHARES = ['ada 50', 'bob 100', 'cleo 70'];

describe('a share that an issued invoice has drawn on', () => {
  test('a share that an issued invoice has drawn on is not taken by a removal in the past, which names the field, the seat and the invoice', async () => {
    const one = company('removal');
    const removed = edit(one, { remove_seat_ids: [{ seat_ids: ['bob', 'ada'], starting_at: START }] });
    expect(outcome(await removed)).toBe(
      await refusal(one, 'seat_updates.remove_seat_ids[0].seat_ids', 'ada'),
    );
    await expectShares(one, SHARES);
  });

  test('a share that an issued invoice has drawn on is not given to the seat that replaces it from the start', async () => {
    const one = company('replaced');
    const replaced = edit(one, {
      remove_seat_ids: [{ seat_ids: ['ada'], starting_at: START }],
      add_unassigned_seats: [{ quantity: 1, starting_at: START }],
      add_seat_ids: [{ seat_ids: ['dan'], starting_at: START }],
    });
    expect(outcome(await replaced)).toBe(
      await refusal(one, 'seat_updates.remove_seat_ids[0].seat_ids', 'ada'),
    );
    await expectShares(one, SHARES);
  });

  test('a share that an issued invoice has drawn on is not given to a seat that is added before it', async () => {
    const one = company('bumped');
    const added = edit(one, {
      remove_seat_ids: [{ seat_ids: ['cleo'], starting_at: day(10) }],
      add_seat_ids: [
        { seat_ids: ['dan'], starting_at: day(10) },
        { seat_ids: ['cleo'], starting_at: day(15) },
      ],
    });
    expect(outcome(await added)).toBe(await refusal(one, 'seat_updates.remove_seat_ids[0].seat_ids', 'cleo'));
    await expectShares(one, SHARES);
  });

  test('a share that an issued invoice has drawn on is not cut off by an earlier end of the subscription', async () => {
    const one = company('ended');
    const ended = await editSubscription(api, one, { ending_before: day(8) });
    expect(outcome(ended)).toBe(await refusal(one, 'ending_before', 'cleo'));
    await expectShares(one, SHARES);
  });

  test('a share that an issued invoice has drawn on can be removed once the invoice is voided, and the balance is then smaller by it', async () => {
    const one = company('voided');
    const removal = { remove_seat_ids: [{ seat_ids: ['ada'], starting_at: START }] };
    expect((await edit(one, removal)).status).toBe(400);
    await api.post('/v1/invoices/void', { id: await issuedInvoice(one) });
    expect(outcome(await edit(one, removal))).toBe('made');
    // Cleo has the share that ada leaves: it is older than that of the increase, which nobody has.
    expect(await seatsOfCredit(api, one)).toEqual(['bob 100', 'cleo 100']);
  });
});

describe('allowed is', () => {
  test('a removal in the past of a seat that has drawn nothing', async () => {
    const one = company('undrawn');
    const removed = edit(one, { remove_seat_ids: [{ seat_ids: ['bob'], starting_at: day(5) }] });
    expect(outcome(await removed)).toBe('made');
    await expectShares(one, SHARES);
  });

  test('a removal in the past after the seat took its share, which it keeps', async () => {
    const one = company('later');
    const removed = edit(one, { remove_seat_ids: [{ seat_ids: ['ada'], starting_at: day(2) }] });
    expect(outcome(await removed)).toBe('made');
    await expectShares(one, SHARES);
  });

  test('a removal from now on, whatever the seat has drawn', async () => {
    const one = company('upcoming');
    const removed = edit(one, { remove_seat_ids: [{ seat_ids: ['ada', 'cleo'], starting_at: NOW }] });
    expect(outcome(await removed)).toBe('made');
    await expectShares(one, SHARES);
  });

  test('a change from quantities to seats, whose credits nobody has a share of', async () => {
    const changed = await editSubscription(api, quantities, {
      quantity_management_mode_update: {
        ...{ quantity_management_mode: 'SEAT_BASED', seat_config: { seat_group_key: 'user' } },
      },
    });
    expect(outcome(changed)).toBe('made');
    const seated = edit(quantities, { add_seat_ids: [{ seat_ids: ['ada'], starting_at: NOW }] });
    expect(outcome(await seated)).toBe('made');
    expect(await balanceOfCredit(api, quantities)).toBe('150');
  });
});
