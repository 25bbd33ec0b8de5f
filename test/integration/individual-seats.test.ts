/** Credits that are divided among seats: what usage of each seat draws, on drafts, issued invoices and in ledgers. */
import { beforeAll, describe, expect, test } from 'vitest';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import { createSeatCatalogue } from '../support/seat-company.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-10-15T00:00:00Z' });
const { api } = service;

let customer: string;
let contract: string;
let credit: { readonly id: string; readonly segment: string };

const october = (day: number) => new Date(Date.UTC(2026, 9, day)).toISOString();

/** A call costs 10. Ada and bob have 100 each, cleo joins on the 10th. Dan takes bob's place on the 12th. */
beforeAll(async () => {
  const { card, seats, allowance: fee } = await createSeatCatalogue(api);
  customer = await createdId(api, '/v1/customers', { name: 'Team', ingest_aliases: ['team'] });
  contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customer, rate_card_id: card, starting_at: october(1) },
    usage_statement_schedule: { frequency: 'MONTHLY' },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
        collection_schedule: 'ARREARS',
        quantity_management_mode: 'SEAT_BASED',
        seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada', 'bob'] },
        proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        temporary_id: 'seats',
      },
    ],
    recurring_credits: [
      {
        product_id: fee,
        access_amount: { unit_price: 100, credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' },
        subscription_config: {
          ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
          apply_seat_increase_config: { is_prorated: false },
        },
        ...{ commit_duration: { value: 1 }, priority: 1, starting_at: october(1) },
      },
    ],
  });
  const body = { customer_id: customer, contract_id: contract };
  const before = await api.post('/v2/contracts/get', body);
  await api.post('/v2/contracts/edit', {
    ...body,
    update_subscriptions: [
      {
        subscription_id: before.text('data.subscriptions[0].id'),
        seat_updates: {
          add_seat_ids: [
            { seat_ids: ['cleo'], starting_at: october(10) },
            { seat_ids: ['dan'], starting_at: october(12) },
          ],
          remove_seat_ids: [{ seat_ids: ['bob'], starting_at: october(12) }],
        },
      },
    ],
  });
  await api.post('/v1/ingest', [
    // 15 calls, of which the allowance pays 10.
    ...callsOf('ada', 3, 15),
    // 4 that it pays, 4 before the seat is removed and 4 afterwards.
    ...callsOf('bob', 5, 4),
    ...callsOf('bob', 13, 4),
    // Nothing pays for cleo before the 10th.
    ...callsOf('cleo', 8, 2),
    ...callsOf('cleo', 11, 3),
    // Dan has what bob's seat was, and no share of his own; nobody knows eve.
    ...callsOf('dan', 13, 1),
    ...callsOf('eve', 13, 1),
  ]);
  const after = await api.post('/v2/contracts/get', body);
  credit = {
    id: after.text('data.credits[0].id'),
    segment: after.text('data.credits[0].access_schedule.schedule_items[0].id'),
  };
});

function callsOf(user: string, day: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    ...{ customer_id: 'team', event_type: 'call', transaction_id: `${user} ${day} ${index}` },
    ...{ timestamp: october(day), properties: { user } },
  }));
}

