/**
 * What an event costs when many are stored already, beside an empty service: the same load after the same start, in
 * turns. BENCH_MILLIONS says how many million are stored; 100 unless given.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measurement, measure, microsecondsPerEvent, type Run } from './ingest.ts';
import { table } from './report.ts';
import { storeEvents } from './stored-events.ts';
import { startTemporaryService } from './temporary-service.ts';

const MILLIONS = Number(process.env.BENCH_MILLIONS ?? 100);
const ROUNDS = 2;
const RUN: Run = {
  name: 'every connection busy',
  connections: 128,
  eventsPerSecond: 0,
  eventsPerRequest: 100,
  target: '',
};

export async function benchFilledIngest(seconds: number): Promise<string> {
  const rows: string[][] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const empty = await measureWith(0, seconds);
    const filled = await measureWith(MILLIONS * 1_000_000, seconds);
    const ratio = Number(microsecondsPerEvent(filled)) / Number(microsecondsPerEvent(empty));
    const speeds = [empty, filled].map(({ load }) => Math.round(load.accepted / load.seconds));
    rows.push([
      `${round}`,
      ...[empty, filled].map(microsecondsPerEvent),
      `${ratio.toFixed(2)} ×`,
      speeds.map((speed) => speed.toLocaleString('en-US')).join(' / '),
    ]);
  }
  return `CPU time of the service per event, target 1.1 ×\n\n${table(
    ['round', 'empty, µs', `${MILLIONS} million stored, µs`, 'ratio', 'events/s'],
    rows,
  )}`;
}

async function measureWith(stored: number, seconds: number): Promise<Measurement> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  await chmod(directory, 0o755);
  try {
    await storeEvents(join(directory, 'clickhouse'), stored, ['first'], { isMerged: true });
    const service = await startTemporaryService(directory);
    try {
      return await measure(service, RUN, seconds);
    } finally {
      await service.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
