/** Does due jobs on the database of its argument until it is in the middle of one; then waits to be killed. */
import { pino } from 'pino';
import { createJobRunner } from '../../../src/jobs/job-runner.ts';
import { createDatabase } from '../../../src/store/database.ts';
import { recordingKind } from '../recorded-jobs.ts';

const [connection = '', kind = '', dueAt = '', fatalKey = ''] = process.argv.slice(2);
const { db } = createDatabase(JSON.parse(connection));
const work = recordingKind(kind, 2, async ({ key }) => {
  if (key !== fatalKey) return;
  process.stdout.write(`in the middle of ${key}\n`);
  // The timer keeps the process alive, and with it the transaction.
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
});
const log = pino({ level: 'silent' });
const runner = createJobRunner({ db, clock: { now: () => Number(dueAt) }, log, kinds: [work] });
await runner.runDue(Number(dueAt));