/** `user quantity total` of each line of usage of October; `-` for what a balance pays back. */
async function octoberLines(status: string): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customer}/invoices`, { query: { status, type: 'USAGE' } });
  const index = answer
    .list('data')
    .findIndex((_, at) => answer.text(`data[${at}].start_timestamp`) === october(1));
  return answer.list(`data[${index}].line_items`).flatMap((_, at) => {
    const line = `data[${index}].line_items[${at}]`;
    const user = answer.at(`${line}.presentation_group_values.user`);
    return typeof user === 'string' ? [`${user} ${answer.digits(`${line}.total`)}`] : [];
  });
}

const DRAWN = [
  ...['ada 100', 'ada -100', 'ada 50'],
  ...['bob 40', 'bob -40', 'bob 40'],
  ...['cleo 20', 'cleo 30', 'cleo -30'],
  ...['dan 10', 'eve 10'],
];

const sorted = (lines: readonly string[]) => lines.toSorted();

async function octoberCredit() {
  const answer = await api.post('/v2/contracts/get', {
    ...{ customer_id: customer, contract_id: contract, include_balance: true, include_ledgers: true },
  });
  const ledger = answer.list('data.credits[0].ledger').map((_, at) => {
    const entry = `data.credits[0].ledger[${at}]`;
    return `${answer.text(`${entry}.type`).replace('CREDIT_', '')} ${answer.digits(`${entry}.amount`)}`;
  });
  return { balance: answer.digits('data.credits[0].balance'), ledger };
}

test('usage draws only on the share of its seat, while the seat is assigned', async () => {
  expect(sorted(await octoberLines('DRAFT'))).toEqual(sorted(DRAWN));
});

test('the ledger has what all seats drew in one entry for each segment', async () => {
  expect(await octoberCredit()).toEqual({
    balance: '130',
    ledger: [
      'SEGMENT_START 200',
      'SEAT_BASED_ADJUSTMENT 100',
      ...['AUTOMATED_INVOICE_DEDUCTION -140', 'AUTOMATED_INVOICE_DEDUCTION -30'],
    ],
  });
});

test('lines of usage name the segment of the schedule, and no invoice warns of the term', async () => {
  const answer = await api.get(`/v1/customers/${customer}/invoices`, { query: { type: 'USAGE' } });
  const text = JSON.stringify(answer.body);
  expect(text).toContain(`"commit_segment_id":"${credit.segment}"`);
  expect(text).not.toContain('unrated_terms');
});

describe('an entry by hand', () => {
  const entry = (change: object) => {
    const named = { customer_id: customer, id: credit.id, segment_id: credit.segment, reason: 'Goodwill' };
    return api.send('POST', '/v1/contracts/addManualBalanceLedgerEntry', { ...named, ...change });
  };

  test.each([
    ['without the amounts of seats', { amount: 5 }, /^per_group_amounts: is required/],
    ['that its seats do not add up to', { amount: 5, per_group_amounts: { ada: 4 } }, /must add up/],
    ['for a seat without a share', { amount: 5, per_group_amounts: { dan: 5 } }, /"dan" has no share/],
    ['for a seat of another segment', { amount: 5, per_group_amounts: { cleo: 5 } }, /"cleo" has no share/],
    [
      'while its seat is removed',
      { amount: 5, per_group_amounts: { bob: 5 }, timestamp: october(13) },
      /^timestamp: seat "bob" is not active/,
    ],
  ])('%s is refused', async (_, change, message) => {
    const answer = await entry(change);
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringMatching(message)]);
  });

  test('pays for usage of the seat that it names, and for no other', async () => {
    await entry({ amount: 20, per_group_amounts: { ada: 20 } });
    expect(await octoberLines('DRAFT')).toEqual(expect.arrayContaining(['ada 120', 'ada -120', 'ada 30']));
    await entry({ amount: -20, per_group_amounts: { ada: -20 } });
    expect(sorted(await octoberLines('DRAFT'))).toEqual(sorted(DRAWN));
  });
});

describe('the balances of seats', () => {
  const list = (more: object = {}) =>
    api.post('/v1/contracts/seatBalances/list', { customer_id: customer, contract_id: contract, ...more });
  const refused = async (more: object) => {
    const answer = await api.send('POST', '/v1/contracts/seatBalances/list', {
      ...{ customer_id: customer, contract_id: contract },
      ...more,
    });
    return [answer.status, answer.text('message')];
  };
  type Answer = Awaited<ReturnType<typeof list>>;
  /** `seat balance of granted`, of the only unit. */
  const balancesIn = (answer: Answer) =>
    answer.list('data').map((_, at) => {
      const seat = `data[${at}]`;
      if (answer.list(`${seat}.balances`).length === 0) return answer.text(`${seat}.seat_id`);
      const [left, granted] = ['balance', 'starting_balance'].map((name) =>
        answer.digits(`${seat}.balances[0].${name}`),
      );
      return `${answer.text(`${seat}.seat_id`)} ${left} of ${granted}`;
    });
  const covered = { covering_date: october(15) };

  test('balances of seats are the rests of their shares, and add up to the balance of the credit', async () => {
    const answer = await list(covered);
    expect(balancesIn(answer)).toEqual(['ada 0 of 100', 'bob 60 of 100', 'cleo 70 of 100', 'dan']);
    expect((await octoberCredit()).balance).toBe(String(0 + 60 + 70));
    expect(answer.at('pagination')).toEqual({
      ...{ seats_included: 4, seats_available_for_next_page: 0, next_page: null },
    });
  });

  test('the balances of seats have the credits and the entries of each seat alone', async () => {
    const answer = await list({
      ...{ ...covered, seat_ids: ['bob'], include_credits_and_commits: true, include_ledgers: true },
    });
    expect(answer.at('data[0].commits')).toEqual([]);
    expect(answer.list('data[0].credits')).toHaveLength(1);
    const own = 'data[0].credits[0]';
    expect([answer.text(`${own}.id`), answer.digits(`${own}.balance`)]).toEqual([credit.id, '60']);
    expect([answer.text(`${own}.start_date`), answer.text(`${own}.end_date`)]).toEqual([
      ...[october(1), october(32)],
    ]);
    const entries = answer
      .list(`${own}.ledger_entries`)
      .map((_, at) =>
        ['type', 'timestamp']
          .map((name) => answer.text(`${own}.ledger_entries[${at}].${name}`))
          .concat(answer.digits(`${own}.ledger_entries[${at}].amount`)),
      );
    expect(entries).toEqual([
      ['CREDIT_SEGMENT_START', october(1), '100'],
      ['CREDIT_AUTOMATED_INVOICE_DEDUCTION', expect.any(String), '-40'],
    ]);
  });

  test('the balances of seats of an increase begin with an adjustment', async () => {
    const answer = await list({
      ...{ ...covered, seat_ids: ['cleo'], include_credits_and_commits: true, include_ledgers: true },
    });
    expect(answer.text('data[0].credits[0].ledger_entries[0].type')).toBe('CREDIT_SEAT_BASED_ADJUSTMENT');
    expect(answer.text('data[0].credits[0].start_date')).toBe(october(10));
  });

  test('the balances of seats have an entry by hand of the seat that it names', async () => {
    const byHand = (amount: number) =>
      api.post('/v1/contracts/addManualBalanceLedgerEntry', {
        ...{ customer_id: customer, id: credit.id, segment_id: credit.segment, reason: 'Goodwill' },
        ...{ amount, per_group_amounts: { bob: amount } },
      });
    await byHand(7);
    expect(balancesIn(await list(covered))[1]).toBe('bob 67 of 100');
    await byHand(-7);
    expect(balancesIn(await list(covered))[1]).toBe('bob 60 of 100');
  });

  test('the balances of seats come page by page, each seat once', async () => {
    const first = await list({ ...covered, limit: 3 });
    expect(first.at('pagination')).toMatchObject({ seats_included: 3, seats_available_for_next_page: 1 });
    const rest = await list({ ...covered, limit: 3, cursor: first.text('pagination.next_page') });
    expect(rest.at('pagination.next_page')).toBeNull();
    expect([...balancesIn(first), ...balancesIn(rest)]).toEqual(balancesIn(await list(covered)));
  });

  test('the balances of seats without a date are of what is open now, however many periods have been and are to come', async () => {
    const now = '2026-10-15T00:00:00Z';
    const open = balancesIn(await list());
    expect(open).toEqual(balancesIn(await list({ covering_date: now })));
    const ever = balancesIn(await list({ starting_at: '2000-01-01T00:00:00Z' }));
    expect(ever).not.toEqual(open);
    for (const seat of open) expect(seat).toMatch(/^\w+ \d+ of 100$|^\w+$/);
  });

  test('the balances of seats are of the commits and credits whose access the filters let through', async () => {
    const before = { effective_before: october(9) };
    expect(balancesIn(await list(before))).toEqual(['ada 0 of 100', 'bob 60 of 100', 'cleo', 'dan']);
    expect(balancesIn(await list({ starting_at: october(40) }))).not.toContain('bob 60 of 100');
  });

  test.each([
    ['an unknown seat', { seat_ids: ['ada', 'eve'] }, /^seat_ids\[1\]: there is no seat "eve"/],
    ['ledgers alone', { include_ledgers: true }, /^include_ledgers: needs/],
    ['a date with a range', { ...covered, starting_at: october(1) }, /^covering_date: cannot be combined/],
    ['more than 100 seats', { limit: 101 }, /^limit: must be a whole number from 1 to 100/],
    ['a cursor of another list', { cursor: 'e30' }, /^cursor: must be the next_page/],
  ])('the balances of seats are refused for %s', async (_, more, message) => {
    expect(await refused(more)).toEqual([400, expect.stringMatching(message)]);
  });

  test('the balances of seats of unknown seats are left out where the request says so', async () => {
    const answer = await list({ ...covered, seat_ids: ['eve', 'cleo'], skip_missing_seat_ids: true });
    expect(balancesIn(answer)).toEqual(['cleo 70 of 100']);
  });

  test.each(['contract_id', 'customer_id', 'subscription_ids'])(
    'the balances of seats of an unknown %s are not found',
    async (name) => {
      const id = '00000000-0000-4000-8000-000000000000';
      expect((await refused({ [name]: name === 'subscription_ids' ? [id] : id }))[0]).toBe(404);
    },
  );
});

test('an issued invoice keeps what it drew, agrees with its ledger, and the rest expires', async () => {
  await service.moveClock('2026-11-03T00:00:00Z');
  expect(sorted(await octoberLines('FINALIZED'))).toEqual(sorted(DRAWN));
  expect((await octoberCredit()).ledger.slice(-2).toSorted()).toEqual(['EXPIRATION -60', 'EXPIRATION -70']);
  const range = { starting_on: october(1), ending_before: '2026-11-03T00:00:00Z' };
  const { differences, unchecked } = await reconcile(api, { ...range, customer_id: customer });
  expect([...differences, ...unchecked]).toEqual([]);
});
