import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { runningPostgres, startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { postgresAccount } from '../../src/embedded/postgres-account.ts';
import { EmbeddedPostgresError } from '../../src/embedded/postgres-binaries.ts';
import { isPostgresRunning, readPostmaster } from '../../src/embedded/postmaster-file.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import { isAlive, runProgram } from '../support/child-process.ts';
import { copyCluster } from '../support/data-directory.ts';
import { createTestDirectory } from '../support/stores.ts';

const HOLDER = 'test/support/programs/hold-postgres.ts';

let directory: string;

beforeEach(async () => {
  const parent = await createTestDirectory();
  // Its parent must let PostgreSQL's account through.
  directory = join(parent, 'open', 'postgres');
  await mkdir(join(parent, 'open'));
  await copyCluster(directory);
});

async function run(connection: PostgresConnection, statement: string) {
  const client = connectPostgres(connection, { max: 1 });
  try {
    return [...(await client.unsafe(statement))];
  } finally {
    await client.end();
  }
}

const WITHIN = { interval: 50 };

async function pidOfServer(): Promise<number> {
  const postmaster = await readPostmaster(join(directory, 'data'));
  if (postmaster === null) throw new Error('it does not run');
  return postmaster.pid;
}

/** Kills the server as soon as it runs; resolves with the number of the process when that has ended. */
async function killServer(): Promise<number> {
  await expect.poll(() => runningPostgres(directory), WITHIN).not.toBeNull();
  const pid = await pidOfServer();
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isPostgresRunning(pid), { ...WITHIN, interval: 5 }).toBe(false);
  return pid;
}

async function parentOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)]);
  return Number(stdout);
}

