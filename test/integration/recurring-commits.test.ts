/** Recurring commits and credits: one commit or credit for each period, bought, drawn down and rolled over like any. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { recurringGrantsJobKind } from '../../src/jobs/create-recurring-grants.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { jobsContext } from '../support/billing-context.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Body } from '../support/term-fixtures.ts';

let service: TestService;
let customer_id: string;
let rate_card_id: string;
let product_id: string;
let fee: string;

const day = (text: string) => `${text}T00:00:00Z`;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: day('2026-01-10') });
  const { api } = service;
  customer_id = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  fee = await createdId(api, PRODUCTS, { name: 'Credits', type: 'FIXED' });
  const billable_metric_id = await createdId(api, METRICS, {
    ...{ name: 'Calls', aggregation_type: 'count', event_type_filter: { in_values: ['call'] } },
  });
  product_id = await createdId(api, PRODUCTS, { name: 'Calls', type: 'USAGE', billable_metric_id });
  rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const price = { starting_at: day('2025-01-01'), entitled: true, rate_type: 'FLAT', price: 10 };
  await api.post(ADD_RATES, { rate_card_id, rates: [{ ...price, product_id }] });
});
afterEach(() => service.close());

/** A contract from 1 January. */
function contract(terms: Body): Promise<string> {
  return createdId(service.api, CONTRACTS, {
    ...{ customer_id, rate_card_id, starting_at: day('2026-01-01'), ...terms },
  });
}

/** Without usage invoices. */
function withoutUsage(terms: Body): Promise<string> {
  return contract({ rate_card_id: undefined, ...terms });
}

/** 31 cents in each period, for one period, from 1 January on. */
function recurring(change: Body = {}): Body {
  return {
    product_id: fee,
    access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
    commit_duration: { value: 1 },
    priority: 1,
    starting_at: day('2026-01-01'),
    ...change,
  };
}

const invoiced = (unit_price: number) => ({
  invoice_amount: { unit_price, quantity: 1, credit_type_id: USD_CENTS.id },
});

async function use(at: string, calls: number): Promise<void> {
  const event = { customer_id: 'ada', event_type: 'call', timestamp: `${at}T10:30:00Z` };
  const events = Array.from({ length: calls }, (_, index) => ({
    ...event,
    transaction_id: `${at}-${index}`,
  }));
  await service.api.post('/v1/ingest', events);
}

async function read(contract_id: string) {
  const options = { include_balance: true, include_ledgers: true };
  return service.api.post('/v2/contracts/get', { customer_id, contract_id, ...options });
}

/** `<amount> <start>..<end>` of each child in the order of creation, for the day where not at the first of a month. */
async function children(contractId: string, list: 'commits' | 'credits' = 'credits'): Promise<string[]> {
  const found = await read(contractId);
  return found.list(`data.${list}`).map((_, index) => {
    const at = `data.${list}[${index}].access_schedule.schedule_items`;
    if (found.list(at).length === 0) return 'none';
    const [from, until] = ['starting_at', 'ending_before'].map((name) => found.text(`${at}[0].${name}`));
    return `${found.digits(`${at}[0].amount`)} ${from?.slice(0, 10)}..${until?.slice(0, 10)}`;
  });
}

/** Type, status, date or start, and total of each invoice that is not zero, by date. */
async function bills(): Promise<string[]> {
  const answer = await service.api.get(`/v1/customers/${customer_id}/invoices`, { query: { limit: 100 } });
  const texts = answer.list('data').flatMap((_, index) => {
    const at = `data[${index}]`;
    const { type, status, start_timestamp, issued_at } = answer.at(at) as Record<string, string>;
    const total = answer.digits(`${at}.total`);
    return total === '0'
      ? []
      : [`${(start_timestamp ?? issued_at)?.slice(0, 10)} ${type} ${status} ${total}`];
  });
  return texts.sort();
}

function edit(contract_id: string, changes: Body) {
  return service.api.post('/v2/contracts/edit', { customer_id, contract_id, ...changes });
}

