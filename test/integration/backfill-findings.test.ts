/** Rows that a backfill has taken, or left out, and that it says something of at its end. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBackfill } from '../../src/app/commands/backfill/backfill.ts';
import { openLocalFile, recognise } from '../../src/app/commands/backfill/files/input-file.ts';
import { createProgressFile, NOTHING_DONE } from '../../src/app/commands/backfill/progress-file.ts';
import { createBatchStore } from '../../src/app/commands/backfill/store-batch.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { createTestDirectory } from '../support/stores.ts';

const clickhouse = await clickhouseForFile();
const HEADER = 'transaction_id,customer_id,event_type,timestamp,amount,region\n';
const AT = '2026-10-20T00:00:00Z';

async function run(rows: readonly string[]) {
  const directory = await createTestDirectory();
  const path = join(directory, 'events.csv');
  await writeFile(path, HEADER + rows.join('\n'));
  const file = await recognise(await openLocalFile(path), null);
  return await runBackfill({
    ...{ store: createBatchStore(clickhouse), clock: { now: () => Date.UTC(2026, 10, 20) }, file },
    ...{ from: NOTHING_DONE, progressFile: createProgressFile(directory, file, 'test'), report: null },
    ...{ onProgress: () => {}, signal: new AbortController().signal },
  });
}

it('a backfill counts numbers that no metric reads, and rows of one id with other content, in one file and against what is stored', async () => {
  const nothing = { count: 0, example: null };
  const first = await run([
    `a,acme,call,${AT},"1.234,5",eu`,
    `b,acme,call,${AT},2,eu`,
    `b,acme,call,${AT},2,eu`,
    `a,acme,call,${AT},3,eu`,
    `c,acme,call,${AT},1.5,eu`,
  ]);
  expect(first).toMatchObject({
    ...{ stored: 3, duplicates: 2 },
    ...{ unread: { count: 1, example: '"1.234,5" of amount' }, contradicting: { count: 1, example: 'a' } },
  });
  const again = await run([`b,acme,call,${AT},2,eu`, `c,acme,call,${AT},1.5,eu`]);
  expect(again).toMatchObject({ stored: 0, duplicates: 2, unread: nothing, contradicting: nothing });
  const changed = [
    `c,other,call,${AT},1.5,eu`,
    `c,acme,call,2026-10-20T00:00:01Z,1.5,eu`,
    `c,acme,call,${AT},1.5,us`,
    `b,acme,chat,${AT},2,eu`,
  ];
  const other = await run(changed);
  expect(other).toMatchObject({ stored: 0, duplicates: 4, contradicting: { count: 4, example: 'c' } });
});
