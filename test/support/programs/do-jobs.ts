/** Does due jobs on the database of its argument until it is in the middle of one; then waits to be killed. */
import { pino } from 'pino';
import { createJobRunner } from '../../../src/jobs/job-runner.ts';
import { createDatabase } from '../../../src/store/base/database.ts';
import type { Job } from '../../../src/store/jobs/jobs.ts';
import { jobsContext } from '../billing-context.ts';
import { recordingKind } from '../recorded-jobs.ts';

const [connection = '', kind = '', dueAt = '', fatalKey = ''] = process.argv.slice(2);
const { db, ping } = createDatabase(JSON.parse(connection));
const onJob = async ({ key }: Job) => {
  if (key !== fatalKey) return;
  process.stdout.write(`in the middle of ${key}\n`);
  // The timer keeps the process alive, and with it the transaction.
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
};
const work = recordingKind(kind, 2, { onJob });
const log = pino({ level: 'silent' });
const runner = createJobRunner(jobsContext({ db, clock: { now: () => Number(dueAt) }, log, ping }), [work]);
await runner.runDue(Number(dueAt));