test('a monthly term grants the part of its first and last month, and one child is always ahead', async () => {
  const id = await withoutUsage({
    recurring_credits: [recurring({ starting_at: day('2026-01-16'), ending_before: day('2026-03-11') })],
  });
  expect(await children(id)).toEqual(['16 2026-01-16..2026-02-01']);
  await service.moveClock(day('2026-01-15'));
  expect(await children(id)).toHaveLength(1);
  await service.moveClock(day('2026-01-16'));
  expect(await children(id)).toHaveLength(2);
  await service.moveClock(day('2026-06-01'));
  expect(await children(id)).toEqual([
    '16 2026-01-16..2026-02-01',
    '31 2026-02-01..2026-03-01',
    '10 2026-03-01..2026-04-01',
  ]);
});

test('children name their term and take everything from it', async () => {
  const id = await contract({
    recurring_commits: [
      recurring({
        ...invoiced(20),
        name: 'Pack',
        rollover_fraction: 0.5,
        applicable_product_ids: [product_id],
      }),
    ],
    recurring_credits: [recurring({ name: 'Gift' })],
  });
  const found = await read(id);
  expect(found.at('data.commits[0]')).toMatchObject({
    ...{ type: 'PREPAID', name: 'Pack', priority: 1, rollover_fraction: 0.5, rate_type: 'LIST_RATE' },
    recurring_commit_id: found.text('data.recurring_commits[0].id'),
    applicable_product_ids: [product_id],
    created_at: '2026-01-01T00:00:00.000Z',
    invoice_schedule: { schedule_items: [{ amount: 20, timestamp: '2026-01-01T00:00:00.000Z' }] },
  });
  expect(found.at('data.commits[0].created_by')).toBeUndefined();
  expect(found.at('data.credits[1]')).toMatchObject({
    ...{ type: 'CREDIT', name: 'Gift', recurring_credit_id: found.text('data.recurring_credits[0].id') },
    created_at: '2026-02-01T00:00:00.000Z',
  });
  const v1 = await service.api.post('/v1/contracts/get', { customer_id, contract_id: id });
  expect(v1.list('data.current.credits')).toHaveLength(2);
  const balances = await service.api.post('/v1/contracts/customerBalances/list', {
    customer_id,
    include_contract_balances: true,
  });
  expect(balances.list('data')).toHaveLength(4);
  const order = await service.api.get(`/v1/customers/${customer_id}/drawdownOrder`);
  // Free before paid, and only what is open now.
  expect(order.list('data').map((_, index) => order.text(`data[${index}].id`))).toEqual([
    found.text('data.credits[0].id'),
    found.text('data.commits[0].id'),
  ]);
});

test('a year at once: each child is bought at its start, pays for its month, and expires with it', async () => {
  const id = await contract({
    recurring_commits: [recurring({ ...invoiced(25), ...access(30) })],
  });
  await use('2026-01-05', 5);
  await service.moveClock(day('2027-01-03'));
  const found = await bills();
  const purchases = found.filter((text) => text.includes('SCHEDULED'));
  expect(purchases).toEqual([
    ...Array.from({ length: 13 }, (_, index) => {
      const date = new Date(Date.UTC(2026, index, 1)).toISOString().slice(0, 10);
      return `${date} SCHEDULED FINALIZED 25`;
    }),
    '2027-02-01 SCHEDULED DRAFT 25',
  ]);
  expect(found.filter((text) => text.includes('USAGE'))).toEqual(['2026-01-01 USAGE FINALIZED 20']);
  const contractNow = await read(id);
  expect(contractNow.list('data.commits')).toHaveLength(14);
  const ledger = (index: number) =>
    contractNow.list(`data.commits[${index}].ledger`).map((_, entry) => {
      const at = `data.commits[${index}].ledger[${entry}]`;
      const type = contractNow.text(`${at}.type`).replace('PREPAID_COMMIT_', '');
      return `${type} ${contractNow.digits(`${at}.amount`)} ${contractNow.text(`${at}.timestamp`).slice(0, 10)}`;
    });
  expect(ledger(0)).toEqual(['SEGMENT_START 30 2026-01-01', 'AUTOMATED_INVOICE_DEDUCTION -30 2026-02-01']);
  expect(ledger(1)).toEqual(['SEGMENT_START 30 2026-02-01', 'EXPIRATION -30 2026-03-01']);
  expect(ledger(12)).toEqual(['SEGMENT_START 30 2027-01-01']);
  expect(contractNow.digits('data.commits[12].balance')).toBe('30');
  expect(contractNow.digits('data.commits[13].balance')).toBe('0');
}, 60_000);

