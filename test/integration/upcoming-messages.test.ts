/** Notifications before segments of commits and credits that a recurring term creates only later. */
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const FIRST_YEAR = 2020;
const { api, db } = await serviceForFile({ sandboxNow: `${FIRST_YEAR}-01-10T00:00:00Z` });

const receiver = await startWebhookReceiver();
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Credit',
  type: 'FIXED',
});

/** The notification is due on the first day of the month before; the segment begins on the tenth. */
const OFFSET = '-P1M9D';

/** Each test has its own customer, offsets and year, in which the clock stands at 10 January. */
let year = FIRST_YEAR - 1;
let customer_id = '';
const offsets: string[] = [];
beforeEach(async () => {
  for (const id of offsets.splice(0)) await api.post('/v2/notifications/archive', { id });
  year += 1;
  await moveTo('01-10');
  customer_id = await createdId(api, '/v1/customers', { name: `Customer of ${year}` });
});

const day = (monthAndDay: string) => `${year}-${monthAndDay}T00:00:00.000Z`;
const moveTo = (monthAndDay: string) => api.post('/v1/sandbox/clock', { now: day(monthAndDay) });

async function createOffset(offset: string, type = 'credit.segment.start'): Promise<string> {
  const created = await api.post('/v2/notifications/create', { name: offset, policy: { type, offset } });
  offsets.push(created.text('data.id'));
  return created.text('data.id');
}

const recurring = (change: object = {}) => ({
  product_id,
  priority: 1,
  starting_at: day('01-10'),
  access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
  commit_duration: { value: 1 },
  recurrence_frequency: 'MONTHLY',
  ...change,
});
const createContract = (terms: object = { recurring_credits: [recurring()] }) =>
  createdId(api, '/v1/contracts/create', {
    ...{ customer_id, starting_at: day('01-10'), ending_before: day('12-31') },
    ...terms,
  });
const contractOf = (contract_id: string) => api.post('/v2/contracts/get', { customer_id, contract_id });

const message = z.looseObject({ type: z.string(), timestamp: z.string() });

/** The messages of the customer, in the order in which they were written. */
async function messages() {
  const rows = await db.execute<{ body: string }>(sql`
    select m.body from webhook_messages m join webhook_deliveries d on d.message_id = m.id
    where m.customer_id = ${customer_id} order by d.sequence`);
  return rows.map(({ body }) => message.parse(JSON.parse(body)));
}
/** The events that were notified, each with its offset. */
const told = async () =>
  (await messages()).map(
    ({ timestamp, offset_duration }) => `${offset_duration} of ${timestamp.slice(5, 10)}`,
  );

/** Moves the clock to each of the days and collects the notifications sent on it, by day. */
async function toldOn(...days: readonly string[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const at of days) {
    const before = (await told()).length;
    await moveTo(at);
    found[at] = (await told()).slice(before);
  }
  return found;
}

test('a child is reported before it exists, with the ids that it gets', async () => {
  await createOffset(OFFSET);
  const contract = await createContract();
  expect(await toldOn('01-31', '02-01', '02-28', '03-01')).toEqual({
    '01-31': [],
    '02-01': [`${OFFSET} of 03-10`],
    '02-28': [],
    '03-01': [`${OFFSET} of 04-10`],
  });
  const early = (await messages())[1];
  // Those of January, February and March.
  expect((await contractOf(contract)).at('data.credits')).toHaveLength(3);
  await moveTo('03-10');
  const found = await contractOf(contract);
  expect(early).toEqual({
    id: expect.any(String),
    type: 'credit.segment.start',
    timestamp: day('04-10'),
    environment_type: 'PRODUCTION',
    customer_id,
    customer_custom_fields: {},
    contract_id: contract,
    contract_custom_fields: {},
    credit_id: found.text('data.credits[3].id'),
    credit_custom_fields: {},
    parent_recurring_credit_id: found.text('data.recurring_credits[0].id'),
    segment_id: found.text('data.credits[3].access_schedule.schedule_items[0].id'),
    segment_index: 0,
    segment_count: 1,
    offset_id: offsets[0],
    offset_duration: OFFSET,
  });
});

