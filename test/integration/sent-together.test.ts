/** The order of statements of one transaction is the order of its parts, however long each part takes to begin. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Transaction } from '../../src/store/base/database.ts';
import { sentTogether } from '../../src/store/base/sent-together.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const { db } = await databaseForFile();

/** A part that does `turns` of other work first, then adds a row; parts of a part; null: it sends nothing. */
type Part = { readonly turns: number } | null | readonly Part[];

const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.record({ turns: fc.integer({ min: 0, max: 40 }) }),
    fc.constant(null),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }),
  ),
}));

/** Answers the places of the rows of each part, in the order in which PostgreSQL has added them. */
async function carryOut(tx: Transaction, one: Part): Promise<readonly number[]> {
  if (one === null) return [];
  if ('turns' in one) {
    for (let turn = 0; turn < one.turns; turn += 1) await undefined;
    const rows = await tx.execute<{ place: number }>(sql`insert into sent default values returning place`);
    return rows.map(({ place }) => place);
  }
  const places = await sentTogether(...one.map((each) => () => carryOut(tx, each)));
  const firsts = places.flatMap((each) => each.slice(0, 1));
  expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  return places.flat();
}

test('first statements of parts are carried out in the order of the parts, at any depth and after any work before them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
      await db.transaction(async (tx) => {
        await tx.execute(sql`create temp table sent (place serial) on commit drop`);
        await carryOut(tx, parts);
      });
    }),
    { numRuns: runs(40) },
  );
});

test('parts that are refused answer the first refusal in their order, whichever came first', async () => {
  const refused = (name: string, turns: number) => async () => {
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    throw new Error(name);
  };
  await expect(sentTogether(refused('first', 30), refused('second', 0))).rejects.toThrow('first');
});

test('statements of parts do not wait for the answers of the parts before them', async () => {
  const answered: string[] = [];
  const sent: string[] = [];
  await db.transaction((tx) =>
    sentTogether(
      ...['first', 'second'].map((name) => async () => {
        sent.push(name);
        await tx.execute(sql`select pg_sleep(0.05)`);
        answered.push(`${name} after ${sent.join(', ')}`);
      }),
    ),
  );
  expect(answered).toEqual(['first after first, second', 'second after first, second']);
});