function access(unit_price: number): Body {
  return { access_amount: { unit_price, quantity: 1, credit_type_id: USD_CENTS.id } };
}

test('quarters of a term count from its start, and durations of two periods overlap', async () => {
  const id = await withoutUsage({
    recurring_credits: [
      recurring({
        ...{ starting_at: day('2026-01-20'), recurrence_frequency: 'QUARTERLY' },
        commit_duration: { value: 2, unit: 'PERIODS' },
      }),
    ],
  });
  await service.moveClock(day('2026-05-01'));
  expect(await children(id)).toEqual([
    '31 2026-01-20..2026-07-20',
    '31 2026-04-20..2026-10-20',
    '31 2026-07-20..2027-01-20',
  ]);
  const net = await service.api.post('/v1/contracts/customerBalances/getNetBalance', { customer_id });
  expect(net.digits('data.balance')).toBe('62');
});

test('a daily term of years is created batch by batch, completely and in order', async () => {
  const id = await withoutUsage({
    starting_at: day('2023-02-01'),
    recurring_credits: [recurring({ starting_at: day('2023-02-01'), recurrence_frequency: 'DAILY' })],
  });
  await service.moveClock(day('2026-01-10'));
  const found = await children(id);
  const days = (Date.parse(day('2026-01-12')) - Date.parse(day('2023-02-01'))) / 86_400_000;
  expect(found).toHaveLength(days);
  expect(found.at(-1)).toBe('31 2026-01-11..2026-01-12');
  expect(found).toEqual([...found].sort((a, b) => (a.slice(3) < b.slice(3) ? -1 : 1)));
  expect(new Set(found).size).toBe(days);
});

test('a contract of the past gets its children at once, and they pay for its usage', async () => {
  await use('2025-12-20', 4);
  await contract({
    starting_at: day('2025-11-01'),
    recurring_commits: [recurring({ starting_at: day('2025-11-01'), ...invoiced(5), ...access(30) })],
  });
  await service.moveClock(day('2026-01-11'));
  expect(await bills()).toEqual([
    '2025-11-01 SCHEDULED FINALIZED 5',
    '2025-12-01 SCHEDULED FINALIZED 5',
    '2025-12-01 USAGE FINALIZED 10',
    '2026-01-01 SCHEDULED FINALIZED 5',
    '2026-02-01 SCHEDULED DRAFT 5',
  ]);
});

test('with charges on usage invoices, a purchase joins the invoice that ends at its start', async () => {
  await contract({
    scheduled_charges_on_usage_invoices: 'ALL',
    recurring_commits: [recurring({ ...invoiced(5), ...access(30) })],
  });
  await use('2026-01-05', 4);
  await service.moveClock(day('2026-01-11'));
  // The first has no usage invoice before it.
  expect(await bills()).toEqual(['2026-01-01 SCHEDULED FINALIZED 5', '2026-01-01 USAGE DRAFT 15']);
});

