/** Starts, ends and segments are reported at their instants; offset notifications before and after events. */
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { upcomingCommits } from '../../src/billing/contracts/grants/upcoming-grants.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { newId } from '../../src/core/ids.ts';
import { tellScheduled } from '../../src/notifications/tell-scheduled.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const FIRST_YEAR = 2020;
const { api, db } = await serviceForFile({ usage: 'naive', sandboxNow: `${FIRST_YEAR}-01-10T00:00:00Z` });

const receiver = await startWebhookReceiver();
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Credit',
  type: 'FIXED',
});

/** Each test has a separate customer and year, in which the clock stands at 10 January. */
let year = FIRST_YEAR - 1;
let customer_id = '';
beforeEach(async () => {
  year += 1;
  await moveTo('01-10');
  for (const type of switchedOn) await switchOn(type, false);
  switchedOn.clear();
  customer_id = await createdId(api, '/v1/customers', { name: `Customer of ${year}` });
});

const day = (monthAndDay: string) => `${year}-${monthAndDay}T00:00:00.000Z`;
const moveTo = (monthAndDay: string) => api.post('/v1/sandbox/clock', { now: day(monthAndDay) });
const switchedOn = new Set<string>();
async function switchOn(type: string, is_enabled = true) {
  if (is_enabled) switchedOn.add(type);
  await api.post('/v2/notifications/edit', { policy: { type }, is_enabled });
}

const createContract = (terms: object = {}) =>
  createdId(api, '/v1/contracts/create', { customer_id, starting_at: day('01-10'), ...terms });
const endContract = (contract_id: string, monthAndDay: string) =>
  api.post('/v1/contracts/updateEndDate', { customer_id, contract_id, ending_before: day(monthAndDay) });
const archiveContract = (contract_id: string) =>
  api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
const creditOf = (...segments: readonly (readonly [string, string])[]) => ({
  product_id,
  access_schedule: {
    schedule_items: segments.map(([start, end]) => ({
      amount: 100,
      starting_at: day(start),
      ending_before: day(end),
    })),
  },
});
const createOffset = async (type: string, offset: string, more: object = {}) =>
  (await api.post('/v2/notifications/create', { name: offset, policy: { type, offset }, ...more })).text(
    'data.id',
  );

const message = z.looseObject({ id: z.string(), type: z.string(), timestamp: z.string() });

/** The messages of the customer, in the order in which they were written. */
async function messages() {
  const rows = await db.execute<{ body: string }>(sql`
    select m.body from webhook_messages m join webhook_deliveries d on d.message_id = m.id
    where m.customer_id = ${customer_id} order by d.sequence`);
  return rows.map(({ body }) => message.parse(JSON.parse(body)));
}
/** The messages that were sent, each with the instant that it reports. */
const told = async () => (await messages()).map(({ type, timestamp }) => [type, timestamp.slice(5, 10)]);
/** The messages that are scheduled, by their instant. */
async function scheduled() {
  const rows = await db.execute<{ type: string; at: string }>(sql`
    select type, to_char(fire_at, 'MM-DD') as at from scheduled_messages
    where customer_id = ${customer_id} order by fire_at, sequence`);
  return rows.map(({ type, at }) => [type, at]);
}

