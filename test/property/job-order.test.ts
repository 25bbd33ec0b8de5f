/** Jobs are done in the order of their instants, whatever their kinds, batches and number of runners. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { createServiceClock } from '../../src/jobs/service-clock.ts';
import { jobsContext } from '../support/billing-context.ts';
import {
  createEffects,
  effectsOf,
  type PlannedJob,
  queuePlanned,
  type RecordingHooks,
  recordingKind,
} from '../support/recorded-jobs.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

let pool: TestDatabase;

beforeAll(async () => {
  pool = await createTestDatabase();
  await createEffects(pool.db);
});
afterAll(() => pool.close());

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
/** By rank. */
const KINDS: readonly string[] = ['third', 'first', 'second'];
const DAYS_MAX = 6;

interface Shape {
  readonly kind: number;
  readonly day: number;
  readonly subject: string | null;
  /** Days later, and ranks later on the same day. */
  readonly brings: readonly Shape[];
}

const shape = (depth: number): fc.Arbitrary<Shape> =>
  fc.record({
    kind: fc.nat(KINDS.length - 1),
    day: fc.nat(DAYS_MAX),
    subject: fc.constantFrom(null, 'a', 'b', 'c'),
    brings: depth === 0 ? fc.constant([]) : fc.array(shape(depth - 1), { maxLength: 2 }),
  });

/** Numbers the shapes, and lets none fall due before the job that brings it. */
function planned(shapes: readonly Shape[]): PlannedJob[] {
  let keys = 0;
  const plan = (one: Shape, after: { day: number; kind: number }): PlannedJob => {
    const day = Math.max(one.day, after.day);
    const kind = day === after.day ? Math.max(one.kind, after.kind) : one.kind;
    keys += 1;
    return {
      key: `job ${keys}`,
      kind: KINDS[kind] ?? '',
      subject: one.subject,
      runAt: START + day * DAY,
      brings: one.brings.map((next) => plan(next, { day, kind })),
    };
  };
  return shapes.map((one) => plan(one, { day: 0, kind: 0 }));
}

function rankOf({ kind }: PlannedJob): number {
  return KINDS.indexOf(kind);
}

/** The keys in the order of instant, rank and queuing. */
function sorted(jobs: readonly PlannedJob[]): string[] {
  const queue = [...jobs];
  const keys: string[] = [];
  while (queue.length > 0) {
    // The sort is stable: jobs of one place stay in the order in which they were queued.
    queue.sort((a, b) => a.runAt - b.runAt || rankOf(a) - rankOf(b));
    const [next] = queue.splice(0, 1);
    if (next === undefined) break;
    keys.push(next.key);
    queue.push(...next.brings);
  }
  return keys;
}

function withAllBrought(jobs: readonly PlannedJob[]): PlannedJob[] {
  return jobs.flatMap((job) => [job, ...withAllBrought(job.brings)]);
}

const jobs = fc.array(shape(2), { minLength: 1, maxLength: 8 }).map(planned);
const batches = fc.array(fc.integer({ min: 1, max: 5 }), {
  minLength: KINDS.length,
  maxLength: KINDS.length,
});

function runnersOf(
  count: number,
  sizes: readonly number[],
  { onJob = () => undefined, batchesAtOnce = 1 }: Pick<RecordingHooks, 'onJob' | 'batchesAtOnce'> = {},
) {
  const kinds = KINDS.map((kind, rank) => recordingKind(kind, sizes[rank] ?? 1, { onJob, batchesAtOnce }));
  const context = jobsContext({ db: pool.db, clock: { now: () => START }, ping: pool.ping });
  return Array.from({ length: count }, () => createJobRunner(context, kinds));
}

async function startOver(all: readonly PlannedJob[]): Promise<void> {
  await pool.db.execute(sql`truncate effects, jobs`);
  await queuePlanned(pool.db, all);
}

test('one runner does all jobs, with those they bring, in the one order', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, batches, async (all, sizes) => {
      await startOver(all);
      const [runner] = runnersOf(1, sizes);
      const run = await runner?.runDue(START + DAYS_MAX * DAY);
      const done = (await effectsOf(pool.db)).map(({ key }) => key);
      expect(done).toEqual(sorted(all));
      expect(run).toEqual({ done: done.length, failed: 0, isComplete: true });
    }),
    { numRuns: runs(25) },
  );
});

/** One runner with several batches at once, or several of either kind. */
const together = fc
  .record({ count: fc.integer({ min: 1, max: 3 }), batchesAtOnce: fc.integer({ min: 1, max: 3 }) })
  .filter(({ count, batchesAtOnce }) => count > 1 || batchesAtOnce > 1);

test('several runners or batches do each job once: no later step before an earlier one, each subject in its own order', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, batches, together, async (all, sizes, { count, batchesAtOnce }) => {
      await startOver(all);
      const runs = await Promise.all(
        runnersOf(count, sizes, { batchesAtOnce }).map((runner) => runner.runDue(START + DAYS_MAX * DAY)),
      );
      const effects = await effectsOf(pool.db);
      const known = new Map(withAllBrought(all).map((job) => [job.key, job]));
      expect(effects.map(({ key }) => key).sort()).toEqual([...known.keys()].sort());
      expect(runs.reduce((sum, { done }) => sum + done, 0)).toBe(known.size);
      const steps = effects.map(({ key }) => {
        const job = known.get(key);
        return job === undefined ? -1 : (job.runAt - START) / DAY + rankOf(job) / 10;
      });
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      for (const subject of ['a', 'b', 'c']) {
        const own = effects.filter(({ key }) => known.get(key)?.subject === subject);
        const places = own.map(({ key, jobId }) => {
          const job = known.get(key);
          return job === undefined ? '' : `${job.runAt} ${rankOf(job)} ${String(jobId).padStart(12, '0')}`;
        });
        expect(places).toEqual(places.toSorted());
      }
    }),
    { numRuns: runs(20) },
  );
});

test('moving the sandbox clock does each job at its own instant', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, batches, async (all, sizes) => {
      await startOver(all);
      await pool.db.execute(sql`truncate service_clock`);
      const clock = await createServiceClock(pool.db, START);
      const seen: number[] = [];
      const [runner] = runnersOf(1, sizes, { onJob: () => seen.push(clock.now()) });
      if (runner === undefined) return;
      await clock.sandbox?.advance(START + DAYS_MAX * DAY, runner);
      const known = new Map(withAllBrought(all).map((job) => [job.key, job.runAt]));
      const effects = await effectsOf(pool.db);
      expect(effects.map(({ key }) => key)).toEqual(sorted(all));
      expect(seen).toEqual(effects.map(({ key }) => known.get(key)));
      expect(clock.now()).toBe(START + DAYS_MAX * DAY);
    }),
    { numRuns: runs(8) },
  );
});