test('an edit of the term changes the child that has not begun, and none that has', async () => {
  const id = await withoutUsage({ recurring_commits: [recurring(invoiced(20))] });
  const recurring_commit_id = (await read(id)).text('data.recurring_commits[0].id');
  await service.moveClock(day('2026-02-10'));
  await edit(id, {
    update_recurring_commits: [
      {
        ...{ recurring_commit_id, rate_type: 'COMMIT_RATE' },
        access_amount: { quantity: 2 },
        invoice_amount: { unit_price: 50 },
      },
    ],
  });
  expect(await children(id, 'commits')).toEqual([
    '31 2026-01-01..2026-02-01',
    '31 2026-02-01..2026-03-01',
    '62 2026-03-01..2026-04-01',
  ]);
  const found = await read(id);
  const rateTypes = [0, 1, 2].map((index) => found.text(`data.commits[${index}].rate_type`));
  expect(rateTypes).toEqual(['LIST_RATE', 'LIST_RATE', 'COMMIT_RATE']);
  await service.moveClock(day('2026-03-02'));
  expect((await bills()).filter((text) => text.includes('SCHEDULED'))).toEqual([
    '2026-01-01 SCHEDULED FINALIZED 20',
    '2026-02-01 SCHEDULED FINALIZED 20',
    '2026-03-01 SCHEDULED FINALIZED 50',
    '2026-04-01 SCHEDULED DRAFT 50',
  ]);
});

test('an edit of the next child itself stays, where the term does not change the field', async () => {
  const id = await withoutUsage({ recurring_credits: [recurring()] });
  const found = await read(id);
  const credit_id = found.text('data.credits[1].id');
  const item = found.text('data.credits[1].access_schedule.schedule_items[0].id');
  await edit(id, {
    update_credits: [
      { credit_id, priority: 7, access_schedule: { update_schedule_items: [{ id: item, amount: 99 }] } },
    ],
  });
  const recurring_credit_id = found.text('data.recurring_credits[0].id');
  const update = (change: Body) =>
    edit(id, { update_recurring_credits: [{ recurring_credit_id, ...change }] });
  await update({ rate_type: 'COMMIT_RATE' });
  expect((await children(id))[1]).toBe('99 2026-02-01..2026-03-01');
  await update({ access_amount: { unit_price: 40 } });
  expect((await children(id))[1]).toBe('40 2026-02-01..2026-03-01');
  const after = await read(id);
  expect(after.at('data.credits[1]')).toMatchObject({ priority: 7, rate_type: 'COMMIT_RATE' });
});

test('an end of the term takes the child that would begin later away, and a later end brings it back', async () => {
  const id = await withoutUsage({ recurring_commits: [recurring(invoiced(20))] });
  const recurring_commit_id = (await read(id)).text('data.recurring_commits[0].id');
  const end = (ending_before: string) =>
    edit(id, { update_recurring_commits: [{ recurring_commit_id, ending_before: day(ending_before) }] });
  await end('2026-01-20');
  expect(await children(id, 'commits')).toEqual(['31 2026-01-01..2026-02-01', 'none']);
  await service.moveClock(day('2026-01-25'));
  expect(await bills()).toEqual(['2026-01-01 SCHEDULED FINALIZED 20']);
  await end('2026-02-15');
  expect((await children(id, 'commits'))[1]).toBe('15.5 2026-02-01..2026-03-01');
  await service.moveClock(day('2026-04-01'));
  expect(await children(id, 'commits')).toHaveLength(2);
  expect(await bills()).toEqual(['2026-01-01 SCHEDULED FINALIZED 20', '2026-02-01 SCHEDULED FINALIZED 10']);
});

test('an earlier end of the contract ends its term, and prorates the child that has not begun', async () => {
  const id = await withoutUsage({ recurring_credits: [recurring()] });
  await service.api.post('/v1/contracts/updateEndDate', {
    ...{ customer_id, contract_id: id, ending_before: day('2026-02-15') },
  });
  expect(await children(id)).toEqual(['31 2026-01-01..2026-02-01', '15.5 2026-02-01..2026-02-15']);
  await service.moveClock(day('2026-04-01'));
  expect(await children(id)).toHaveLength(2);
});

