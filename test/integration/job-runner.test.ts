/** Jobs that fail, that another process holds, and whose process is killed. */
import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { jobMeasures } from '../../src/api/http/service-measures.ts';
import type { JobKind } from '../../src/jobs/job-kind.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { createServiceClock } from '../../src/jobs/service-clock.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { holdJobs, type Job } from '../../src/store/jobs/jobs.ts';
import { jobsContext } from '../support/billing-context.ts';
import { runProgram } from '../support/child-process.ts';
import { endOtherConnections, replaceLostConnections } from '../support/lost-connections.ts';
import { createEffects, effectsOf, queuePlanned, recordingKind } from '../support/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

let pool: TestDatabase;
let log: Record<string, unknown>[];

beforeAll(async () => {
  pool = await createTestDatabase();
  await createEffects(pool.db);
});
beforeEach(async () => {
  await pool.db.execute(sql`truncate effects, jobs, service_clock`);
  log = [];
});
afterAll(() => pool.close());

const logger = pino({ level: 'warn' }, { write: (line: string) => log.push(JSON.parse(line)) });

function runnerOf(...kinds: JobKind[]) {
  return createJobRunner(
    jobsContext({ db: pool.db, clock: { now: () => NOON }, log: logger, ping: pool.ping }),
    kinds,
  );
}

/** Due at noon, and an hour later for each further one of its subject. */
function job(key: string, subject: string | null, hours = 0, kind = 'work') {
  return { key, kind, subject, runAt: NOON + hours * HOUR, brings: [] };
}

/** Fails the jobs of these keys. */
function poison(...keys: string[]) {
  const bad = new Set(keys);
  const onJob = ({ key }: Job) => {
    if (bad.has(key)) throw new Error(`${key} cannot be done`);
  };
  return { bad, onJob };
}

async function done(): Promise<string[]> {
  return (await effectsOf(pool.db)).map(({ key }) => key);
}

async function failureOf(key: string) {
  const [row] = await pool.db.select().from(jobs).where(eq(jobs.key, key));
  return row;
}