describe('starts and ends', () => {
  it('starts and ends of contracts and segments are reported in the order of their instants when the clock moves over all of them', async () => {
    for (const type of ['contract.start', 'contract.end', 'credit.segment.start', 'credit.segment.end']) {
      await switchOn(type);
    }
    const contract_id = await createContract({
      starting_at: day('02-01'),
      ending_before: day('04-01'),
      credits: [creditOf(['02-01', '02-15'], ['03-01', '04-01'])],
    });
    expect(await told()).toEqual([]);
    await moveTo('12-01');
    const all = await messages();
    expect(all.map(({ type, timestamp }) => [type, timestamp])).toEqual([
      ['contract.start', day('02-01')],
      ['credit.segment.start', day('02-01')],
      ['credit.segment.end', day('02-15')],
      ['credit.segment.start', day('03-01')],
      ['contract.end', day('04-01')],
      ['credit.segment.end', day('04-01')],
    ]);
    expect(all[3]).toEqual({
      id: expect.any(String),
      type: 'credit.segment.start',
      timestamp: day('03-01'),
      environment_type: 'PRODUCTION',
      customer_id,
      customer_custom_fields: {},
      contract_id,
      contract_custom_fields: {},
      credit_id: expect.any(String),
      credit_custom_fields: {},
      parent_recurring_credit_id: null,
      segment_id: expect.any(String),
      segment_index: 1,
      segment_count: 2,
    });
    expect(all[4]).not.toHaveProperty('segment_id');
    expect(await scheduled()).toEqual([]);
  });

  it('events that have passed when a term is created are not reported', async () => {
    for (const type of ['contract.start', 'credit.segment.start', 'credit.segment.end']) await switchOn(type);
    const credits = [creditOf(['01-01', '01-05'], ['01-10', '02-01'])];
    await createContract({ starting_at: day('01-01'), credits });
    await moveTo('03-01');
    expect(await told()).toEqual([['credit.segment.end', '02-01']]);
  });

  it('the start of a contract that is created in the hour of its start is reported at once, and only once', async () => {
    await switchOn('contract.start');
    await createContract({ starting_at: day('01-09') });
    const contract = await createContract({ starting_at: day('01-10') });
    await moveTo('02-01');
    expect((await messages()).map(({ type, contract_id }) => [type, contract_id])).toEqual([
      ['contract.start', contract],
    ]);
  });

  it('events are reported at the new instant after an edit, and not at all if it has passed', async () => {
    await switchOn('contract.end');
    const moved = await createContract({ ending_before: day('02-01') });
    const ended = await createContract({ ending_before: day('02-01') });
    await endContract(moved, '03-01');
    await moveTo('01-20');
    await endContract(ended, '01-15');
    await moveTo('02-15');
    expect(await told()).toEqual([]);
    await moveTo('03-15');
    expect((await messages()).map(({ contract_id }) => contract_id)).toEqual([moved]);
    await endContract(moved, '04-01');
    await moveTo('05-01');
    expect(await told()).toEqual([
      ['contract.end', '03-01'],
      ['contract.end', '04-01'],
    ]);
  });

  it('events of objects that were archived before are not reported', async () => {
    for (const type of ['contract.end', 'credit.segment.end', 'credit.segment.start']) await switchOn(type);
    const terms = { ending_before: day('04-01'), credits: [creditOf(['02-01', '03-01'])] };
    const contract = await createContract(terms);
    expect(await scheduled()).toHaveLength(3);
    await archiveContract(contract);
    expect(await scheduled()).toEqual([]);
  });

  it('future events are reported once their type is switched on, and not any more once it is off', async () => {
    await createContract({ ending_before: day('03-01'), credits: [creditOf(['02-01', '03-01'])] });
    for (const type of ['contract.start', 'contract.end', 'credit.segment.start', 'commit.segment.start']) {
      await switchOn(type);
    }
    expect(await scheduled()).toEqual([
      ['credit.segment.start', '02-01'],
      ['contract.end', '03-01'],
    ]);
    await switchOn('contract.end');
    await switchOn('contract.end', false);
    await moveTo('04-01');
    expect(await told()).toEqual([['credit.segment.start', '02-01']]);
  });

  it('starts and ends of children of recurring credits are reported, with the id of their term', async () => {
    await switchOn('credit.segment.start');
    await createContract({ ending_before: day('05-10'), recurring_credits: [recurring()] });
    await moveTo('06-01');
    expect(await told()).toEqual(['02-10', '03-10', '04-10'].map((at) => ['credit.segment.start', at]));
    expect((await messages())[0]?.parent_recurring_credit_id).toEqual(expect.any(String));
  });

  it('starts and ends have one message each though several processes tell them at the same time', async () => {
    await switchOn('contract.end');
    const ends = ['02-01', '02-02', '02-03', '02-04', '02-05'];
    for (const ending_before of ends.map(day)) await createContract({ ending_before });
    await Promise.all(
      ends.map(() => tellScheduled({ db, upcoming: upcomingCommits }, Date.parse(day('02-04')))),
    );
    expect(await told()).toEqual(ends.slice(0, 4).map((at) => ['contract.end', at]));
    expect(await scheduled()).toEqual([['contract.end', '02-05']]);
  });

  it('starts and ends of an erased customer are not reported', async () => {
    await switchOn('contract.end');
    const contract_id = await createContract({ ending_before: day('02-01') });
    await archiveContract(contract_id);
    await api.post('/v1/customers/archive', { id: customer_id });
    expect(await scheduled()).toEqual([]);
  });
});

const recurring = () => ({
  product_id,
  priority: 1,
  starting_at: day('01-10'),
  access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
  commit_duration: { value: 1 },
  recurrence_frequency: 'MONTHLY',
});

