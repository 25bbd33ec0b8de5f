/** How balances are published: step by step, by any number of processes, and only what has changed. */
import { sql } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { publishBalances } from '../../src/billing/sql/publish-balances.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { balancePublication, publishedBalances } from '../../src/store/balances/published-balances.tables.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { applyPostgresScript, publishedRows } from '../support/published-balances.ts';

const NOW = Date.UTC(2026, 10, 20);
const CREDITS = 7;

const { pool, api } = await catalogueForFile({ now: NOW });
const { db } = pool;
await applyPostgresScript(pool.connection);
const customers = [
  await createdId(api, '/v1/customers', { name: 'First' }),
  await createdId(api, '/v1/customers', { name: 'Second' }),
  await createdId(api, '/v1/customers', { name: 'Third' }),
];
const product_id = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
const credits: string[] = [];
for (let number = 0; number < CREDITS; number += 1) {
  credits.push(await createCredit(customers[number % customers.length] ?? '', 10 + number));
}

function createCredit(customer_id: string, amount: number, starting_at = '2026-11-01T00:00:00Z') {
  return createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id, priority: 1, product_id, name: 'Credit' },
    access_schedule: {
      credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
      schedule_items: [{ amount, starting_at, ending_before: '2027-11-01T00:00:00Z' }],
    },
  });
}

beforeEach(async () => {
  await db.delete(publishedBalances);
  await db.delete(balancePublication);
  await db.insert(balancePublication).values({});
});

const publish = ({ now = NOW, ...pace }: Parameters<typeof publishBalances>[1] & { now?: number } = {}) =>
  publishBalances({ db, clock: { now: () => now } }, { passEveryMs: 0, ...pace });

const idsOf = (rows: readonly string[]) => rows.map((row) => row.split(' ')[0]);
const asOf = async () => (await db.select().from(balancePublication)).map((row) => row.asOf);

test('nothing is published before an operator has asked for it', async () => {
  await db.delete(balancePublication);
  expect(await publish()).toBe('idle');
  expect(await db.select().from(publishedBalances)).toEqual([]);
});

test('nobody sees a part of the first pass', async () => {
  expect(await publish({ commitsPerStep: CREDITS - 1 })).toBe('under way');
  expect(await publishedRows(db)).toEqual([]);
  expect(await publish({ commitsPerStep: CREDITS - 1 })).toBe('complete');
  expect(idsOf(await publishedRows(db))).toEqual(credits.toSorted());
});

test('a pass whose last step is full ends with an empty one', async () => {
  expect(await publish({ commitsPerStep: CREDITS })).toBe('under way');
  expect(await publish({ commitsPerStep: CREDITS })).toBe('complete');
  expect(await publishedRows(db)).toHaveLength(CREDITS);
});

test('a step reads no more than it may, whatever is to be computed', async () => {
  const few = { readPerStep: 3 };
  for (let pass = 0; pass < 2; pass += 1) {
    expect([await publish(few), await publish(few), await publish(few)]).toEqual([
      'under way',
      'under way',
      'complete',
    ]);
    expect(idsOf(await publishedRows(db))).toEqual(credits.toSorted());
  }
});

test('it is as of the beginning of its pass, and what came later may be in it', async () => {
  await publish({ commitsPerStep: 4, now: NOW });
  expect(await asOf()).toEqual([null]);
  await publish({ commitsPerStep: 4, now: NOW + MINUTE_MS });
  expect(await asOf()).toEqual([NOW]);
  await publish({ commitsPerStep: 4, now: NOW + 2 * MINUTE_MS });
  expect(await asOf()).toEqual([NOW]);
  await publish({ commitsPerStep: 4, now: NOW + 3 * MINUTE_MS });
  expect(await asOf()).toEqual([NOW + 2 * MINUTE_MS]);
});

test('the next pass begins some minutes after the last one began', async () => {
  expect(await publish({ passEveryMs: 5 * MINUTE_MS })).toBe('complete');
  expect(await publish({ passEveryMs: 5 * MINUTE_MS })).toBe('idle');
  await db.update(balancePublication).set({ passBegunAt: sql`now() - interval '5 minutes 1 second'` });
  expect(await publish({ passEveryMs: 5 * MINUTE_MS })).toBe('complete');
});

test('a pass that has begun is not delayed by the time between passes', async () => {
  expect(await publish({ passEveryMs: 5 * MINUTE_MS, commitsPerStep: 4 })).toBe('under way');
  expect(await publish({ passEveryMs: 5 * MINUTE_MS, commitsPerStep: 4 })).toBe('complete');
});

/** Steps of a pass to its end, several at a time. */
async function publishAtOnce(processes: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  while (counts.complete === undefined) {
    const own = { passEveryMs: 5 * MINUTE_MS, commitsPerStep: 2 };
    const steps = await Promise.all(Array.from({ length: processes }, () => publish(own)));
    for (const step of steps) counts[step] = (counts[step] ?? 0) + 1;
  }
  return counts;
}

test('each step of a pass is taken once, however many processes take steps at once', async () => {
  expect(await publishAtOnce(4)).toMatchObject({ 'under way': 3, complete: 1 });
  expect(idsOf(await publishedRows(db))).toEqual(credits.toSorted());
});