describe('a job that fails', () => {
  test('costs no other job of its batch, and holds up the later jobs of its subject only', async () => {
    const { onJob } = poison('b1');
    await queuePlanned(pool.db, [
      job('a1', 'a'),
      job('b1', 'b'),
      job('c1', 'c'),
      job('b2', 'b', 1),
      job('a2', 'a', 2),
      job('b3', 'b', 2, 'other'),
      job('nobody', null, 3),
    ]);
    const runner = runnerOf(recordingKind('work', 10, { onJob }), recordingKind('other', 10));
    expect(await runner.runDue(NOON + 5 * HOUR)).toEqual({ done: 4, failed: 1, isComplete: true });
    expect(await done()).toEqual(['a1', 'c1', 'a2', 'nobody']);
    expect(log).toMatchObject([
      {
        kind: 'work',
        subject: 'b',
        run_at: '2026-11-20T12:00:00.000Z',
        attempts: 1,
        err: { message: 'b1 cannot be done' },
      },
    ]);
  });

  test('a job that fails is done once its cause is gone, and the jobs that waited for it after it, in their order', async () => {
    const { bad, onJob } = poison('b1');
    await queuePlanned(pool.db, [job('b3', 'b', 2), job('b1', 'b'), job('b2', 'b', 1, 'other')]);
    const runner = runnerOf(recordingKind('work', 10, { onJob }), recordingKind('other', 10));
    await runner.runDue(NOON + 5 * HOUR);
    expect(await runner.retryFailed(NOON + 5 * HOUR)).toEqual({ done: 0, failed: 1 });
    bad.clear();
    expect(await runner.retryFailed(NOON + 5 * HOUR)).toEqual({ done: 1, failed: 0 });
    await runner.runDue(NOON + 5 * HOUR);
    expect(await done()).toEqual(['b1', 'b2', 'b3']);
  });

  test('a job that fails is tried again after a pause that doubles from a second to five minutes', async () => {
    await queuePlanned(pool.db, [job('b1', 'b')]);
    const runner = runnerOf(recordingKind('work', 10, poison('b1')));
    let next: () => Promise<unknown> = () => runner.runDue(NOON);
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
      const before = Date.now();
      await next();
      const failed = await failureOf('b1');
      expect(failed?.retryAt).toBeGreaterThanOrEqual(before + seconds * 1_000);
      expect(failed?.retryAt).toBeLessThanOrEqual(Date.now() + seconds * 1_000);
      expect(failed?.lastError).toBe('b1 cannot be done');
      next = () => runner.retryFailed(NOON);
    }
  });

  test('a job that fails is in the figures by its kind and age', async () => {
    await queuePlanned(pool.db, [
      job('a1', 'a', -1),
      job('b1', 'b', -2),
      job('b2', 'b', -1),
      job('b3', 'b', 1),
    ]);
    const runner = runnerOf(recordingKind('work', 10, poison('b1')), recordingKind('other', 10));
    const registry = new Registry();
    jobMeasures(registry, () => runner.stats(), { now: () => NOON });
    const figures = async () => {
      await runner.readFigures();
      const measures = await registry.getMetricsAsJSON();
      return Object.fromEntries(
        measures.flatMap(({ name, values }) =>
          values.map(({ labels, value }) => [`${name} ${labels.kind ?? ''}`.trim(), value]),
        ),
      );
    };
    expect(await figures()).toMatchObject({
      'tallyhouse_jobs_due work': 3,
      'tallyhouse_jobs_failing work': 0,
      tallyhouse_jobs_lag_seconds: 7_200,
      tallyhouse_jobs_oldest_failing_seconds: 0,
    });
    await runner.runDue(NOON);
    expect(await figures()).toEqual({
      'tallyhouse_jobs_done_total work': 1,
      'tallyhouse_jobs_done_total other': 0,
      'tallyhouse_jobs_failed_total work': 1,
      'tallyhouse_jobs_failed_total other': 0,
      'tallyhouse_jobs_due work': 2,
      'tallyhouse_jobs_due other': 0,
      'tallyhouse_jobs_failing work': 1,
      'tallyhouse_jobs_failing other': 0,
      'tallyhouse_jobs_last_done_timestamp_seconds work': expect.closeTo(Date.now() / 1_000, -2),
      'tallyhouse_jobs_last_done_timestamp_seconds other': 0,
      tallyhouse_jobs_lag_seconds: 0,
      tallyhouse_jobs_oldest_failing_seconds: 7_200,
    });
  });

  test('a job that fails does not stop the sandbox clock, and the log says what it holds up', async () => {
    const { bad, onJob } = poison('b1');
    await queuePlanned(pool.db, [job('a1', 'a', 1), job('b1', 'b', 1), job('b2', 'b', 2), job('a2', 'a', 3)]);
    const clock = await createServiceClock(pool.db, NOON);
    const runner = runnerOf(recordingKind('work', 10, { onJob }));
    await clock.sandbox?.advance(NOON + 4 * HOUR, runner);
    expect(clock.now()).toBe(NOON + 4 * HOUR);
    expect(await done()).toEqual(['a1', 'a2']);
    expect(log.at(-1)).toMatchObject({
      jobs: [
        {
          kind: 'work',
          subject: 'b',
          run_at: '2026-11-20T13:00:00.000Z',
          attempts: 1,
          error: 'b1 cannot be done',
        },
      ],
    });
    bad.clear();
    await clock.sandbox?.advance(NOON + 5 * HOUR, runner);
    expect(await done()).toEqual(['a1', 'a2', 'b1', 'b2']);
  });
});

