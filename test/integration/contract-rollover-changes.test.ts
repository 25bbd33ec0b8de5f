/** A rollover changes with its source, and only with its source. */
import { expect, test } from 'vitest';
import { day, ledgerOf, renewalBench, type Segment } from '../support/renewals.ts';
import type { Body } from '../support/term-fixtures.ts';

const { customer, on, rolling, create, renew, read, edit } = renewalBench();

const UPDATE_END = '/v1/contracts/updateEndDate';

async function renewed(month = 7, ...segments: Segment[]) {
  const first: Segment[] = segments.length > 0 ? segments : [[100, 1, 12]];
  const older = await create({ commits: [rolling(0.5, ...first)] });
  const newer = await renew(older, month);
  const source = await read(on(2), older);
  return {
    older,
    newer,
    commit_id: source.text('data.commits[0].id'),
    segment: source.text('data.commits[0].access_schedule.schedule_items[0].id'),
  };
}

test('a rollover cannot be edited, but archived', async () => {
  const { newer } = await renewed();
  const id = (await read(on(8), newer)).text('data.commits[0].id');
  const answer = await edit(on(8), newer, { update_commits: [{ commit_id: id, name: 'Mine' }] });
  expect(answer.status).toBe(400);
  expect(answer.text('message')).toMatch(/^update_commits\[0\]\.commit_id: has rolled over/);
  expect((await edit(on(8), newer, { archive_commits: [{ id }] })).status).toBe(200);
  expect((await read(on(8), newer)).at('data.commits[0].balance')).toBe(0);
});

test('a change of the source changes the rollover, its ledger, and the one after that', async () => {
  const { older, newer, commit_id, segment } = await renewed();
  const last = await renew(newer, 9);
  const access_schedule = { update_schedule_items: [{ id: segment, amount: 300 }] };
  const answer = await edit(on(8), older, { update_commits: [{ commit_id, access_schedule }] });
  expect(answer.status).toBe(200);
  expect((await read(on(8), newer)).at('data.commits[0].balance')).toBe(150);
  expect((await read(on(10), last)).at('data.commits[0].balance')).toBe(75);
  expect(ledgerOf(await read(on(8), older))).toEqual([
    'SEGMENT_START 300 01-01',
    'ROLLOVER -150 07-01',
    'EXPIRATION -150 07-01',
  ]);
  const history = await on(8).post('/v2/contracts/getEditHistory', {
    customer_id: customer(),
    contract_id: newer,
  });
  expect(history.at('data[1].update_commits[0].access_schedule.update_schedule_items[0].amount')).toBe(150);
});

test('amounts that are added to the older contract before the renewal begins roll over, and no later ones', async () => {
  const { older, newer } = await renewed();
  expect((await edit(on(6), older, { add_commits: [rolling(0.1, [1000, 1, 12])] })).status).toBe(200);
  expect((await edit(on(8), older, { add_commits: [rolling(0.1, [5000, 1, 12])] })).status).toBe(200);
  const balances = (await read(on(8), newer))
    .list('data.commits')
    .map((one) => (one as { balance: number }).balance);
  expect(balances).toEqual([50, 100]);
});

/** Gives the commit a fraction, or pays for it, after the renewal has been created; returns what rolled over. */
const LATE = {
  fraction: async (month: number, end: Body) => {
    const { rollover_fraction: _, ...commit } = rolling(0, [100, 1, 12]);
    const older = await create({ commits: [commit], ...end });
    const newer = await renew(older, 7);
    const commit_id = (await read(on(2), older)).text('data.commits[0].id');
    const update_commits = [{ commit_id, rollover_fraction: 0.4 }];
    expect((await edit(on(month), older, { update_commits })).status).toBe(200);
    return read(on(9), newer);
  },
  payment: async (month: number, end: Body) => {
    const older = await create(end);
    const payment_gate_config = { payment_gate_type: 'EXTERNAL' };
    const add_commits = [{ ...rolling(0.4, [100, 1, 12]), payment_gate_config }];
    expect((await edit(on(2), older, { add_commits })).status).toBe(200);
    const newer = await renew(older, 7);
    const workflow_id = (await read(on(2), older)).text('data.commits[0].id');
    await on(month).post('/v1/contracts/commits/threshold-billing/release', { workflow_id, outcome: 'paid' });
    expect((await read(on(9), newer)).list('data.commits')).toEqual([]);
    // A payment is no change of the contract.
    expect((await edit(on(month), older, { update_contract_name: 'Paid' })).status).toBe(200);
    return read(on(9), newer);
  },
};

test.each(['fraction', 'payment'] as const)(
  'a commit that gets its %s after the renewal was created rolls over only where the renewal cut nothing, until it begins',
  async (late) => {
    for (const [month, end, rolled] of [
      [6, {}, []],
      [8, {}, []],
      [6, { ending_before: day(7) }, [40]],
      [8, { ending_before: day(7) }, []],
    ] as const) {
      const commits = (await LATE[late](month, end)).list('data.commits');
      expect(commits.map((one) => (one as { balance: number }).balance)).toEqual(rolled);
    }
  },
);

test('archiving the source takes the rollover back until the renewal has begun', async () => {
  for (const [month, left] of [
    [6, 0],
    [8, 50],
  ] as const) {
    const { older, newer, commit_id } = await renewed();
    expect((await edit(on(month), older, { archive_commits: [{ id: commit_id }] })).status).toBe(200);
    expect((await read(on(9), newer)).at('data.commits[0].balance')).toBe(left);
  }
});

test('an end of the older contract that lies before it leaves nothing to roll over', async () => {
  const { older, newer } = await renewed(7, [100, 1, 12], [10, 9, 11]);
  await on(3).post(UPDATE_END, { customer_id: customer(), contract_id: older, ending_before: day(5) });
  expect((await read(on(8), newer)).at('data.commits[0].balance')).toBe(0);
  expect(ledgerOf(await read(on(8), older))).toEqual(['SEGMENT_START 100 01-01', 'EXPIRATION -100 05-01']);
});

test('a later end of the older contract revives nothing', async () => {
  const { older } = await renewed(7, [100, 1, 12], [10, 9, 11]);
  await on(8).post(UPDATE_END, { customer_id: customer(), contract_id: older, ending_before: day(12) });
  expect((await read(on(10), older)).at('data.commits[0].balance')).toBe(0);
});

test('the purchase of the source can be changed until its contract has ended', async () => {
  const { older, commit_id } = await renewed();
  const invoice_schedule = { add_schedule_items: [{ timestamp: day(6), amount: 10 }] };
  const changes = { update_commits: [{ commit_id, invoice_schedule }] };
  expect((await edit(on(6), older, changes)).status).toBe(200);
  const late = await edit(on(7), older, changes);
  expect(late.status).toBe(400);
  expect(late.text('message')).toMatch(/^update_commits\[0\]\.invoice_schedule: has rolled over/);
});