test('while one process takes a step no other one does, and what a killed one leaves is done by the next', async () => {
  const killed = db.transaction(async (tx) => {
    await tx.select().from(balancePublication).for('update');
    await tx.update(balancePublication).set({ passAsOf: NOW });
    expect(await publish()).toBe('idle');
    throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect(await publish()).toBe('complete');
  expect(idsOf(await publishedRows(db))).toEqual(credits.toSorted());
});

test('an unchanged balance is not published again', async () => {
  const versions = async () =>
    await db.execute<{ id: string; version: string }>(
      sql`select commit_id as id, xmin::text as version from published_balances order by commit_id`,
    );
  const changed = await createCredit(customers[0] ?? '', 50);
  await publish();
  const before = await versions();
  await addByHand(changed);
  await publish();
  const after = await versions();
  const rewritten = after.filter(({ version }, index) => version !== before[index]?.version);
  expect(rewritten.map(({ id }) => id)).toEqual([changed]);
  expect((await publishedRows(db)).find((row) => row.startsWith(changed))).toMatch(/ 51$/);
  await archive(changed);
});

test('a credit without access is computed once, and again as soon as it can be used', async () => {
  const later = await createCredit(customers[1] ?? '', 60, '2027-01-01T00:00:00Z');
  const published = async () => (await publishedRows(db)).find((row) => row.startsWith(later));
  // A full step says that there may be more.
  expect(await publish({ commitsPerStep: CREDITS + 1 })).toBe('under way');
  expect(await publish({ commitsPerStep: CREDITS + 1 })).toBe('complete');
  expect(await published()).toMatch(/ 0$/);
  expect(await publish({ commitsPerStep: CREDITS + 1 })).toBe('complete');
  expect(await published()).toMatch(/ 0$/);
  const now = Date.UTC(2027, 0, 1);
  expect(await publish({ commitsPerStep: CREDITS + 1, now })).toBe('under way');
  expect(await publish({ commitsPerStep: CREDITS + 1, now })).toBe('complete');
  expect(await published()).toMatch(/ 60$/);
  await archive(later, customers[1]);
});

async function addByHand(id: string): Promise<void> {
  const found = await api.post('/v1/contracts/customerBalances/list', { customer_id: customers[0], id });
  await api.post('/v1/contracts/addManualBalanceLedgerEntry', {
    ...{ customer_id: customers[0], id, amount: 1, reason: 'by hand' },
    segment_id: found.text('data[0].access_schedule.schedule_items[0].id'),
  });
}

const archive = (credit_id: string, customer_id = customers[0]) =>
  api.post('/v2/contracts/credits/archive', { customer_id, credit_id });

test('an archived balance is gone after the next pass, wherever it stood in the order', async () => {
  const others: [customerId: string, creditId: string][] = [];
  for (const name of ['Fourth', 'Fifth', 'Sixth', 'Seventh']) {
    const customerId = await createdId(api, '/v1/customers', { name });
    others.push([customerId, await createCredit(customerId, 1)]);
  }
  await publishAtOnce(1);
  expect(idsOf(await publishedRows(db))).toEqual([...credits, ...others.map(([, id]) => id)].toSorted());
  for (const [customerId, creditId] of others) await archive(creditId, customerId);
  await db.update(balancePublication).set({ passBegunAt: null });
  await publishAtOnce(1);
  expect(idsOf(await publishedRows(db))).toEqual(credits.toSorted());
});

/** As passes go over them. */
const placesPublished = async () =>
  await db
    .select({ customerId: publishedBalances.customerId, creditId: publishedBalances.commitId })
    .from(publishedBalances)
    .orderBy(publishedBalances.customerId, publishedBalances.commitId);

test('a commit that is archived between two steps stops no pass, also where the pass has reached it', async () => {
  const own: [customerId: string, creditId: string][] = [];
  for (const name of ['Eighth', 'Ninth', 'Tenth']) {
    const customerId = await createdId(api, '/v1/customers', { name });
    own.push([customerId, await createCredit(customerId, 1)]);
  }
  const steps = { commitsPerStep: 4 };
  expect(await publish(steps)).toBe('under way');
  const behind = (await placesPublished()).at(-1);
  expect(behind).toBeDefined();
  for (const [customerId, creditId] of own) await archive(creditId, customerId);
  const { creditId = '', customerId = '' } = behind ?? {};
  if (credits.includes(creditId)) await archive(creditId, customerId);
  const left = credits.filter((id) => id !== creditId);
  while ((await publish(steps)) !== 'complete');
  expect(idsOf(await publishedRows(db))).toEqual(expect.arrayContaining(left));
  while ((await publish(steps)) !== 'complete');
  expect(idsOf(await publishedRows(db))).toEqual(left.toSorted());
});

test('publishing that is stopped in the middle of a pass starts again, and shows nothing before it has ended', async () => {
  const customerId = await createdId(api, '/v1/customers', { name: 'Stopped' });
  const creditId = await createCredit(customerId, 1);
  while ((await publish()) !== 'complete');
  const all = await publishedRows(db);
  expect(idsOf(all)).toContain(creditId);
  expect(await publish({ commitsPerStep: 2 })).toBe('under way');
  await db.delete(balancePublication);
  expect(await publish()).toBe('idle');
  expect(await publishedRows(db)).toEqual([]);
  await archive(creditId, customerId);
  await applyPostgresScript(pool.connection);
  expect(await publish({ commitsPerStep: 2 })).toBe('under way');
  expect(await publishedRows(db)).toEqual([]);
  while ((await publish({ commitsPerStep: 2 })) !== 'complete');
  expect(await publishedRows(db)).toEqual(all.filter((row) => !row.startsWith(creditId)));
});