test('an archived contract creates no more children', async () => {
  const id = await withoutUsage({ recurring_commits: [recurring(invoiced(20))] });
  await service.api.post('/v1/contracts/archive', { customer_id, contract_id: id, void_invoices: false });
  await service.moveClock(day('2026-06-01'));
  const found = await service.api.post('/v2/contracts/list', { customer_id, include_archived: true });
  expect(found.list('data[0].commits')).toHaveLength(2);
  expect(await bills()).toEqual([]);
});

test('a renewal takes the fraction of what has begun, whether it is arranged before or after that', async () => {
  const renewal = (from_contract_id: string) =>
    withoutUsage({ starting_at: day('2026-03-16'), transition: { type: 'RENEWAL', from_contract_id } });
  const terms = { recurring_credits: [recurring({ rollover_fraction: 0.5, proration: 'NONE' })] };
  const early = await withoutUsage(terms);
  const earlyHeir = await renewal(early);
  await service.moveClock(day('2026-03-10'));
  const late = await withoutUsage(terms);
  const lateHeir = await renewal(late);
  await service.moveClock(day('2026-03-20'));
  for (const id of [early, late]) {
    expect(await children(id)).toEqual([
      '31 2026-01-01..2026-02-01',
      '31 2026-02-01..2026-03-01',
      '31 2026-03-01..2026-03-16',
      ...(id === late ? ['none'] : []),
    ]);
  }
  for (const id of [earlyHeir, lateHeir]) {
    const found = await read(id);
    expect(found.list('data.credits')).toHaveLength(1);
    expect(found.digits('data.credits[0].balance')).toBe('15.5');
  }
});

test('a renewal takes of the child ahead what the end of its contract leaves of it', async () => {
  const from_contract_id = await withoutUsage({
    recurring_credits: [recurring({ ...access(28), rollover_fraction: 0.5 })],
  });
  // The child of February is still in the future, and the contract continues for 15 of its 28 days.
  const id = await withoutUsage({
    ...{ starting_at: day('2026-02-16'), transition: { type: 'RENEWAL', from_contract_id } },
  });
  expect(await children(from_contract_id)).toEqual([
    '28 2026-01-01..2026-02-01',
    '15 2026-02-01..2026-02-16',
  ]);
  expect((await children(id)).map((text) => text.slice(0, 14))).toEqual(['7.5 2026-02-16']);
  const history = await service.api.post('/v2/contracts/getEditHistory', { customer_id, contract_id: id });
  expect(history.list('data')).toEqual([]);
});

test('an override for children of a term prices what they pay', async () => {
  await contract({
    recurring_credits: [recurring({ temporary_id: 'pack', ...access(30) })],
    overrides: [
      {
        ...{ starting_at: day('2026-01-01'), type: 'MULTIPLIER', multiplier: 0.5, is_commit_specific: true },
        override_specifiers: [{ product_id, any_commit_or_credit_ids: ['pack'] }],
      },
    ],
  });
  await use('2026-01-05', 7);
  expect(await bills()).toEqual(['2026-01-01 USAGE DRAFT 10']);
});

test('a preview of an edit that adds a term shows what its children pay and cost', async () => {
  const id = await contract({});
  await use('2026-01-05', 7);
  const answer = await service.api.post('/v1/invoices/preview', {
    edit: {
      ...{ customer_id, contract_id: id },
      add_recurring_commits: [recurring({ ...invoiced(5), ...access(30) })],
    },
    ...{ starting_on: day('2026-01-01'), ending_before: day('2026-02-02'), include_invoices: true },
  });
  const found = answer.list('data[0].invoices').map((_, index) => {
    const at = `data[0].invoices[${index}]`;
    return answer.digits(`${at}.difference`);
  });
  // Two purchases, and what the child of January pays.
  expect(found.sort()).toEqual(['-30', '5', '5']);
  expect((await read(id)).list('data.commits')).toEqual([]);
});

