/** Guarantees that hold when connections to PostgreSQL, of any kind, are lost at any moment. */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import { within } from '../../src/runtime/time-limit.ts';
import { createDatabase } from '../../src/store/base/database.ts';
import type { Program } from './child-process.ts';
import type { StoreProxy } from './store-proxy.ts';

/** Resolves when the program has done that many more transactions; rejects when its process ends. */
export async function moreSucceed(program: Program, count: number): Promise<void> {
  const last = () => Number(/(\d+) done (\d+) failed\n$/.exec(program.stdout())?.[1] ?? 0);
  const goal = last() + count;
  while (last() < goal) {
    if (program.child.exitCode !== null) throw new Error(`the process has ended: ${program.stderr()}`);
    await pause(2);
  }
}

/** The driver gives up a connection that does not answer after 30 s. */
const ANSWERED_WITHIN_MS = 5_000;

/** After each loss, every connection of a pool answers again, with the rows of the statement that it was asked. */
export async function answersAfterLosses(url: string, proxy: StoreProxy): Promise<void> {
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
}
