/**
 * How fast events become durable and deduplicated: the real service on temporary data, loaded over
 * HTTP by a separate process on the same machine.
 *
 * Every connection busy, many and few, for throughput; single events; and 20,000 events a second, for the latency of
 * a service that is not at its limit. CPU time is given as well, because it depends least on what else the machine is
 * doing.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadResult } from './load-generator.ts';
import { machine, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

export interface Run {
  readonly name: string;
  readonly connections: number;
  readonly eventsPerSecond: number;
  readonly eventsPerRequest: number;
  readonly target: string;
  readonly form?: NonNullable<LoadOptions['form']>;
}

const RUNS: readonly Run[] = [
  busy({ connections: 512, target: '200,000 events/s, 7.5 µs' }),
  busy({ connections: 128, target: '200,000 events/s, 7.5 µs' }),
  busy({ connections: 8, target: '90,000 events/s' }),
  { ...busy({ connections: 64, target: '15,000 requests/s' }), name: 'single events', eventsPerRequest: 1 },
  {
    name: '20,000 events/s',
    connections: 128,
    eventsPerSecond: 20_000,
    eventsPerRequest: 100,
    target: 'p50 4 ms, p99 25 ms, 17 µs',
  },
];

function busy(run: Pick<Run, 'connections' | 'target'>): Run {
  return { name: 'every connection busy', eventsPerSecond: 0, eventsPerRequest: 100, ...run };
}

export interface Measurement {
  readonly run: Run;
  readonly load: LoadResult;
  readonly serverMemoryMb: number;
}

/** Runs each load against a new service and returns the report. `seconds` is the length of each. */
export async function benchIngest(seconds: number): Promise<string> {
  const measurements: Measurement[] = [];
  for (const run of RUNS) {
    // A fresh one each time: merges of what the run before wrote would be in the latencies of this one.
    const service = await startTemporaryService();
    try {
      measurements.push(await measure(service, run, seconds));
    } finally {
      await service.close();
    }
  }
  return report(measurements);
}

/** Loads a service for so many seconds, after three that are not in the figures. */
export async function measure(service: TemporaryService, run: Run, seconds: number): Promise<Measurement> {
  const options: LoadOptions = {
    host: service.host,
    port: service.port,
    token: service.token,
    connections: run.connections,
    eventsPerRequest: run.eventsPerRequest,
    eventsPerSecond: run.eventsPerSecond,
    warmUpMs: 3_000,
    measureMs: seconds * 1000,
    run: `${run.connections}-${Date.now().toString(36)}`,
    spreadMinutes: 60,
    servicePid: service.pid,
    ...(run.form === undefined ? {} : { form: run.form }),
  };
  const load = await runGenerator(options);
  return { run, load, serverMemoryMb: await service.memoryMb() };
}

export function runGenerator(options: LoadOptions): Promise<LoadResult> {
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

/** CPU time of the service in microseconds, for each event it took. */
export function microsecondsPerEvent({ load }: Measurement): string {
  return ((load.serviceCpuSeconds * 1e6) / load.accepted).toFixed(2);
}

function report(measurements: readonly Measurement[]): string {
  const bytes = measurements[0]?.load.bytesPerEvent ?? 0;
  const header = [
    'load',
    'target',
    'connections',
    'events/s',
    'p50 ms',
    'p99 ms',
    'failed requests',
    'CPU µs/event: service',
    'generator',
    'service memory MB',
  ];
  const rows = measurements.map((measurement) => {
    const { run, load, serverMemoryMb } = measurement;
    return [
      run.name,
      run.target,
      String(run.connections),
      Math.round(load.accepted / load.seconds).toLocaleString('en-US'),
      load.latencyMs.p50.toFixed(1),
      load.latencyMs.p99.toFixed(1),
      String(load.failures),
      microsecondsPerEvent(measurement),
      ((load.cpuSeconds * 1e6) / load.accepted).toFixed(2),
      serverMemoryMb.toFixed(0),
    ];
  });
  return `${machine()}, load generator on the same cores. 100 events a request unless they are single, ${bytes.toFixed(0)} bytes and six properties an event; an answer means on disk.\n\n${table(header, rows)}`;
}
