/**
 * How fast events become durable and deduplicated: the real service on temporary data, loaded over
 * HTTP by a process of its own on the same machine. Prints a Markdown table.
 *
 * Two runs: every connection busy, for throughput; 20,000 events a second, for the latency of a
 * service that is not at its limit. CPU time is given as well, because it does not depend on what
 * else the machine is doing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadResult } from './load-generator.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOST = '127.0.0.1';
const TOKEN = 'bench-token-of-temporary-data';
const START_SECONDS_MAX = 60;

interface Run {
  readonly name: string;
  readonly connections: number;
  readonly eventsPerSecond: number;
}

const RUNS: readonly Run[] = [
  { name: 'every connection busy', connections: 512, eventsPerSecond: 0 },
  { name: '20,000 events/s', connections: 128, eventsPerSecond: 20_000 },
];

interface Measurement {
  readonly run: Run;
  readonly load: LoadResult;
  readonly serverCpuSeconds: number;
  readonly serverMemoryMb: number;
}

/** Runs both loads against a service of its own and returns the report. `seconds` is the length of each. */
export async function benchIngest(seconds: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  const port = await freePort();
  const server = startServer(directory, port);
  try {
    await ready(server, port);
    const measurements: Measurement[] = [];
    for (const run of RUNS) measurements.push(await measure(server, port, run, seconds));
    return report(measurements);
  } finally {
    await stop(server);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startServer(directory: string, port: number): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'dist/main.js')], {
    env: {
      ...process.env,
      DATA_DIR: directory,
      HOST,
      PORT: String(port),
      API_TOKEN: TOKEN,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function ready(server: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + START_SECONDS_MAX * 1000;
  while (Date.now() < deadline && server.exitCode === null) {
    const isReady = await fetch(`http://${HOST}:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
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

async function measure(server: ChildProcess, port: number, run: Run, seconds: number): Promise<Measurement> {
  const options: LoadOptions = {
    host: HOST,
    port,
    token: TOKEN,
    connections: run.connections,
    eventsPerRequest: 100,
    eventsPerSecond: run.eventsPerSecond,
    warmUpMs: 3_000,
    measureMs: seconds * 1000,
    run: `${run.eventsPerSecond}-${Date.now().toString(36)}`,
    spreadMinutes: 60,
  };
  const before = await cpuSeconds(server);
  const load = await runGenerator(options);
  const serverCpuSeconds = (await cpuSeconds(server)) - before;
  return { run, load, serverCpuSeconds, serverMemoryMb: await memoryMb(server) };
}

function runGenerator(options: LoadOptions): Promise<LoadResult> {
  const script = join(ROOT, 'bench/load-generator.ts');
  const generator = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(options)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    generator.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    generator.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`the load generator ended with code ${code}`));
    });
  });
}

/** Clock ticks per second of /proc, a constant of Linux on every platform that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU time of all threads up to now, or NaN where there is no /proc. */
async function cpuSeconds(server: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${server.pid}/stat`, 'utf8').catch(() => '');
  // The name of the process, in parentheses, may hold spaces: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) / TICKS_PER_SECOND;
}

async function memoryMb(server: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
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

function report(measurements: readonly Measurement[]): string {
  const bytes = measurements[0]?.load.bytesPerEvent ?? 0;
  const header = [
    'load',
    'connections',
    'events/s',
    'p50 ms',
    'p99 ms',
    'max ms',
    'failed requests',
    'CPU µs/event: service',
    'generator',
    'service memory MB',
  ];
  const rows = measurements.map(({ run, load, serverCpuSeconds, serverMemoryMb }) => [
    run.name,
    String(run.connections),
    Math.round(load.accepted / load.seconds).toLocaleString('en-US'),
    load.latencyMs.p50.toFixed(1),
    load.latencyMs.p99.toFixed(1),
    load.latencyMs.max.toFixed(1),
    String(load.failures),
    ((serverCpuSeconds * 1e6) / load.acceptedTotal).toFixed(2),
    ((load.cpuSeconds * 1e6) / load.accepted).toFixed(2),
    serverMemoryMb.toFixed(0),
  ]);
  const table = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [
    `${machine()}. 100 events a request, ${bytes.toFixed(0)} bytes and six properties an event; an answer means on disk.`,
    '',
    ...table,
    '',
  ].join('\n');
}

function machine(): string {
  const [first] = cpus();
  const memoryGib = (totalmem() / 1024 ** 3).toFixed(0);
  return `${cpus().length} cores of ${first?.model ?? 'unknown'}, ${memoryGib} GiB, Node ${process.versions.node}, load generator on the same cores`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(await benchIngest(Number(process.argv[2] ?? 10)));
}
