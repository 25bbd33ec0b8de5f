/** Numbers invoices on the database of its argument, and waits to be killed before the transaction ends. */
import { pino } from 'pino';
import { numberingJobKind } from '../../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../../src/jobs/job-runner.ts';
import { createDatabase } from '../../../src/store/base/database.ts';
import { afterWrite } from '../after-write.ts';
import { billingContext, jobsContext } from '../billing-context.ts';

const [connection = '', dueAt = '', numberPattern = ''] = process.argv.slice(2);
const { db, ping } = createDatabase(JSON.parse(connection));
const kind = afterWrite(numberingJobKind(billingContext({ db, numberPattern })), async () => {
  process.stdout.write('numbered\n');
  // The timer keeps the process alive, and with it the transaction.
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
});
const log = pino({ level: 'silent' });
const clock = { now: () => Number(dueAt) };
await createJobRunner(jobsContext({ db, clock, log, ping }), [kind]).runDue(Number(dueAt));