describe('a job that another transaction holds', () => {
  test('a job that another transaction holds is waited for, does not count as failed, and nothing of a later instant begins', async () => {
    await queuePlanned(pool.db, [job('a1', 'a', 1), job('b1', 'b', 1), job('a2', 'a', 2), job('c1', 'c', 3)]);
    const clock = await createServiceClock(pool.db, NOON);
    const runner = runnerOf(recordingKind('work', 10));
    const moved = await pool.db.transaction(async (tx) => {
      await holdJobs(tx, 'work', ['b1']);
      const move = clock.sandbox?.advance(NOON + 4 * HOUR, runner);
      await waitForLock(pool.db);
      expect(await done()).toEqual(['a1']);
      return { move };
    });
    await moved.move;
    expect(await done()).toEqual(['a1', 'b1', 'a2', 'c1']);
    expect(log).toEqual([]);
  });
});

describe('a runner that is killed in the middle of a batch', () => {
  test('a runner that is killed in the middle of a batch leaves the batch as it was: another does each job once', async () => {
    const keys = ['a1', 'b1', 'c1', 'd1', 'e1'];
    await queuePlanned(
      pool.db,
      keys.map((key) => job(key, key)),
    );
    const program = runProgram('test/support/programs/do-jobs.ts', [
      JSON.stringify(pool.connection),
      'work',
      String(NOON),
      'd1',
    ]);
    await program.said('in the middle of d1');
    expect(await done()).toEqual(['a1', 'b1']);
    program.child.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    // Jobs that the killed process claimed are free when the claim expires, and are waited for until then.
    expect(await runnerOf(recordingKind('work', 2)).runDue(NOON)).toEqual({
      done: 3,
      failed: 0,
      isComplete: true,
    });
    expect((await done()).sort()).toEqual(keys);
  });
});

describe('connections to PostgreSQL that are lost', () => {
  test('delay the sandbox clock, which then answers the time', async () => {
    const keys = ['a1', 'b1', 'c1', 'd1'];
    await queuePlanned(
      pool.db,
      keys.map((key, hours) => job(key, key, hours)),
    );
    const clock = await createServiceClock(pool.db, NOON);
    let losses = 0;
    const onPrepare = async () => {
      losses += 1;
      if (losses > 6) return;
      await endOtherConnections(pool.db);
      if (losses % 2 === 0) await pool.db.execute(sql`select pg_terminate_backend(pg_backend_pid())`);
    };
    const runner = runnerOf(recordingKind('work', 10, { onPrepare }));
    expect(await clock.sandbox?.advance(NOON + 4 * HOUR, runner)).toBe(NOON + 4 * HOUR);
    await runner.retryFailed(NOON + 4 * HOUR);
    expect((await done()).sort()).toEqual(keys);
    await replaceLostConnections(pool.db);
  });
});

describe('failures while the sandbox clock gets on', () => {
  test('failures while the sandbox clock gets on do not end the move, however long it has taken, and those without any progress do', async () => {
    const keys = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1'];
    await queuePlanned(
      pool.db,
      keys.map((key, hours) => job(key, key, hours)),
    );
    // Less than the pauses after as many failures take together.
    const clock = await createServiceClock(pool.db, NOON, 2_000);
    const runner = runnerOf(recordingKind('work', 10));
    let failures = 0;
    const failing = {
      ...runner,
      async nextAt() {
        if (failures === (await done()).length) return runner.nextAt();
        failures += 1;
        throw new Error('deadlock detected');
      },
    };
    expect(await clock.sandbox?.advance(NOON + 6 * HOUR, failing)).toBe(NOON + 6 * HOUR);
    expect([failures, await done()]).toEqual([keys.length, keys]);
    const broken = { ...runner, nextAt: () => Promise.reject(new Error('deadlock detected')) };
    const impatient = await createServiceClock(pool.db, NOON, 0);
    await expect(impatient.sandbox?.advance(NOON + 7 * HOUR, broken)).rejects.toThrow('deadlock detected');
  });
});

