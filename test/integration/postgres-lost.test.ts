/**
 * The connection to PostgreSQL is lost at any moment: the process continues, and no transaction is written in part.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { answersAfterLosses, moreSucceed } from '../support/losses-of-postgres.ts';
import { mainCases } from '../support/shares-of-tests.ts';
import { type Direction, type Ending, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

let database: TestDatabase;
let proxy: StoreProxy;
let program: Program;
/** The URL of the database, through the proxy. */
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
  await moreSucceed(program, 4);
  for (let after = 0; after < 60; after += 1) {
    await proxy.cutAt({ direction, after, ending });
    await moreSucceed(program, 4);
  }
  expect(await partsOfRuns()).toEqual([3]);
});

test.each<Ending>(mainCases(['reset', 'closed'], 1))(
  'all connections %s, and none possible for a while',
  async (ending) => {
    for (let round = 0; round < 10; round += 1) {
      await moreSucceed(program, 4);
      proxy.goDown(ending);
      await pause(50 * round);
      proxy.goOn();
    }
    await moreSucceed(program, 4);
    expect(await partsOfRuns()).toEqual([3]);
  },
);

test('after a loss at any moment every connection answers again', async () => {
  program.child.kill('SIGKILL');
  await answersAfterLosses(url, proxy);
});