test('terms of several frequencies are reported in the order of all instants, each child once', async () => {
  const leads = { '-P100D': 100, '-P70D': 70, '-P33D': 33 };
  for (const lead of Object.keys(leads)) await createOffset(lead);
  for (const lead of Object.keys(leads)) await createOffset(lead, 'commit.segment.end');
  const weekly = recurring({ recurrence_frequency: 'WEEKLY', commit_duration: { value: 3 } });
  const monthly = recurring({ starting_at: day('02-10') });
  await createContract({ recurring_credits: [weekly, monthly], recurring_commits: [monthly] });
  await moveTo('06-20');
  const rows = await db.execute<{ type: string; starting_at: string; ending_before: string }>(sql`
    select k.type, s.starting_at, s.ending_before from access_segments s join commits k on k.id = s.commit_id
    where k.customer_id = ${customer_id}`);
  const created = [...rows].map((row) => ({
    eventAt: Date.parse(row.type === 'CREDIT' ? row.starting_at : row.ending_before),
  }));
  const expected = created.flatMap(({ eventAt }) =>
    Object.entries(leads).flatMap(([lead, days]) => {
      const fireAt = eventAt - days * 86_400_000;
      const isTold = fireAt > Date.parse(day('01-10')) && fireAt <= Date.parse(day('06-20'));
      return isTold ? [{ fireAt, text: `${lead} ${eventAt}` }] : [];
    }),
  );
  const all = (await messages()).map(({ timestamp, offset_duration }) => ({
    eventAt: Date.parse(timestamp),
    text: `${offset_duration} ${Date.parse(timestamp)}`,
  }));
  // Children that do not exist yet are notified, too.
  const last = Math.max(...created.map(({ eventAt }) => eventAt));
  const ofCreated = all.filter(({ eventAt }) => eventAt <= last).map(({ text }) => text);
  for (const { text } of expected) expect(ofCreated).toContain(text);
  const days: Record<string, number> = leads;
  const fireAts = (await messages()).map(
    ({ timestamp, offset_duration }) =>
      Date.parse(timestamp) - (days[String(offset_duration)] ?? 0) * 86_400_000,
  );
  expect(fireAts).toEqual(fireAts.toSorted((a, b) => a - b));
  expect(fireAts[0]).toBeGreaterThan(Date.parse(day('01-10')));
  expect(fireAts.at(-1)).toBeLessThanOrEqual(Date.parse(day('06-20')));
  const ids = (await messages()).map(
    ({ segment_id, offset_id, timestamp }) => `${segment_id} ${offset_id} ${timestamp}`,
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('nothing is sent that was due before its term, or before the notification', async () => {
  await createOffset('-P2M9D');
  await createContract();
  // The message about 10 March was due before the contract.
  expect(await toldOn('01-31', '02-01')).toEqual({ '01-31': [], '02-01': ['-P2M9D of 04-10'] });
  await createOffset('-P3M9D');
  // The messages about 10 April and 10 May were due before the notification.
  expect(await toldOn('02-28', '03-01')).toEqual({
    '02-28': [],
    '03-01': ['-P2M9D of 05-10', '-P3M9D of 06-10'],
  });
});

describe('before a child that does not exist is reported,', () => {
  const edit = async (contract_id: string, change: (termId: string) => object) => {
    const termId = (await contractOf(contract_id)).text('data.recurring_credits[0].id');
    await api.post('/v2/contracts/edit', { customer_id, contract_id, ...change(termId) });
  };
  const endTerm = (contract: string, ending_before: string | null) =>
    edit(contract, (recurring_credit_id) => ({
      update_recurring_credits: [{ recurring_credit_id, ending_before }],
    }));
  const endContract = (contract_id: string, ending_before: string) =>
    api.post('/v1/contracts/updateEndDate', { customer_id, contract_id, ending_before });

  /** Due on 1 March is the child of 10 April, which is created on 10 March. */
  test.each<[what: string, change: (contract: string) => Promise<unknown>, told: string[]]>([
    ['nothing changes', async () => {}, [`${OFFSET} of 04-10`]],
    ['its term ends', (contract) => endTerm(contract, day('04-10')), []],
    ['its term gets a later end', (contract) => endTerm(contract, day('04-11')), [`${OFFSET} of 04-10`]],
    ['its contract ends', (contract) => endContract(contract, day('04-10')), []],
    [
      'its contract is archived',
      (contract_id) => api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false }),
      [],
    ],
    ['its notification is archived', () => api.post('/v2/notifications/archive', { id: offsets[0] }), []],
    [
      'its amount changes',
      (contract) =>
        edit(contract, (recurring_credit_id) => ({
          update_recurring_credits: [{ recurring_credit_id, access_amount: { unit_price: 7 } }],
        })),
      [`${OFFSET} of 04-10`],
    ],
    [
      'its notification gets another offset',
      () =>
        api.post('/v2/notifications/edit', {
          id: offsets[0],
          policy: { type: 'credit.segment.start', offset: '-P1M8D' },
        }),
      ['-P1M8D of 04-10'],
    ],
    [
      'its notification gets another offset that was due already',
      () =>
        api.post('/v2/notifications/edit', {
          id: offsets[0],
          policy: { type: 'credit.segment.start', offset: '-P2M' },
        }),
      [],
    ],
  ])('%s', async (_, change, expected) => {
    await createOffset(OFFSET);
    const contract = await createContract();
    await moveTo('02-10');
    const before = await told();
    expect(before).toEqual([`${OFFSET} of 03-10`]);
    await moveTo('02-12');
    await change(contract);
    await moveTo('03-05');
    expect((await told()).slice(before.length)).toEqual(expected);
    await moveTo('03-09');
    expect((await told()).slice(before.length)).toEqual(expected);
  });

  test('before a child is reported that does not exist yet, its term ends, and continues in time', async () => {
    await createOffset(OFFSET);
    const contract = await createContract();
    await moveTo('02-12');
    await endTerm(contract, day('03-20'));
    await endTerm(contract, null);
    expect(await toldOn('02-28', '03-01')).toEqual({ '02-28': [], '03-01': [`${OFFSET} of 04-10`] });
  });

  test('before a child is reported that does not exist yet, its term ends, and continues after it was due', async () => {
    await createOffset(OFFSET);
    const contract = await createContract();
    await moveTo('02-12');
    await endTerm(contract, day('03-20'));
    expect(await toldOn('03-01')).toEqual({ '03-01': [] });
    await endTerm(contract, null);
    expect(await toldOn('03-31', '04-01')).toEqual({ '03-31': [], '04-01': [`${OFFSET} of 05-10`] });
  });
});

test('a later notification reports the existing terms', async () => {
  await createContract({ recurring_credits: [recurring(), recurring({ recurrence_frequency: 'WEEKLY' })] });
  await createContract();
  await moveTo('01-11');
  await createOffset(OFFSET);
  expect(await toldOn('01-11', '01-20', '02-01')).toEqual({
    '01-11': [],
    '01-20': [`${OFFSET} of 02-21`, `${OFFSET} of 02-28`],
    '02-01': [`${OFFSET} of 03-07`, `${OFFSET} of 03-10`, `${OFFSET} of 03-10`],
  });
});

test('jobs that an earlier version has queued tell what was due before them', async () => {
  await createOffset('-P2M9D');
  await createContract();
  // That version scheduled nothing ahead.
  await db.execute(sql`delete from scheduled_messages where customer_id = ${customer_id}`);
  await db.execute(
    sql`update jobs set payload = payload - 'told_ahead' where kind = 'create_recurring_commits'`,
  );
  expect(await toldOn('02-09', '02-10', '03-01', '04-01')).toEqual({
    '02-09': [],
    '02-10': ['-P2M9D of 04-10'],
    '03-01': ['-P2M9D of 05-10'],
    '04-01': ['-P2M9D of 06-10'],
  });
});
