/** The numbers of a year are 1 to n without a gap, however many processes issue and number invoices at once. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { numberingJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { afterWrite } from '../support/after-write.ts';
import { billingContext, jobsContext } from '../support/billing-context.ts';
import { runProgram } from '../support/child-process.ts';
import { allowLooseInvoices, insertLooseInvoices, numberedInvoices } from '../support/issued-invoices.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

const PATTERN = 'INV-{year}-{number:6}';
const NEW_YEAR = Date.UTC(2027, 0, 1);
const HOUR = 3_600_000;

let pool: TestDatabase;

beforeAll(async () => {
  pool = await createTestDatabase();
  await allowLooseInvoices(pool.db);
});
beforeEach(() => startOver());
afterAll(() => pool.close());

async function startOver(): Promise<void> {
  await pool.db.execute(sql`truncate jobs, invoices cascade`);
}

/** `interrupt` is called after the work of a batch, in its transaction. */
function runner(interrupt: () => void = () => undefined) {
  const kind = afterWrite(
    numberingJobKind(billingContext({ db: pool.db, numberPattern: PATTERN })),
    interrupt,
  );
  const log = pino({ level: 'silent' });
  return createJobRunner(jobsContext({ db: pool.db, clock: { now: () => NEW_YEAR }, log, ping: pool.ping }), [
    kind,
  ]);
}

const DUE = NEW_YEAR + 48 * HOUR;

/** An invoice run: the hours around new year at which its invoices are issued, and whether it fails at the end. */
const run = fc.record({
  hours: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 6 }),
  fails: fc.boolean(),
});

async function issue({ hours, fails }: { hours: readonly number[]; fails: boolean }): Promise<void> {
  const work = pool.db.transaction(async (tx) => {
    await insertLooseInvoices(
      tx,
      hours.map((hour) => NEW_YEAR + hour * HOUR),
    );
    if (fails) throw new Error('this run fails');
  });
  await (fails ? work.catch(() => undefined) : work);
}

/** Every invoice has a number, and those of a year are 1 to n. */
async function expectNoGaps(): Promise<void> {
  const invoices = await numberedInvoices(pool.db);
  for (const year of [2026, 2027]) {
    const own = invoices.filter(({ issuedAt }) => new Date(issuedAt).getUTCFullYear() === year);
    expect(own.map((one) => one.year)).toEqual(own.map(() => year));
    const positions = own.map(({ position }) => position ?? 0).sort((a, b) => a - b);
    expect(positions).toEqual(own.map((_, index) => index + 1));
  }
}

test('invoice numbers have no gaps with several runners that issue, number and fail at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(run, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.boolean(), { maxLength: 6 }),
      async (rounds, failures) => {
        await startOver();
        const before = new Map<string, string | null>();
        const left = [...failures];
        const interrupt = () => {
          if (left.shift()) throw new Error('the process ends here');
        };
        const runners = [runner(interrupt), runner(interrupt)];
        for (const round of rounds) {
          await Promise.all([...round.map(issue), ...runners.map((one) => one.runDue(DUE))]);
          for (const { id, number } of await numberedInvoices(pool.db)) {
            if (number === null) continue;
            // Assigned once, never changed.
            expect(before.get(id) ?? number).toBe(number);
            before.set(id, number);
          }
        }
        left.length = 0;
        for (const one of runners) await one.retryFailed(DUE);
        await Promise.all(runners.map((one) => one.runDue(DUE)));
        await expectNoGaps();
      },
    ),
    { numRuns: runs(25) },
  );
});

test('invoice numbers have no gaps in the order of issue date and id, when the invoices are issued before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), async (runs) => {
      await startOver();
      await Promise.all(runs.map(issue));
      await Promise.all([runner(), runner()].map((one) => one.runDue(DUE)));
      const invoices = await numberedInvoices(pool.db);
      for (const year of [2026, 2027]) {
        const own = invoices.filter((one) => one.year === year).map(({ position }) => position);
        expect(own).toEqual(own.map((_, index) => index + 1));
      }
      expect(invoices.filter(({ number }) => number === null)).toEqual([]);
    }),
    { numRuns: runs(15) },
  );
});

test('after a process is killed between the assignment and its commit', async () => {
  await issue({ hours: [1, 2, 2, -1], fails: false });
  const program = runProgram('test/support/programs/number-invoices.ts', [
    JSON.stringify(pool.connection),
    String(DUE),
    PATTERN,
  ]);
  await program.said('numbered');
  expect((await numberedInvoices(pool.db)).map(({ number }) => number)).toEqual([null, null, null, null]);
  program.child.kill('SIGKILL');
  expect(await program.ended).toBe('SIGKILL');
  await issue({ hours: [3], fails: false });
  await runner().runDue(DUE);
  expect((await numberedInvoices(pool.db)).map(({ number }) => number)).toEqual([
    'INV-2026-000001',
    'INV-2027-000001',
    'INV-2027-000002',
    'INV-2027-000003',
    'INV-2027-000004',
  ]);
});

test('invoice numbers have no gaps with more invoices than one transaction numbers', async () => {
  const count = 12_001;
  await pool.db.transaction((tx) =>
    insertLooseInvoices(
      tx,
      Array.from({ length: count }, () => NEW_YEAR),
    ),
  );
  await runner().runDue(DUE);
  const invoices = await numberedInvoices(pool.db);
  expect(invoices.map(({ position }) => position)).toEqual(invoices.map((_, index) => index + 1));
  expect(invoices).toHaveLength(count);
});
