import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/store/base/database.ts';
import { sentTogether } from '../../src/store/base/sent-together.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type SentToPostgres, watchWrites } from '../support/write-watch.ts';

const sent = watchWrites();
const { db, inProcess: api } = await serviceForFile();

/** Every connection has carried the operation out by then. */
const CALLS_BEFORE = 40;
const CALLS = 15;

/** The least of several calls: jobs run beside them. */
async function leastSent(call: (number: number) => Promise<unknown>): Promise<SentToPostgres> {
  let least: SentToPostgres = { writes: Number.POSITIVE_INFINITY, statements: Number.POSITIVE_INFINITY };
  for (let number = 0; number < CALLS_BEFORE + CALLS; number += 1) {
    const before = sent();
    await call(number);
    const after = sent();
    const [writes, statements] = [after.writes - before.writes, after.statements - before.statements];
    if (number >= CALLS_BEFORE && writes <= least.writes) least = { writes, statements };
  }
  return least;
}

async function idOf(path: string, body: object): Promise<string> {
  const { status, body: answer } = await api.post(path, body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return (answer as { readonly data: { readonly id: string } }).data.id;
}

describe('a request that creates something', () => {
  it('a request that creates something sends each step to PostgreSQL in one message: a contract', async () => {
    const card = await idOf('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
    const customer = await idOf('/v1/customers', { name: 'Customer' });
    const contract = { customer_id: customer, rate_card_id: card, starting_at: '2026-11-01T00:00:00Z' };
    const least = await leastSent(() => idOf('/v1/contracts/create', contract));
    expect(least.writes).toBeLessThanOrEqual(9);
    expect(least.statements).toBeLessThanOrEqual(22);
  });

  it('likewise a customer with aliases', async () => {
    const least = await leastSent((number) =>
      idOf('/v1/customers', { name: 'Customer', ingest_aliases: [`b-${number}`, `a-${number}`] }),
    );
    expect(least.writes).toBeLessThanOrEqual(5);
    expect(least.statements).toBeLessThanOrEqual(7);
  });

  it('likewise a metric', async () => {
    const metric = { name: 'Calls', aggregation_type: 'COUNT', event_type_filter: { in_values: ['calls'] } };
    const least = await leastSent(() => idOf('/v1/billable-metrics/create', metric));
    expect(least).toEqual({ writes: 5, statements: 5 });
  });
});

describe('work that is sent together', () => {
  const inTransaction = <Result>(work: (tx: Transaction) => Promise<Result>) => db.transaction(work);

  it('reaches PostgreSQL in the order given, however deep its first statement is', async () => {
    await db.execute(sql`create sequence if not exists order_of_work`);
    const next = (tx: Transaction) =>
      tx.execute<{ place: string }>(sql`select nextval('order_of_work') as place`);
    const nested = async (tx: Transaction) => {
      await Promise.resolve();
      return await (async () => await next(tx))();
    };
    const answers = await inTransaction((tx) =>
      sentTogether(
        () => nested(tx),
        () => next(tx).execute(),
        async () => await next(tx),
        () => nested(tx),
        () => next(tx),
      ),
    );
    expect(answers.map((rows) => Number(rows[0]?.place))).toEqual([1, 2, 3, 4, 5]);
  });

  it('work that is sent together is refused with the first refusal in that order, and stores nothing', async () => {
    await db.execute(sql`create table if not exists work_done (place int)`);
    const refused = inTransaction((tx) =>
      sentTogether(
        () => tx.execute(sql`insert into work_done values (1)`),
        async () => {
          await tx.execute(sql`select 1`);
          throw new Error('first');
        },
        () => Promise.reject(new Error('second')),
        () => tx.execute(sql`select 1 / 0`),
      ),
    );
    await expect(refused).rejects.toThrow('first');
    expect(await db.execute(sql`select * from work_done`)).toHaveLength(0);
    await expect(inTransaction((tx) => tx.execute(sql`select 1 as one`))).resolves.toHaveLength(1);
  });
});