describe('an offset notification', () => {
  it('an offset notification tells before and after events, with their instant, its id and its duration, in the order of all instants', async () => {
    const [before, after, created] = [
      await createOffset('contract.end', '-P7D'),
      await createOffset('contract.end', 'P1M'),
      await createOffset('contract.create', 'PT36H'),
    ];
    await switchOn('contract.end');
    const contract = await createContract({ ending_before: day('03-31') });
    await moveTo('12-01');
    const all = await messages();
    expect(
      all.map(({ type, timestamp, offset_id, offset_duration }) => [
        type,
        timestamp,
        offset_id,
        offset_duration,
      ]),
    ).toEqual([
      ['contract.create', day('01-10'), created, 'PT36H'],
      ['contract.end', day('03-31'), before, '-P7D'],
      ['contract.end', day('03-31'), undefined, undefined],
      ['contract.end', day('03-31'), after, 'P1M'],
    ]);
    expect(all.every(({ contract_id }) => contract_id === contract)).toBe(true);
    for (const id of [before, after, created]) await api.post('/v2/notifications/archive', { id });
  });

  it('an offset notification tells what is still to come of the terms that there are, at the same instants as of those that come later', async () => {
    const ends = ['02-28', '03-01', '03-30', '03-31', '05-31', '12-31'];
    const offsets = ['-P1M', '-P1M1DT1H', 'P1M', 'P1Y', '-P12D', '-PT1S'];
    const offsetted = async () =>
      db.execute<{ offset: string; at: string }>(sql`
        select n.offset, s.event_at::text as event, s.fire_at::text as at
        from scheduled_messages s join offset_notifications n on n.id = s.offset_id
        where s.customer_id = ${customer_id} order by n.offset, s.event_at, s.fire_at`);
    const createAll = () => Promise.all(offsets.map((offset) => createOffset('contract.end', offset)));
    const early = await createAll();
    for (const ending_before of ends.map(day)) await createContract({ ending_before });
    const scheduledByChanges = await offsetted();
    for (const id of early) await api.post('/v2/notifications/archive', { id });
    expect(await offsetted()).toHaveLength(0);
    const late = await createAll();
    expect([...(await offsetted())]).toEqual([...scheduledByChanges]);
    expect(scheduledByChanges).toHaveLength(ends.length * offsets.length);
    for (const id of late) await api.post('/v2/notifications/archive', { id });
  });

  it('an offset notification does not tell what is past when it is created or edited, and nothing once it is archived', async () => {
    await createContract({ ending_before: day('01-15') });
    await createContract({ ending_before: day('02-20') });
    const id = await createOffset('contract.end', '-P7D');
    expect(await scheduled()).toEqual([['contract.end', '02-13']]);
    const edited = await api.post('/v2/notifications/edit', {
      id,
      policy: { type: 'contract.end', offset: '-P2D' },
    });
    expect(edited.at('data.policy')).toEqual({ type: 'contract.end', offset: '-P2D' });
    expect(await scheduled()).toEqual([
      ['contract.end', '01-13'],
      ['contract.end', '02-18'],
    ]);
    await moveTo('02-01');
    expect(await told()).toEqual([['contract.end', '01-15']]);
    await api.post('/v2/notifications/archive', { id });
    await moveTo('03-01');
    expect(await told()).toHaveLength(1);
  });

  it('an offset notification tells of children that are created later than their lead, unless that was due before it', async () => {
    const id = await createOffset('credit.segment.start', '-P80D');
    await createContract({ ending_before: day('06-10'), recurring_credits: [recurring()] });
    await moveTo('12-01');
    expect(await told()).toEqual(['04-10', '05-10'].map((at) => ['credit.segment.start', at]));
    await api.post('/v2/notifications/archive', { id });
  });

  it('an offset notification tells of children that are created after several of its instants at each of these', async () => {
    const ids = [];
    for (const offset of ['-P60D', '-P70D', '-P65D'])
      ids.push(await createOffset('credit.segment.start', offset));
    const terms = { ending_before: day('05-10'), recurring_credits: [recurring(), recurring()] };
    await createContract(terms);
    await moveTo('12-01');
    const leads = (await messages()).map(({ timestamp, offset_duration }) => [
      timestamp.slice(5, 10),
      offset_duration,
    ]);
    // Created on 10 March, for each of two credits, and notified from 30 January on.
    const inOrder = (at: string) =>
      ['-P70D', '-P65D', '-P60D'].flatMap((lead) => [0, 1].map(() => [at, lead]));
    expect(leads).toEqual(inOrder('04-10'));
    for (const id of ids) await api.post('/v2/notifications/archive', { id });
  });

  it('an offset notification tells of a change unless what was changed is archived meanwhile', async () => {
    const ids = [await createOffset('contract.edit', 'P10D'), await createOffset('contract.archive', 'P10D')];
    const [kept, archived] = [await createContract(), await createContract()];
    for (const contract of [kept, archived]) await endContract(contract, '12-01');
    await archiveContract(archived);
    await moveTo('02-01');
    expect((await messages()).map(({ type, contract_id }) => [type, contract_id])).toEqual([
      ['contract.edit', kept],
      ['contract.archive', archived],
    ]);
    for (const id of ids) await api.post('/v2/notifications/archive', { id });
  });

  it('an offset notification is created, read, listed by pages, and archived', async () => {
    const ids = [];
    for (const offset of ['P1D', 'P2D', 'P3D']) ids.push(await createOffset('commit.create', offset));
    const shown = (await api.post('/v2/notifications/get', { id: ids[0] })).at('data');
    expect(shown).toEqual({
      id: ids[0],
      name: 'P1D',
      type: 'OFFSET_LIFECYCLE_EVENT',
      policy: { type: 'commit.create', offset: 'P1D' },
      environment_type: 'PRODUCTION',
      created_at: day('01-10'),
      created_by: expect.any(String),
      archived_at: null,
    });
    const list = (body: object) => api.post('/v2/notifications/offset/list', body);
    const idsOf = (body: unknown) => (body as { data: { id: string }[] }).data.map(({ id }) => id);
    const first = await list({ limit: 2 });
    const rest = await list({ limit: 2, cursor: first.text('cursor') });
    // Created at one instant of the clock, they are listed by id.
    expect([...idsOf(first.body), ...idsOf(rest.body)]).toEqual(ids.toSorted());
    expect(rest.at('cursor')).toBeNull();
    const archived = await api.post('/v2/notifications/archive', { id: ids[1] });
    expect(archived.at('data.archived_at')).toBe(day('01-10'));
    expect((await api.post('/v2/notifications/archive', { id: ids[1] })).body).toEqual(archived.body);
    expect(idsOf((await list({})).body)).toEqual([ids[0], ids[2]].toSorted());
    expect(idsOf((await list({ archive_filter: 'ARCHIVED' })).body)).toContain(ids[1]);
    const edit = { id: ids[1], policy: { type: 'commit.create', offset: 'P5D' } };
    expect((await api.send('POST', '/v2/notifications/edit', edit)).status).toBe(400);
    for (const id of ids) await api.post('/v2/notifications/archive', { id });
  });

  it.each([
    ['contract.end', 'P0D', 'policy.offset: must not be zero'],
    ['contract.end', 'soon', 'policy.offset: must be an ISO 8601 duration'],
    ['contract.create', '-P1D', 'policy.offset: must not be negative'],
    ['commit.edit', '-PT1S', 'policy.offset: must not be negative'],
    ['credit.archive', '-P1D', 'policy.offset: must not be negative'],
  ])('an offset notification is refused: %s %s', async (type, offset, problem) => {
    const answer = await api.send('POST', '/v2/notifications/create', {
      name: 'x',
      policy: { type, offset },
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toContain(problem);
  });

  it('an offset notification refuses a key that was used, ids that it does not know, and another type', async () => {
    const id = await createOffset('contract.end', 'P1D', { uniqueness_key: `key ${year}` });
    const policy = { type: 'contract.end', offset: 'P2D' };
    const again = await api.send('POST', '/v2/notifications/create', {
      name: 'x',
      policy,
      uniqueness_key: `key ${year}`,
    });
    expect(again.status).toBe(409);
    for (const path of ['get', 'archive']) {
      const unknown = await api.send('POST', `/v2/notifications/${path}`, { id: newId() });
      expect([unknown.status, unknown.at('code')]).toEqual([404, 'NotificationConfigNotFound']);
    }
    for (const edit of [
      { id, policy: { type: 'contract.start', offset: 'P2D' } },
      { id, policy: { type: 'contract.end' } },
      { id, policy, is_enabled: true },
      { policy },
    ]) {
      expect((await api.send('POST', '/v2/notifications/edit', edit)).status).toBe(400);
    }
    await api.post('/v2/notifications/archive', { id });
  });
});
