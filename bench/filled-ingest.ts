/**
 * The cost of an event when many are stored already, beside an empty service: the same load after the same start, in
 * turns. BENCH_MILLIONS says how many million are stored; 100 unless given.
 */
import { join } from 'node:path';
import { measureThreads } from './cpu-split.ts';
import { type Measurement, measure, microsecondsPerEvent, type Run } from './ingest.ts';
import { table } from './report.ts';
import { mergeStoredEvents, storeEvents } from './stored-events.ts';
import { startTemporaryService, withTemporaryDirectory } from './temporary-service.ts';

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
  const measured = await withTemporaryDirectory(async (directory) => {
    await storeEvents(join(directory, 'clickhouse'), MILLIONS * 1_000_000, ['first']);
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const empty = await withTemporaryDirectory((fresh) => measureOn(fresh, seconds));
      // The second round finds the few million events of the first besides.
      const filled = await measureOn(directory, seconds);
      rounds.push({ round, empty, filled });
    }
    return rounds;
  });
  const header = ['empty, µs', `${MILLIONS} million stored, µs`];
  return `CPU time of the service per event, target 1.1 ×\n\n${table(
    ['round', ...header, 'ratio', 'events/s'],
    measured.map(rowOf),
  )}\n\nBy the names of threads\n\n${table(['round', 'threads', ...header], measured.flatMap(threadRows))}`;
}

interface Measured extends Measurement {
  /** Shares of the CPU time, by the names of threads. */
  readonly threads: ReadonlyMap<string, number>;
}

interface Round {
  readonly round: number;
  readonly empty: Measured;
  readonly filled: Measured;
}

/** Threads with less than this of an event, in microseconds, are left out. */
const NAMED_MIN = 0.05;

function threadRows({ round, empty, filled }: Round): string[][] {
  const times = (one: Measured, name: string) =>
    (one.threads.get(name) ?? 0) * Number(microsecondsPerEvent(one));
  return [...filled.threads.keys()]
    .map((name) => ({ name, own: [times(empty, name), times(filled, name)] }))
    .filter(({ own }) => Math.max(...own) >= NAMED_MIN)
    .map(({ name, own }) => [`${round}`, name, ...own.map((time) => time.toFixed(2))]);
}

function rowOf({ round, empty, filled }: Round): string[] {
  const ratio = Number(microsecondsPerEvent(filled)) / Number(microsecondsPerEvent(empty));
  const speeds = [empty, filled].map(({ load }) => Math.round(load.accepted / load.seconds));
  return [
    `${round}`,
    ...[empty, filled].map(microsecondsPerEvent),
    `${ratio.toFixed(2)} ×`,
    speeds.map((speed) => speed.toLocaleString('en-US')).join(' / '),
  ];
}

/** Starts when earlier events are merged, so that only merges of the load itself are in the figures. */
async function measureOn(directory: string, seconds: number): Promise<Measured> {
  await mergeStoredEvents(join(directory, 'clickhouse'));
  const service = await startTemporaryService(directory);
  try {
    const threads = await measureThreads(service.pid);
    return { ...(await measure(service, RUN, seconds)), threads: await threads() };
  } finally {
    await service.close();
  }
}