test('two processes that are late create each child once', async () => {
  const id = await withoutUsage({
    starting_at: day('2026-01-01'),
    recurring_credits: [recurring({ recurrence_frequency: 'DAILY' })],
  });
  const { db } = service;
  const clock = { now: () => Date.parse(day('2027-07-01')) };
  const runner = () =>
    createJobRunner(jobsContext({ db, clock, ping: () => service.clickhouse.ping() }), [
      recurringGrantsJobKind({ db, clock }),
    ]);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([runner().runDue(clock.now()), runner().runDue(clock.now())]);
  }
  const found = await children(id);
  const days = (Date.parse(day('2027-07-03')) - Date.parse(day('2026-01-01'))) / 86_400_000;
  expect(found).toHaveLength(days);
  expect(new Set(found).size).toBe(days);
});

test('edits while the next children are created lose nothing', async () => {
  const id = await withoutUsage({ recurring_credits: [recurring({ recurrence_frequency: 'WEEKLY' })] });
  const recurring_credit_id = (await read(id)).text('data.recurring_credits[0].id');
  const clock = { now: () => Date.parse(day('2026-06-03')) };
  const runner = createJobRunner(
    jobsContext({ db: service.db, clock, ping: () => service.clickhouse.ping() }),
    [recurringGrantsJobKind({ db: service.db, clock })],
  );
  const edits = [41, 42, 43].map((unit_price) =>
    edit(id, { update_recurring_credits: [{ recurring_credit_id, access_amount: { unit_price } }] }),
  );
  await Promise.all([runner.runDue(clock.now()), ...edits]);
  await service.moveClock(day('2026-06-03'));
  const found = await children(id);
  expect(found).toHaveLength(23);
  expect(new Set(found.map((text) => text.slice(3))).size).toBe(23);
});

test('a credit linked to a subscription grants its quantity, and increases as adjustments of the ledger', async () => {
  const { api } = service;
  const seat = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  const price = { starting_at: day('2025-01-01'), entitled: true, rate_type: 'FLAT', price: 10 };
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [{ ...price, product_id: seat, billing_frequency: 'MONTHLY' }],
  });
  const contract_id = await contract({
    subscriptions: [
      {
        subscription_rate: { product_id: seat, billing_frequency: 'MONTHLY' },
        ...{ collection_schedule: 'ADVANCE', proration: {}, initial_quantity: 5, temporary_id: 'seats' },
      },
    ],
    recurring_credits: [
      recurring({
        access_amount: { unit_price: 31, credit_type_id: USD_CENTS.id },
        // Not for the subscription itself.
        applicable_product_ids: [product_id],
        subscription_config: { subscription_id: 'seats', apply_seat_increase_config: { is_prorated: true } },
      }),
    ],
  });
  const created = await api.post('/v2/contracts/get', { customer_id, contract_id });
  await api.post('/v2/contracts/edit', {
    ...{ customer_id, contract_id },
    update_subscriptions: [
      {
        subscription_id: created.text('data.subscriptions[0].id'),
        quantity_updates: [
          { quantity: 7, starting_at: day('2026-01-11') },
          { quantity: 6, starting_at: day('2026-01-21') },
        ],
      },
    ],
  });
  const credits = async () => {
    const options = { include_balance: true, include_ledgers: true };
    const answer = await api.post('/v2/contracts/get', { customer_id, contract_id, ...options });
    return answer.at('data.credits');
  };
  const start = { type: 'CREDIT_SEGMENT_START', amount: 155, timestamp: '2026-01-01T00:00:00.000Z' };
  const added = { type: 'CREDIT_SEAT_BASED_ADJUSTMENT', amount: 42, timestamp: '2026-01-11T00:00:00.000Z' };
  const next = { type: 'CREDIT_SEGMENT_START', amount: 186, timestamp: '2026-02-01T00:00:00.000Z' };
  expect(await credits()).toMatchObject([
    { balance: 155, ledger: [start, added] },
    { balance: 0, ledger: [next] },
  ]);
  await service.moveClock(day('2026-01-11'));
  expect(await credits()).toMatchObject([{ balance: 197 }, { balance: 0 }]);
});
