/**
 * Runs transactions on the database of its argument, several at once, until it is ended: each writes three rows
 * and waits in between, and is read afterwards. Says how many have succeeded and failed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { createDatabase, inSnapshot } from '../../../src/store/base/database.ts';
import { asRead } from '../../../src/store/base/request-unit.ts';

const [connection = ''] = process.argv.slice(2);
const { db } = createDatabase(JSON.parse(connection));

/** Longer than what the driver sends at once. */
const LONG_TEXT = 'x'.repeat(5_000);

let run = 0;
let done = 0;
let failed = 0;

async function transfer(): Promise<void> {
  run += 1;
  const own = run;
  try {
    await db.transaction(async (tx) => {
      await tx.execute(sql`insert into transfers (run, part, note) values (${own}, 1, '')`);
      await pause(3);
      await tx.execute(sql`insert into transfers (run, part, note) values (${own}, 2, ${LONG_TEXT})`);
      await new Promise((resolve) => setImmediate(resolve));
      await tx.execute(sql`insert into transfers (run, part, note) values (${own}, 3, '')`);
      await tx.execute(sql`select count(*) from transfers where run = ${own}`);
    });
    done += 1;
  } catch {
    failed += 1;
  }
  await db.execute(sql`select 1`).catch(() => undefined);
  await readTogether(own).catch(() => undefined);
  await asRead(() => db.execute(sql`select note from transfers where run = ${own}`)).catch(() => undefined);
  process.stdout.write(`${done} done ${failed} failed\n`);
}

/** Statements that are sent together, on connections that keep them. */
async function readTogether(own: number): Promise<void> {
  await asRead(() =>
    inSnapshot(db, (tx) =>
      Promise.all(
        [1, 2, 3].map((part) =>
          tx.execute(sql`select note from transfers where run = ${own} and part = ${part}`),
        ),
      ),
    ),
  );
}

await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (;;) {
      await transfer();
      await pause(1);
    }
  }),
);
