/** Statements that connections keep, and those of one transaction that do not wait for one another. */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { type Database, inSnapshot, type Transaction } from '../../src/store/base/database.ts';
import { asIdentification, asRead } from '../../src/store/base/request-unit.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

/** As a request that only reads, whose connections keep their statements. */
function reading<Result>(read: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return asRead(() => inSnapshot(db, read));
}

async function numberAsked(tx: Transaction, number: number): Promise<unknown> {
  const [row] = await tx.execute(sql`select ${number}::int + 1 as next`);
  return row?.next;
}

/** A statement with more parameters than those that are kept have. */
async function sumAsked(tx: Transaction, numbers: readonly number[]): Promise<unknown> {
  const terms = numbers.map((number) => sql`${number}::int`);
  const [row] = await tx.execute(sql`select ${sql.join(terms, sql` + `)} as total`);
  return row?.total;
}

test('each has its own answer, again and again', async () => {
  for (let round = 0; round < 3; round += 1) {
    const answers = await reading((tx) =>
      Promise.all([
        ...Array.from({ length: 150 }, (_, number) => numberAsked(tx, number)),
        sumAsked(tx, [round, 2, 3]),
        sumAsked(
          tx,
          Array.from({ length: 30 }, () => round),
        ),
      ]),
    );
    const numbers = Array.from({ length: 150 }, (_, number) => number + 1);
    expect(answers).toEqual([...numbers, round + 5, 30 * round]);
  }
});

test('a failure of one is that of the transaction, and the next one is not touched', async () => {
  const failing = reading((tx) =>
    Promise.all([numberAsked(tx, 1), tx.execute(sql`select 1 / 0`), numberAsked(tx, 2)]),
  );
  await expect(failing).rejects.toMatchObject({ cause: { message: 'division by zero' } });
  expect(await reading((tx) => Promise.all([numberAsked(tx, 3), numberAsked(tx, 4)]))).toEqual([4, 5]);
});

test('none is sent after the end of its transaction', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const failing = reading(async (tx) => {
    late = pause(20).then(() => numberAsked(tx, 1));
    throw new Error('refused');
  });
  await expect(failing).rejects.toThrow('refused');
  await expect(late).rejects.toMatchObject({ cause: { message: 'the transaction has ended' } });
});

/** Whether the connection that it is sent on keeps this very statement, which has so many parameters. */
async function isKept(on: Database | Transaction, label: string, parameters = 1): Promise<unknown> {
  const numbers = Array.from({ length: parameters }, () => sql`${1}::int`);
  const [row] = await on.execute(sql`
    select exists (select from pg_prepared_statements where statement like ${sql.raw(`'%${label}%'`)}) as kept
    where 1 in (${sql.join(numbers, sql`, `)})`);
  return row?.kept;
}

test('connections of reads and of tokens keep statements of few parameters, in a transaction and without one', async () => {
  expect(await reading((tx) => isKept(tx, 'inside'))).toBe(true);
  expect(await asRead(() => isKept(db, 'outside'))).toBe(true);
  expect(await asIdentification(() => isKept(db, 'of a token'))).toBe(true);
  expect(await asRead(() => isKept(db, 'many', 30))).toBe(false);
  expect(await isKept(db, 'of a job')).toBe(false);
});
