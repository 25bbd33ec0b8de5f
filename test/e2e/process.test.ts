import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isPostgresRunning, readPostmaster } from '../../src/embedded/postmaster-file.ts';
import { DOCTOR_LINE, type Program, runCommand, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { createTestDirectory } from '../support/stores.ts';

let dataDir: string;
let started: Program[] = [];

beforeEach(async () => {
  dataDir = await createDataDirectory();
});

afterEach(async () => {
  for (const program of started) program.child.kill('SIGKILL');
  await Promise.all(started.map((program) => program.ended));
  started = [];
});

function start(env: Record<string, string> = {}): Program {
  const program = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: dataDir, ...env });
  started.push(program);
  return program;
}

/** Waits until it is ready and returns its URL. */
async function ready(program: Program): Promise<string> {
  await program.said('/docs');
  const [, url] = /is ready at (\S+)/.exec(program.stdout()) ?? [];
  if (url === undefined) throw new Error(`no URL in: ${program.stdout()}`);
  return url;
}

/** Whether `/guide` answers with the guide, and not with the text that says how to build it. */
async function isGuide(url: string): Promise<boolean> {
  return !(await (await fetch(`${url}/guide`)).text()).includes('is not built');
}

const tokenIn = (output: string) => /API token\s+(\S+)/.exec(output)?.[1];

async function listCustomers(url: string, token: string | undefined) {
  const response = await fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.text() };
}

