/** Starts the HTTP front over chDB as a process. It ends with this one, however this one ends. */
import { spawn } from 'node:child_process';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';
import { commandOf } from './child-process.ts';
import { FRONT_USERS } from './clickhouse-front.ts';

export interface FrontProcess {
  readonly port: number;
  /** Ends it as a server is stopped. */
  stop(): Promise<void>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

export interface FrontProcessOptions {
  readonly directory: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly cluster?: string | undefined;
}

export async function startFrontProcess(options: FrontProcessOptions): Promise<FrontProcess> {
  const { directory, port, cluster } = options;
  const [command = '', ...program] = commandOf('test/support/programs/clickhouse-front.ts');
  const args = [directory, String(port), ...(cluster === undefined ? [] : [cluster])];
  const child = spawn(command, [...program, ...args], {
    cwd: PACKAGE_ROOT,
    // Statements run on Node's worker threads; a server has more than four.
    env: { PATH: process.env.PATH, UV_THREADPOOL_SIZE: '16' },
    // The pipe to its standard input breaks when this process ends, and the front ends with it.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.includes('\n')) break;
  }
  const chosen = /on port (\d+)/.exec(said)?.[1];
  if (chosen === undefined) throw new Error('the ClickHouse front did not start');
  return { port: Number(chosen), stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** CLICKHOUSE_URL of a front: with the user that may write, and the one that may only read for analyses. */
export function frontUrl(port: number, database: string): string {
  const analysis = `analysis_user=analyst&analysis_password=${FRONT_USERS.analyst}`;
  return `http://tallyhouse:${FRONT_USERS.tallyhouse}@127.0.0.1:${port}/${database}?${analysis}`;
}
