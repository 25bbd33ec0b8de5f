/** `tallyhouse doctor` as an operator runs it, without a service, beside one, and on servers by URL. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { checkClickHouse } from '../../src/app/commands/doctor/clickhouse.ts';
import { checkPostgres } from '../../src/app/commands/doctor/postgresql.ts';
import { createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';
import { createDatabase } from '../../src/store/base/database.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import { recordOf } from '../../src/store/migrations/migration-record.ts';
import { DOCTOR_LINE, runProgram } from '../support/child-process.ts';
import { frontUrl, startFrontProcess } from '../support/front-process.ts';
import { drizzleFolderWith } from '../support/migration-folders.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';

const report = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), ok: z.boolean(), message: z.string() })),
});

async function doctor(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const program = runProgram('src/app/cli/main.ts', ['doctor', ...args], { PORT: '0', ...env });
  return { code: await program.ended, out: program.stdout(), err: program.stderr() };
}

async function wrongIn(env: Readonly<Record<string, string>>) {
  const { code, out, err } = await doctor(env, '--json');
  const { ok, findings } = report.parse(JSON.parse(out));
  expect([code, err]).toEqual([ok ? 0 : 1, '']);
  return findings.filter((finding) => !finding.ok).map(({ check, message }) => `${check}: ${message}`);
}

describe('without a service', () => {
  it('looks at the machine and the settings, and ends with 0 where nothing is wrong', async () => {
    const { code, out } = await doctor({ DATA_DIR: await createTestDirectory(), KNOWN_IDS_RECENT: '1000' });
    expect([code, out.split('\n').at(-2)]).toEqual([0, 'Nothing is wrong.']);
    for (const check of ['Node', 'memory', 'settings', 'disk', 'port', 'PostgreSQL', 'ClickHouse'])
      expect(out).toMatch(new RegExp(`^✓ ${check} `, 'm'));
    expect(out).toMatch(/^! backup +none is known/m);
  });

  it('the doctor without a service names settings that cannot be used or are misspelt', async () => {
    const wrong = await wrongIn({ PORT: 'none', GRACE_PERIOD_HOUR: '4711' });
    expect(wrong).toEqual([
      'settings: GRACE_PERIOD_HOUR is not a setting and is ignored: did you mean GRACE_PERIOD_HOURS?',
      expect.stringMatching(/^settings: PORT must be a whole number/),
    ]);
  });

  it('the doctor without a service names servers that do not answer, without their passwords', async () => {
    const wrong = await wrongIn({
      DATA_DIR: await createTestDirectory(),
      KNOWN_IDS_RECENT: '1000',
      DATABASE_URL: 'postgres://me:s3cret@127.0.0.1:1/x',
      CLICKHOUSE_URL: 'http://me:s3cret@127.0.0.1:1/x',
    });
    expect(wrong).toEqual([
      'PostgreSQL: PostgreSQL of DATABASE_URL (127.0.0.1:1) does not answer: connection refused',
      'ClickHouse: ClickHouse of CLICKHOUSE_URL (127.0.0.1:1) does not answer: connection refused',
    ]);
  });

  it('the doctor without a service is what a failed start points at', async () => {
    const start = runProgram('src/main.ts', [], { PORT: 'none' });
    expect(await start.ended).toBe(1);
    expect(start.stderr()).toContain(DOCTOR_LINE);
  });
});

describe('PostgreSQL by URL', () => {
  let gateway: PostgresGateway;
  beforeAll(async () => {
    gateway = await startPostgresGateway();
  });
  afterAll(() => gateway.close());

  const found = async (databaseUrl: string) =>
    (await checkPostgres({ dataDir: '/nowhere', databaseUrl })).map(({ check, isFine, message }) =>
      isFine ? check : `${check}: ${message}`,
    );

  it('PostgreSQL by URL says which jobs fail, which webhooks cannot be reached and which migrations are pending', async () => {
    const url = await gateway.createDatabase();
    expect(await found(url)).toEqual(['PostgreSQL', 'clock', 'migrations']);
    await migrateDatabase({ url });
    const whole = ['PostgreSQL', 'clock', 'migrations', 'jobs', 'webhooks'];
    expect(await found(url)).toEqual(whole);
    const { db, close } = createDatabase({ url });
    onTestFinished(close);
    await db.execute(
      sql`insert into webhook_endpoints (id, name, url, secret, created_at)
          values (gen_random_uuid(), 'ours', 'http://127.0.0.1:1/hook', 's', now())`,
    );
    await db.execute(
      sql`insert into jobs (kind, key, run_at, payload, retry_at, attempts, last_error)
          values ('finalize_usage_invoice', 'x', now(), '{}', now() + interval '1 day', 3, 'no rate' || chr(10) || 'more')`,
    );
    expect(await found(url)).toEqual([
      ...whole.slice(0, 3),
      expect.stringMatching(/^jobs: finalize_usage_invoice \d+ has failed 3 times: no rate$/),
      'webhooks: ours (127.0.0.1:1) cannot be reached: ECONNREFUSED',
    ]);
    const record = await recordOf(db);
    await db.execute(sql`delete from ${record} where id = (select max(id) from ${record})`);
    expect(await found(url)).toEqual([
      ...whole.slice(0, 2),
      expect.stringMatching(/^migrations: PostgreSQL has 1 pending, from \d{4}_\w+ on: back up/),
    ]);
  });

  it('PostgreSQL by URL says that the data are of a newer version', async () => {
    const url = await gateway.createDatabase();
    await migrateDatabase({ url }, await drizzleFolderWith({ '0801_newer': 'create table newer (n int);' }));
    expect(await found(url)).toEqual([
      'PostgreSQL',
      'clock',
      expect.stringMatching(/^migrations: PostgreSQL has the migration 0801_newer, which .*does not know/),
    ]);
  });
});

describe('ClickHouse by URL', () => {
  it('ClickHouse by URL is looked at without making a table in it', async () => {
    const front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
    onTestFinished(() => front.stop());
    const clickhouseUrl = frontUrl(front.port, 'doctor');
    await createRemoteDatabase({ url: clickhouseUrl, cluster: undefined });
    const checks = async () =>
      (await checkClickHouse({ clickhouseUrl, clickhouseCluster: undefined })).map(
        ({ check, isFine, message }) => (check === 'migrations' ? message : [check, isFine]),
      );
    const empty = 'ClickHouse is empty: the first start makes its tables';
    expect(await checks()).toEqual([['ClickHouse', true], ['clock', true], empty]);
    // The checks created nothing.
    expect((await checks()).at(-1)).toBe(empty);
  });
});
