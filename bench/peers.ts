/**
 * The ingest of the service beside the obvious design, one insert a request, in the same run: the same load, table,
 * engine and durability.
 *
 * ClickHouse's `async_insert`, which collects inserts on a server, does nothing in the embedded engine: every insert
 * is a separate part there, so the comparison needs a server.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Measurement, measure, microsecondsPerEvent, type Run } from './ingest.ts';
import { table } from './report.ts';
import { storeEvents } from './stored-events.ts';
import { startTemporaryService, type TemporaryService, withTemporaryDirectory } from './temporary-service.ts';

const NAIVE = ['--import', 'tsx', fileURLToPath(new URL('naive-ingest.ts', import.meta.url))];

const RUNS: readonly Run[] = [
  { name: 'every connection busy', connections: 128, eventsPerSecond: 0, eventsPerRequest: 100, target: '' },
  { name: 'single events', connections: 64, eventsPerSecond: 0, eventsPerRequest: 1, target: '' },
];

export async function benchPeers(seconds: number): Promise<string> {
  const rows: string[][] = [];
  for (const run of RUNS) {
    const service = await startTemporaryService();
    rows.push(rowOf('tallyhouse, deduplicated', await measured(service, run, seconds)));
    rows.push(rowOf('an insert a request, not deduplicated', await measureNaive(run, seconds)));
  }
  const header = ['design', 'load', 'events/s', 'p50 ms', 'p99 ms', 'failed requests', 'CPU µs/event'];
  return `Load generator on the same cores; an answer means on disk. async_insert does nothing in the embedded ClickHouse, so it is not compared.\n\n${table(header, rows)}`;
}

async function measured(service: TemporaryService, run: Run, seconds: number): Promise<Measurement> {
  try {
    return await measure(service, run, seconds);
  } finally {
    await service.close();
  }
}

async function measureNaive(run: Run, seconds: number): Promise<Measurement> {
  return await withTemporaryDirectory(async (directory) => {
    // Makes the table.
    await storeEvents(join(directory, 'clickhouse'), 0, ['first']);
    return await measured(await startTemporaryService(directory, {}, NAIVE), run, seconds);
  });
}

function rowOf(design: string, measurement: Measurement): string[] {
  const { run, load } = measurement;
  return [
    design,
    run.name,
    Math.round(load.accepted / load.seconds).toLocaleString('en-US'),
    load.latencyMs.p50.toFixed(1),
    load.latencyMs.p99.toFixed(1),
    String(load.failures),
    microsecondsPerEvent(measurement),
  ];
}
