/** The connection to PostgreSQL is lost at any moment: the process continues, and no transaction is written in part. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { within } from '../../src/core/time-limit.ts';
import { createDatabase } from '../../src/store/database.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { mainCases } from '../support/shares-of-tests.ts';
import { type Direction, type Ending, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

let database: TestDatabase;
let proxy: StoreProxy;
let program: Program;
/** Of the database, through the proxy. */
let url: string;

beforeEach(async () => {
  database = await createTestDatabase();
  await database.db.execute(sql`create table transfers (run int, part int, note text)`);
  const { connection } = database;
  if (!('socketDir' in connection)) throw new Error('the PostgreSQL of the run has a socket');
  proxy = await startStoreProxy({ path: join(connection.socketDir, '.s.PGSQL.5432') });
  url = `postgres://${connection.user}@127.0.0.1:${proxy.port}/${connection.database}`;
  program = runProgram('test/support/programs/transfer-money.ts', [JSON.stringify({ url })]);
});

afterEach(async () => {
  program.child.kill('SIGKILL');
  await program.ended;
  await proxy.close();
  await database.close();
});

/** Resolves when that many more transactions have succeeded; rejects when the process ends. */
async function moreSucceed(count: number): Promise<void> {
  const last = () => Number(/(\d+) done (\d+) failed\n$/.exec(program.stdout())?.[1] ?? 0);
  const goal = last() + count;
  while (last() < goal) {
    if (program.child.exitCode !== null) throw new Error(`the process has ended: ${program.stderr()}`);
    await pause(2);
  }
}

async function partsOfRuns(): Promise<unknown[]> {
  const rows = await database.db.execute(sql`
    select distinct parts from (select count(*)::int as parts from transfers group by run) as runs`);
  return rows.map(({ parts }) => parts);
}

const CUTS: readonly [Direction, Ending][] = [
  ['question', 'closed'],
  ['answer', 'reset'],
  ['question', 'reset'],
  ['answer', 'closed'],
];

test.each(mainCases(CUTS, 2))('cut at every %s, %s', async (direction, ending) => {
  await moreSucceed(4);
  for (let after = 0; after < 60; after += 1) {
    await proxy.cutAt({ direction, after, ending });
    await moreSucceed(4);
  }
  expect(await partsOfRuns()).toEqual([3]);
});

test.each<Ending>(mainCases(['reset', 'closed'], 1))(
  'all connections %s, and none possible for a while',
  async (ending) => {
    for (let round = 0; round < 10; round += 1) {
      await moreSucceed(4);
      proxy.goDown(ending);
      await pause(50 * round);
      proxy.goOn();
    }
    await moreSucceed(4);
    expect(await partsOfRuns()).toEqual([3]);
  },
);

/** The driver gives up a connection that does not answer after 30 s. */
const ANSWERED_WITHIN_MS = 5_000;

test('after a loss at any moment every connection answers again', async () => {
  program.child.kill('SIGKILL');
  const pool = createDatabase({ url });
  const outcome = async (asked: Promise<readonly unknown[]>) => {
    const rows = await asked.catch(() => null);
    return rows === null ? 'lost' : `${rows.length} rows`;
  };
  const ask = () => outcome(pool.db.execute(sql`select ${1}::int as n`));
  const transact = () => outcome(pool.db.transaction((tx) => tx.execute(sql`select ${1}::int as n`)));
  const askAll = () => Promise.all(Array.from({ length: 40 }, ask));
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round += 1) {
    for (const one of await askAll()) outcomes.add(one);
    let isOver = false;
    // Others are idle when their connections are lost, and are asked by those that have just lost theirs.
    const busy = Array.from({ length: 4 }, async () => {
      while (!isOver) outcomes.add(await transact());
    });
    await pause(round % 7);
    proxy.goDown(round % 2 === 0 ? 'reset' : 'closed');
    await pause(1);
    proxy.goOn();
    await pause(20);
    isOver = true;
    const all = Promise.all([...busy, askAll()]);
    await within(ANSWERED_WITHIN_MS, all, `round ${round}: some statements are not answered`);
  }
  // Not `0 rows`.
  expect(outcomes).toEqual(new Set(['lost', '1 rows']));
  expect(new Set(await askAll())).toEqual(new Set(['1 rows']));
  await pool.close();
});