async function createCustomer(url: string, token: string | undefined, name: string): Promise<number> {
  const response = await fetch(`${url}/v1/customers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** The one line in which a start on a copy of a data directory is refused. */
async function startOnCopy(of: string): Promise<string> {
  const copy = `${of}-copy`;
  await promisify(execFile)('cp', ['-a', of, copy]);
  const program = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: copy });
  started.push(program);
  const code = await program.ended;
  const said = program.stderr().replace(DOCTOR_LINE, '');
  const isOneLine = /^tallyhouse: [^\n]*\n$/.test(said);
  return code === 1 && isOneLine ? said : `${code}, ${program.stderr()}`;
}

describe('the process', () => {
  test('the process ends with `npm start` when that is asked to end', async () => {
    const npm = runCommand('npm', ['start'], { PORT: '0', DATA_DIR: dataDir, HOME: dataDir });
    started.push(npm);
    const url = await ready(npm);
    npm.child.kill('SIGTERM');
    await npm.ended;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test('the process starts on nothing, says where it is and its token once, drains on SIGTERM, and starts again', async () => {
    dataDir = join(await createTestDirectory(), 'data');
    const first = start();
    const url = await ready(first);
    const health = await fetch(`${url}/healthz`);
    expect(health.status).toBe(200);
    // Load balancers keep an idle connection for 60 s.
    expect(health.headers.get('keep-alive')).toBe('timeout=75');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    // The address of the guide is printed only if there is one.
    expect(first.stdout().includes(`Guide          ${url}/guide`)).toBe(await isGuide(url));
    const token = tokenIn(first.stdout());
    expect(token).toBe((await readFile(join(dataDir, 'api-token'), 'utf8')).trim());
    expect(await createCustomer(url, token, 'Kept')).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);

    const second = start();
    const again = await ready(second);
    expect(tokenIn(second.stdout())).toBeUndefined();
    expect((await listCustomers(again, token)).body).toContain('Kept');
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
    expect(await readdir(dataDir)).toEqual([
      'api-token',
      'clickhouse',
      'event-log',
      'event-log.position',
      'known-ids',
      'lock',
      'postgres',
    ]);
  });

  test('the process leaves nothing running when it is killed, and recovers everything at the next start', async () => {
    const first = start();
    const url = await ready(first);
    const token = tokenIn(first.stdout());
    expect(await createCustomer(url, token, 'Acknowledged')).toBe(200);
    const postmaster = await readPostmaster(join(dataDir, 'postgres', 'data'));
    if (postmaster === null) throw new Error('PostgreSQL does not run');
    first.child.kill('SIGKILL');
    expect(await first.ended).toBe('SIGKILL');
    const second = start();
    expect((await listCustomers(await ready(second), token)).body).toContain('Acknowledged');
    expect(await isPostgresRunning(postmaster.pid)).toBe(false);
  });

  test('the process answers a request that is under way when it is asked to stop, and takes no new one', async () => {
    const program = start({ API_TOKEN: 'given-to-the-process', LOG_LEVEL: 'info' });
    const url = new URL(await ready(program));
    const body = JSON.stringify({ name: 'Slow' });
    const socket = connect(Number(url.port), url.hostname);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    const head = ['POST /v1/customers HTTP/1.1', 'Host: x', 'Authorization: Bearer given-to-the-process'];
    const about = [
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ];
    socket.write(`${[...head, ...about].join('\r\n')}\r\n\r\n`);
    // The server has the request now and waits for its body.
    await expect.poll(() => answer).toContain('100 Continue');
    program.child.kill('SIGTERM');
    await expect.poll(() => program.stderr()).toContain('draining');
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'served',
          () => 'refused',
        ),
      )
      .toBe('refused');
    socket.write(body);
    await closed;
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer).toContain('Content-Length');
    expect(await program.ended).toBe(0);
  });

  test('the process exits at once on a second signal', async () => {
    const program = start({ LOG_LEVEL: 'info' });
    const url = new URL(await ready(program));
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    socket.write('POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
    await fetch(`${url}healthz`);
    program.child.kill('SIGTERM');
    await expect.poll(() => program.stderr()).toContain('draining');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(1);
    socket.destroy();
  });

  test.each([
    [{ PORT: 'high' }, 'PORT must be a whole number'],
    [{ SANDBOX_NOW: 'tomorrow' }, 'SANDBOX_NOW must be an RFC 3339 timestamp such as 2026-11-20T00:00:00Z'],
  ])('the process with a setting that it does not understand says so in one line: %o', async (env, line) => {
    const program = start(env);
    expect(await program.ended).toBe(1);
    expect(program.stderr()).toBe(`tallyhouse: ${line}\n${DOCTOR_LINE}`);
  });

  test.each([
    [
      { DATABASE_URL: 'postgres://me:s3cret@127.0.0.1:1/x' },
      'PostgreSQL of DATABASE_URL (127.0.0.1:1) does not answer: connection refused',
    ],
    [
      { CLICKHOUSE_URL: 'http://me:s3cret@127.0.0.1:1/x' },
      'ClickHouse of CLICKHOUSE_URL (127.0.0.1:1) does not answer: connection refused',
    ],
  ])('the process says in one line which store does not answer: %o', async (env, line) => {
    const program = start(env);
    expect(await program.ended).toBe(1);
    expect(program.stderr()).toBe(`tallyhouse: ${line}\n${DOCTOR_LINE}`);
  });

  test('the process says of a copy that only has a link to the files of PostgreSQL where they are', async () => {
    dataDir = join(await createTestDirectory(), 'data');
    const elsewhere = await mkdtemp(join(dirname(dataDir), 'elsewhere-'));
    await chmod(elsewhere, 0o777);
    await mkdir(dataDir);
    await symlink(join(elsewhere, 'postgres'), join(dataDir, 'postgres'));
    await mkdir(join(elsewhere, 'postgres'), { mode: 0o777 });
    await chmod(join(elsewhere, 'postgres'), 0o777);
    await ready(start());
    expect(await startOnCopy(dataDir)).toContain(`to which ${dataDir}-copy/postgres is a link`);
  });
});

describe('beside a running process', () => {
  let first: Program;
  let used: string;
  let url: string;

  beforeAll(async () => {
    used = await createDataDirectory();
    first = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: used, API_TOKEN: 'from-the-environment' });
    url = await ready(first);
  });
  afterAll(async () => {
    first.child.kill('SIGKILL');
    await first.ended;
  });

  test('with a token in its environment none is on disk, and none is shown', async () => {
    expect((await listCustomers(url, 'from-the-environment')).status).toBe(200);
    expect((await listCustomers(url, 'another')).status).toBe(401);
    expect(first.stdout() + first.stderr()).not.toContain('from-the-environment');
    expect(await readdir(used)).not.toContain('api-token');
  });

  test('another on its data directory is refused in one line, and does not disturb it', async () => {
    const second = start({ DATA_DIR: used });
    expect(await second.ended).toBe(1);
    expect(second.stdout()).toBe('');
    expect(second.stderr()).toBe(
      `tallyhouse: DATA_DIR ${used} is in use by another tallyhouse process (pid ${first.child.pid})\n${DOCTOR_LINE}`,
    );
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test('another on a copy of its data directory reports that it is a copy', async () => {
    expect(await startOnCopy(used)).toContain(
      `${used}-copy/postgres/data is a copy of ${used}/postgres/data, taken while PostgreSQL`,
    );
  });

  test('another on its port reports that in one line, and leaves nothing running', async () => {
    const other = start({ PORT: new URL(url).port, LOG_LEVEL: 'warn' });
    expect(await other.ended).toBe(1);
    expect(other.stderr()).toContain(DOCTOR_LINE);
    expect(other.stderr().replace(DOCTOR_LINE, '')).toMatch(
      /^tallyhouse: cannot listen on PORT \d+ of HOST 127[.]0[.]0[.]1: the port is in use\n$/,
    );
    expect(await readPostmaster(join(dataDir, 'postgres', 'data'))).toBeNull();
  });

  test('another with a host that does not exist reports that in one line', async () => {
    const other = start({ HOST: 'nothing.invalid', LOG_LEVEL: 'warn' });
    expect(await other.ended).toBe(1);
    expect(other.stderr()).toContain(DOCTOR_LINE);
    expect(other.stderr().replace(DOCTOR_LINE, '')).toMatch(
      /^tallyhouse: cannot listen on PORT 0 of HOST nothing[.]invalid: (?:there is no such host|the name of the host cannot be looked up)\n$/,
    );
  });
});