describe('a store that does not answer', () => {
  test('a store that does not answer fails no job, and the work continues when it does', async () => {
    await queuePlanned(pool.db, [job('a1', 'a'), job('b1', 'b'), job('c1', 'c', 1)]);
    let isDown = true;
    const onPrepare = () => {
      if (isDown) throw new Error('connection refused');
    };
    const runner = createJobRunner(
      jobsContext({
        db: pool.db,
        clock: { now: () => NOON },
        log: logger,
        ping: async () => {
          if (isDown) throw new Error('connection refused');
        },
      }),
      [recordingKind('work', 10, { onPrepare })],
    );
    await expect(runner.runDue(NOON + HOUR)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await failureOf('a1')).toMatchObject({ attempts: 0, claimedBy: null });
    isDown = false;
    expect(await runner.runDue(NOON + HOUR)).toEqual({ done: 3, failed: 0, isComplete: true });
  });
});

describe('several batches at once', () => {
  test('several batches at once are prepared while another is written, and take turns where they have to', async () => {
    const keys = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1'];
    await queuePlanned(
      pool.db,
      keys.map((key) => job(key, key)),
    );
    const turns: string[] = [];
    let inTurn = 0;
    let next = () => {};
    const nextTurn = new Promise<void>((resolve) => {
      next = resolve;
    });
    const kind = recordingKind('work', 1, {
      batchesAtOnce: 3,
      async onTurn([first]) {
        inTurn += 1;
        expect(inTurn).toBe(1);
        await pool.db.execute(sql`select 1`);
        inTurn -= 1;
        turns.push(first?.key ?? '');
        if (turns.length === 2) next();
      },
      // Without a second batch meanwhile it would never end.
      onJob: ({ key }) => (key === turns[0] ? nextTurn : undefined),
    });
    expect(await runnerOf(kind).runDue(NOON)).toEqual({ done: 6, failed: 0, isComplete: true });
    // A job that another batch looks at in the very moment in which it is to be written is prepared again.
    expect([[...new Set(turns)].toSorted(), (await done()).toSorted()]).toEqual([keys, keys]);
    expect(log).toEqual([]);
  });

  test('jobs prepare input for the next one only, and input that cannot be prepared fails its job alone', async () => {
    const keys = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1'];
    await queuePlanned(
      pool.db,
      keys.map((key) => job(key, key)),
    );
    let ahead = 0;
    const kind = recordingKind('work', 2, {
      batchesAtOnce: 3,
      async onAhead(batch) {
        ahead += 1;
        expect(ahead).toBe(1);
        await pool.db.execute(sql`select 1`);
        if (!batch.some(({ key }) => key === 'c1')) return;
        ahead -= 1;
        throw new Error('nothing can be made for c1');
      },
      async onTurn() {
        ahead -= 1;
        await pool.db.execute(sql`select 1`);
      },
    });
    expect(await runnerOf(kind).runDue(NOON)).toEqual({ done: 7, failed: 1, isComplete: true });
    expect((await done()).toSorted()).toEqual(keys.filter((key) => key !== 'c1'));
    expect(log).toMatchObject([{ subject: 'c1', err: { message: 'nothing can be made for c1' } }]);
  });
});

describe('a preparation that is not valid any more', () => {
  test('a preparation that is not valid any more is repeated for its job only, and the later jobs of its subject wait for it', async () => {
    await queuePlanned(pool.db, [job('a1', 'a'), job('b1', 'b'), job('c1', 'c'), job('b2', 'b', 1)]);
    const batches: string[][] = [];
    const kind = recordingKind('work', 10, {
      onPrepare: (batch) => batches.push(batch.map(({ key }) => key)),
      isValid: ({ key }) => key !== 'b1' || batches.length > 3,
    });
    expect(await runnerOf(kind).runDue(NOON + HOUR)).toEqual({ done: 4, failed: 0, isComplete: true });
    expect(await done()).toEqual(['a1', 'c1', 'b1', 'b2']);
    expect(batches).toEqual([['a1', 'b1', 'c1'], ['b1'], ['b1'], ['b1'], ['b2']]);
    expect(log).toEqual([]);
  });
});
