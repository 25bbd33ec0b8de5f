/** The built service as a separate process on temporary data, and a client that counts milliseconds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf } from './process-cpu.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOOP_WATCH = fileURLToPath(new URL('loop-watch.cjs', import.meta.url));
const HOST = '127.0.0.1';
const TOKEN = 'bench-token-of-temporary-data';
const START_SECONDS_MAX = 600;

interface TimedAnswer {
  readonly body: unknown;
  readonly milliseconds: number;
}

export interface TemporaryService {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly token: string;
  /** From the start of the process to the first answer that it is ready. */
  readonly startMs: number;
  /** Throws for everything but 200. */
  post(path: string, body: unknown): Promise<TimedAnswer>;
  /** Throws for everything but 200. */
  get(path: string): Promise<TimedAnswer>;
  /** CPU time of all threads up to now, or NaN where there is no /proc. */
  cpuSeconds(): Promise<number>;
  memoryMb(): Promise<number>;
  /** The most that it has had. */
  peakMemoryMb(): Promise<number>;
  /** The longest time for which the event loop was held since the last call, in CPU time (`loop-watch.cjs`). */
  longestHoldMs(): Promise<number>;
  /** Drains, and removes the data unless they were given. */
  close(): Promise<void>;
}

/** Calls `work` with an empty directory, and removes it afterwards. */
export async function withTemporaryDirectory<Result>(
  work: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  // PostgreSQL may run under another account.
  await chmod(directory, 0o755);
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The arguments of Node for the built service, as `npm start` has them. */
const SERVICE = [
  '--max-semi-space-size=64',
  '--heap-growing-percent=100',
  '--no-allocation-site-pretenuring',
  '--require',
  LOOP_WATCH,
  join(ROOT, 'dist/tallyhouse.cjs'),
  'start',
];

/**
 * Resolves when the service is ready. `dataDir`: data to start on, which are left where they are. `program`: another
 * program that takes the same environment and answers `/readyz`.
 */
export async function startTemporaryService(
  dataDir?: string,
  environment: Readonly<Record<string, string>> = {},
  program: readonly string[] = SERVICE,
): Promise<TemporaryService> {
  const directory = dataDir ?? (await mkdtemp(join(tmpdir(), 'tallyhouse-bench-')));
  const port = await freePort();
  const begin = performance.now();
  const server = spawn(process.execPath, [...program], {
    env: {
      ...process.env,
      DATA_DIR: directory,
      HOST,
      PORT: String(port),
      API_TOKEN: TOKEN,
      LOG_LEVEL: 'error',
      // One token sends everything here.
      RATE_LIMIT_INGEST: '0',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const close = async () => {
    await stop(server);
    if (dataDir === undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const base = `http://${HOST}:${port}`;
  const { pid = 0 } = server;
  await ready(server, base).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    host: HOST,
    port,
    token: TOKEN,
    startMs: performance.now() - begin,
    post: (path, body) => request('POST', base + path, body),
    get: (path) => request('GET', base + path),
    pid,
    cpuSeconds: () => cpuSecondsOf(pid),
    memoryMb: () => memoryMb(server, 'VmRSS'),
    peakMemoryMb: () => memoryMb(server, 'VmHWM'),
    longestHoldMs: () => longestHoldMs(server),
    close,
  };
}

async function request(method: 'GET' | 'POST', url: string, body?: unknown): Promise<TimedAnswer> {
  const start = performance.now();
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const milliseconds = performance.now() - start;
  if (response.status !== 200) throw new Error(`${url} → ${response.status} ${text}`);
  return { body: text === '' ? null : JSON.parse(text), milliseconds };
}

async function ready(server: ChildProcess, base: string): Promise<void> {
  const deadline = Date.now() + START_SECONDS_MAX * 1000;
  while (Date.now() < deadline && server.exitCode === null) {
    const isReady = await fetch(`${base}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error(`the service did not become ready within ${START_SECONDS_MAX} seconds`);
}

function stop(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null) return resolve();
    server.once('exit', () => resolve());
    server.kill('SIGTERM');
  });
}

async function memoryMb(server: ChildProcess, line: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024;
}

function longestHoldMs(server: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    server.once('message', ({ longestMs }: { readonly longestMs: number }) => resolve(longestMs));
    server.send('longest');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
