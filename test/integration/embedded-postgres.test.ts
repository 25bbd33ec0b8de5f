import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runningPostgres, startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { EmbeddedPostgresError } from '../../src/embedded/postgres-binaries.ts';
import { isPostgresRunning, readPostmaster } from '../../src/embedded/postmaster-file.ts';
import { connectPostgres, type PostgresConnection } from '../../src/store/database.ts';
import { isAlive, runProgram } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

const HOLDER = 'test/support/programs/hold-postgres.ts';

let directory: string;

beforeEach(async () => {
  const parent = await createTestDirectory();
  // The directory itself is made by the supervisor; its parent must let PostgreSQL's account through.
  directory = join(parent, 'open', 'postgres');
  await mkdir(join(parent, 'open'));
});

async function run(connection: PostgresConnection, statement: string) {
  const client = connectPostgres(connection, { max: 1 });
  try {
    return [...(await client.unsafe(statement))];
  } finally {
    await client.end();
  }
}

describe('an embedded PostgreSQL', () => {
  test('keeps its data from one start to the next', async () => {
    const first = await startEmbeddedPostgres({ directory });
    await run(first.connection, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    expect(await runningPostgres(directory)).toBeNull();
    const second = await startEmbeddedPostgres({ directory });
    expect(await run(second.connection, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('is durable, in UTC and UTF-8, and listens on no port', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const names = [
      'fsync',
      'full_page_writes',
      'synchronous_commit',
      'TimeZone',
      'server_encoding',
      'listen_addresses',
    ];
    const rows = await run(
      server.connection,
      `SELECT ${names.map((n) => `current_setting('${n}') AS "${n}"`)}`,
    );
    expect(rows).toEqual([
      {
        fsync: 'on',
        full_page_writes: 'on',
        synchronous_commit: 'on',
        TimeZone: 'UTC',
        server_encoding: 'UTF8',
        listen_addresses: '',
      },
    ]);
    expect((await stat(join(directory, 'socket'))).mode & 0o777).toBe(0o700);
    await server.stop();
  });

  test('can be found by a tool beside it', async () => {
    const server = await startEmbeddedPostgres({ directory });
    expect(await runningPostgres(directory)).toEqual(server.connection);
    await server.stop();
  });

  test('stops by itself when the process that started it is killed, and starts again on its data', async () => {
    const holder = runProgram(HOLDER, [directory]);
    await holder.said('held');
    const postmaster = await readPostmaster(join(directory, 'data'));
    const connection = await runningPostgres(directory);
    if (postmaster === null || connection === null) throw new Error('it does not run');
    await run(connection, 'CREATE TABLE kept AS SELECT 7 AS n');
    holder.child.kill('SIGKILL');
    await holder.ended;
    await expect.poll(() => isPostgresRunning(postmaster.pid), { timeout: 10_000 }).toBe(false);
    const server = await startEmbeddedPostgres({ directory });
    expect(await run(server.connection, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await server.stop();
  });

  test('is refused, in one line, while another one serves the same directory', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const refusal = startEmbeddedPostgres({ directory });
    await expect(refusal).rejects.toBeInstanceOf(EmbeddedPostgresError);
    await expect(refusal).rejects.toThrow(/^a PostgreSQL \(pid \d+\) already serves .*$/);
    await server.stop();
  });

  test('starts although a killed one left its file with a number that another process has now', async () => {
    const first = await startEmbeddedPostgres({ directory });
    await first.stop();
    const lines = [
      process.pid,
      join(directory, 'data'),
      1,
      5432,
      join(directory, 'socket'),
      '',
      '0 0',
      'ready',
    ];
    await writeFile(join(directory, 'data', 'postmaster.pid'), `${lines.join('\n')}\n`);
    const second = await startEmbeddedPostgres({ directory });
    expect(isAlive(process.pid)).toBe(true);
    await second.stop();
  });

  test('tells when it ends without having been told to', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const postmaster = await readPostmaster(join(directory, 'data'));
    if (postmaster === null) throw new Error('it does not run');
    process.kill(postmaster.pid, 'SIGQUIT');
    await expect(server.ended).resolves.toEqual(expect.any(String));
    await server.stop();
  });

  test('does an interrupted creation again', async () => {
    const first = await startEmbeddedPostgres({ directory });
    await first.stop();
    await rename(join(directory, 'data'), join(directory, 'new-half'));
    const second = await startEmbeddedPostgres({ directory });
    await second.stop();
    expect((await readdir(directory)).sort()).toEqual(['data', 'socket']);
  });

  test('works where its directory is too long for a socket', async () => {
    const long = join(directory, '..', 'x'.repeat(120));
    const server = await startEmbeddedPostgres({ directory: long });
    expect(await run(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('that cannot start says why in one line and leaves nothing running', async () => {
    const refusal = startEmbeddedPostgres({ directory, settings: { shared_buffers: 'nonsense' } });
    await expect(refusal).rejects.toThrow(/^the embedded PostgreSQL did not start in .*shared_buffers.*$/);
    expect(await runningPostgres(directory)).toBeNull();
  });
});
