/**
 * The demo's own server: a child process on temporary data and a free port, which ends with the demo. It does not
 * inherit the caller's environment, so it can access no database that the caller configured.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import { DemoFailure } from './failure.ts';
import { STAND_IN_KEY, type StripeStandIn } from './stripe/stand-in.ts';

export interface OwnServer {
  readonly url: URL;
  readonly token: string;
  readonly dataDirectory: string;
  /**
   * Ends the process and, unless the data are kept, removes its directory. Never throws for a process that has ended.
   */
  stop(options: { keepData: boolean }): Promise<void>;
}

const HOST = '127.0.0.1';
/** As set by `npm start`: queries to the embedded ClickHouse run on these threads. */
const WORKER_THREADS = '16';
const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 50;
/** A draining server writes its last batch and stops two databases; after this time it is stuck. */
const STOP_WITHIN_MS = 20_000;
const OUTPUT_KEPT_CHARACTERS = 4_000;

/** Starts the server and waits until it is ready. If that fails, nothing is left on the machine. */
export async function startOwnServer(
  signal: AbortSignal,
  { now, stripe }: { readonly now: Instant; readonly stripe: Pick<StripeStandIn, 'url'> },
): Promise<OwnServer> {
  const entry = join(PACKAGE_ROOT, 'dist/main.js');
  if (!existsSync(entry)) throw new DemoFailure('the service is not built yet: run "npm run build" first');
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tallyhouse-demo-'));
  // PostgreSQL refuses to run as root; its user must be able to traverse this directory.
  await chmod(dataDirectory, 0o711);
  const token = randomBytes(24).toString('base64url');
  const port = await freePort();
  const url = new URL(`http://${HOST}:${port}`);
  const child = spawn(
    process.execPath,
    ['--import', pathToFileURL(join(PACKAGE_ROOT, 'dist/demo/stop-with-parent.js')).href, entry],
    {
      // Its own process group: Ctrl-C reaches the demo, and the demo stops the server in order.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        HOST,
        PORT: String(port),
        DATA_DIR: dataDirectory,
        API_TOKEN: token,
        LOG_LEVEL: 'warn',
        // Its month ends within the demo.
        SANDBOX_NOW: formatInstant(now),
        STRIPE_API_KEY: STAND_IN_KEY,
        STRIPE_API_BASE: stripe.url,
        // The demo has a receiver on this machine.
        WEBHOOK_ALLOW_PRIVATE: '1',
        TMPDIR: tmpdir(),
        UV_THREADPOOL_SIZE: WORKER_THREADS,
      },
    },
  );
  const output = collectOutput(child);
  const stop: OwnServer['stop'] = async ({ keepData }) => {
    await stopChild(child);
    if (!keepData) await rm(dataDirectory, { recursive: true, force: true });
  };
  try {
    await untilReady(url, child, output, signal);
  } catch (error) {
    await stop({ keepData: false });
    throw error;
  }
  return { url, token, dataDirectory, stop };
}

/** A port that is free at this moment. */
async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, HOST);
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return address.port;
}

/** Keeps the end of the server's output, in case it does not start. */
function collectOutput(child: ChildProcess): () => string {
  let kept = '';
  const keep = (chunk: Buffer) => {
    kept = (kept + chunk.toString('utf8')).slice(-OUTPUT_KEPT_CHARACTERS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  // A server that ends by itself closes the pipe we hold open; that is not our failure.
  child.stdin?.on('error', () => {});
  return () => kept.trim();
}

async function untilReady(url: URL, child: ChildProcess, output: () => string, signal: AbortSignal) {
  const deadline = performance.now() + READY_WITHIN_MS;
  let spawnError: Error | null = null;
  child.on('error', (error) => {
    spawnError = error;
  });
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if (spawnError !== null || hasEnded(child)) {
      throw new DemoFailure(`the demo's own server did not start:\n${spawnError ?? output()}`);
    }
    if (await isReady(url, signal)) return;
    await delay(POLL_EVERY_MS, undefined, { signal });
  }
  throw new DemoFailure(
    `the demo's own server was not ready within ${READY_WITHIN_MS / 1000} s:\n${output()}`,
  );
}

async function isReady(url: URL, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Not listening yet, or interrupted: the caller checks the signal.
    return false;
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(killer);
}