describe('an embedded PostgreSQL', () => {
  test('an embedded PostgreSQL keeps its data from one start to the next', async () => {
    const first = await startEmbeddedPostgres({ directory });
    await run(first.connection, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    expect(await runningPostgres(directory)).toBeNull();
    const second = await startEmbeddedPostgres({ directory });
    expect(await run(second.connection, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('an embedded PostgreSQL is durable, in UTC and UTF-8, and listens on no port', async () => {
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

  test('an embedded PostgreSQL can be found by a tool beside it', async () => {
    const server = await startEmbeddedPostgres({ directory });
    expect(await runningPostgres(directory)).toEqual(server.connection);
    await server.stop();
  });

  test('an embedded PostgreSQL stops by itself when the process that started it is killed, and starts again on its data', async () => {
    const holder = runProgram(HOLDER, [directory]);
    await holder.said('held');
    const postmaster = await readPostmaster(join(directory, 'data'));
    const connection = await runningPostgres(directory);
    if (postmaster === null || connection === null) throw new Error('it does not run');
    await run(connection, 'CREATE TABLE kept AS SELECT 7 AS n');
    holder.child.kill('SIGKILL');
    await holder.ended;
    await expect.poll(() => isPostgresRunning(postmaster.pid)).toBe(false);
    const server = await startEmbeddedPostgres({ directory });
    expect(await run(server.connection, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await server.stop();
  });

  test('an embedded PostgreSQL is refused, in one line, while another one serves the same directory', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const refusal = startEmbeddedPostgres({ directory });
    await expect(refusal).rejects.toBeInstanceOf(EmbeddedPostgresError);
    await expect(refusal).rejects.toThrow(/^a PostgreSQL \(pid \d+\) already serves .*$/);
    await server.stop();
  });

  test('an embedded PostgreSQL starts although a killed one left its file with a number that another process has now', async () => {
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

  test('an embedded PostgreSQL starts although a killed one left a lock of its socket with such a number', async () => {
    const account = await postgresAccount();
    const other = spawn('sleep', ['60'], { ...account });
    try {
      const first = await startEmbeddedPostgres({ directory });
      const lock = join(directory, 'socket', '.s.PGSQL.5432.lock');
      const left = (text: string) => text.replace(/^\d+/, String(other.pid));
      const [file, socketFile] = await Promise.all([
        readFile(join(directory, 'data', 'postmaster.pid'), 'utf8'),
        readFile(lock, 'utf8'),
      ]);
      await first.stop();
      await writeFile(join(directory, 'data', 'postmaster.pid'), left(file));
      await writeFile(lock, left(socketFile));
      const second = await startEmbeddedPostgres({ directory });
      expect(await run(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await second.stop();
    } finally {
      other.kill('SIGKILL');
    }
  });

  test('an embedded PostgreSQL that is killed starts again on its data, and its clients connect again', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const client = connectPostgres(server.connection, { max: 1 });
    await client`CREATE TABLE kept AS SELECT 7 AS n`;
    const killed = await killServer();
    await expect.poll(() => client`SELECT n FROM kept`.catch(() => null), WITHIN).toEqual([{ n: 7 }]);
    expect(await pidOfServer()).not.toBe(killed);
    await client.end();
    await server.stop();
  });

  test('an embedded PostgreSQL that is killed starts again once a process of it, busy with a statement, has ended', async () => {
    const server = await startEmbeddedPostgres({ directory, restartWaitsMs: Array(200).fill(50) });
    const client = connectPostgres(server.connection, { max: 1 });
    const [{ pid }] = await client<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
    // It does not notice that its server is gone until it waits for its client.
    const busy = client`SELECT count(*) FROM generate_series(1, 20000000)`.catch(() => null);
    const state = () => run(server.connection, `SELECT state FROM pg_stat_activity WHERE pid = ${pid}`);
    await expect.poll(state, WITHIN).toEqual([{ state: 'active' }]);
    await killServer();
    expect(await isPostgresRunning(pid)).toBe(true);
    await busy;
    await expect.poll(() => client`SELECT 1 AS one`.catch(() => null), WITHIN).toEqual([{ one: 1 }]);
    await client.end();
    await server.stop();
  });

  test('an embedded PostgreSQL of which the process above it is killed starts again', async () => {
    const server = await startEmbeddedPostgres({ directory });
    const first = await pidOfServer();
    process.kill(await parentOf(first), 'SIGKILL');
    await expect.poll(() => isPostgresRunning(first), WITHIN).toBe(false);
    await expect
      .poll(() => run(server.connection, 'SELECT 1 AS one').catch(() => null), WITHIN)
      .toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('an embedded PostgreSQL that ends again and again is given up, with what it said last', async () => {
    const server = await startEmbeddedPostgres({ directory, restartWaitsMs: [0, 0] });
    let reason = '';
    void server.lost.then((last) => {
      reason = last;
    });
    const killAgain = async () => {
      const postmaster = await readPostmaster(join(directory, 'data'));
      if (postmaster !== null && (await isPostgresRunning(postmaster.pid))) {
        process.kill(postmaster.pid, 'SIGKILL');
      }
      return reason;
    };
    await expect.poll(killAgain, WITHIN).not.toBe('');
    await server.stop();
    expect(await runningPostgres(directory)).toBeNull();
  });

  test('an embedded PostgreSQL that cannot start again is given up, with the reason', async () => {
    const server = await startEmbeddedPostgres({ directory, restartWaitsMs: [0, 10] });
    await rm(join(directory, 'data', 'PG_VERSION'));
    await killServer();
    await expect(server.lost).resolves.toMatch(/^the embedded PostgreSQL did not start in .*PG_VERSION/);
    await server.stop();
  });

  test('an embedded PostgreSQL stops at any moment while it is started again', async () => {
    for (const ms of [0, 5, 20, 50, 100, 200]) {
      const server = await startEmbeddedPostgres({ directory });
      await killServer();
      await pause(ms);
      await server.stop();
      expect(await runningPostgres(directory)).toBeNull();
    }
  });

  test('an embedded PostgreSQL stops while it waits for the next attempt', async () => {
    const server = await startEmbeddedPostgres({ directory, restartWaitsMs: [600_000] });
    await killServer();
    await server.stop();
    expect(await runningPostgres(directory)).toBeNull();
  });

  test('an embedded PostgreSQL does an interrupted creation again', async () => {
    const first = await startEmbeddedPostgres({ directory });
    await first.stop();
    await rename(join(directory, 'data'), join(directory, 'new-half'));
    const second = await startEmbeddedPostgres({ directory });
    await second.stop();
    expect((await readdir(directory)).sort()).toEqual(['data', 'socket']);
  });

  test('an embedded PostgreSQL works where its directory is too long for a socket', async () => {
    const long = join(directory, '..', 'x'.repeat(120));
    const server = await startEmbeddedPostgres({ directory: long });
    expect(await run(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('an embedded PostgreSQL that cannot start says why in one line and leaves nothing running', async () => {
    const refusal = startEmbeddedPostgres({ directory, settings: { shared_buffers: 'nonsense' } });
    await expect(refusal).rejects.toThrow(/^the embedded PostgreSQL did not start in .*shared_buffers.*$/);
    expect(await runningPostgres(directory)).toBeNull();
  });
});
