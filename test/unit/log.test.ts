import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/log.ts';
import { createDatabase } from '../../src/store/base/database.ts';

const record = z.looseObject({
  level: z.number(),
  msg: z.string(),
  err: z.record(z.string(), z.unknown()).optional(),
});
const [DEBUG, WARN, ERROR] = [20, 40, 50];

function logOf(logLevel: 'info' | 'debug') {
  const records: z.output<typeof record>[] = [];
  let passedMs = 0;
  const log = createLogger(
    { logLevel },
    { write: (line: string) => records.push(record.parse(JSON.parse(line))) },
    () => passedMs,
  );
  return {
    log,
    records,
    wait: (ms: number) => {
      passedMs += ms;
    },
  };
}

/** The failure of a statement where PostgreSQL is away. */
async function failureOfStatement(): Promise<unknown> {
  const pool = createDatabase({ url: 'postgres://nobody:secret-password@127.0.0.1:1/none' });
  try {
    return await pool.db.execute(sql`select a_column, ${'secret-value'} from a_table`).then(
      () => null,
      (error: unknown) => error,
    );
  } finally {
    await pool.close();
  }
}

test('a store that is away is one line with the cause; statement and stack are of level debug', async () => {
  const err = await failureOfStatement();
  const { log, records } = logOf('debug');
  log.error({ err, jobs: 3 }, 'jobs cannot run now');
  expect(records).toMatchObject([
    { level: ERROR, msg: 'jobs cannot run now', jobs: 3, err: { code: 'ECONNREFUSED' } },
    {
      level: DEBUG,
      msg: 'jobs cannot run now',
      jobs: 3,
      err: { message: expect.stringContaining('select a_column') },
    },
  ]);
  expect(Object.keys(records[0]?.err ?? {}).sort()).toEqual(['code', 'message', 'type']);
  expect(records[0]?.err?.message).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(JSON.stringify(records[0])).not.toContain('a_column');
  expect(JSON.stringify(records)).not.toContain('secret');
});

test('further failures of background work by the same cause within seconds are logged at level debug', async () => {
  const err = await failureOfStatement();
  const { log, records, wait } = logOf('info');
  for (const what of ['jobs', 'webhooks', 'evaluations', 'messages'])
    log.error({ err }, `${what} cannot run now`);
  expect(records.map(({ msg }) => msg)).toEqual(['jobs cannot run now']);
  // Another cause, a request, and the same later are reported.
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  log.warn({ err: reset }, 'webhooks cannot be sent now');
  log.warn({ err, requestId: 'r1' }, 'request failed');
  wait(5_000);
  log.error({ err }, 'jobs cannot run now');
  expect(records.slice(1).map(({ level, msg }) => [level, msg])).toEqual([
    [WARN, 'webhooks cannot be sent now'],
    [WARN, 'request failed'],
    [ERROR, 'jobs cannot run now'],
  ]);
});

test('any other failure is reported in full, however often', () => {
  const { log, records } = logOf('info');
  const err = Object.assign(new Error('Failed query: select 1\nparams: secret'), {
    query: 'select 1',
    params: ['secret'],
  });
  for (const _ of [1, 2]) log.error({ err }, 'request failed');
  log.info('nothing else');
  expect(records.map((each) => each.err?.message)).toEqual([
    'Failed query: select 1',
    'Failed query: select 1',
    undefined,
  ]);
  expect(records[0]?.err?.stack).toMatch(/ at /);
});
