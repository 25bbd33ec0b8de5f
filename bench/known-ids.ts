/**
 * The cost of known ids that memory does not hold: memory, restarts, new events beside an empty service in turns, and
 * known events that are sent again. BENCH_MILLIONS says how many ids, such as `10,100,300`. 100 million take a quarter
 * of an hour.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Measurement, measure, microsecondsPerEvent, type Run, runGenerator } from './ingest.ts';
import { recentRoad } from './recent-road.ts';
import { table } from './report.ts';
import { mergeStoredEvents, storeSmallEvents } from './stored-events.ts';
import { startTemporaryService, type TemporaryService, withTemporaryDirectory } from './temporary-service.ts';

const SIZES = (process.env.BENCH_MILLIONS ?? '10,100,300').split(',').map(Number);
const ROUNDS = 2;
const RUN: Run = {
  name: 'every connection busy',
  connections: 128,
  eventsPerSecond: 0,
  eventsPerRequest: 100,
  target: '',
};
/** In the part that sends known events again, so that what was just sent is in files. */
const SMALL_MEMORY = { KNOWN_IDS_RECENT: '100000' };
const MINUTES_TO_SPILL_MAX = 10;
/** Longer than a file is being written. */
const QUIET_SECONDS = 15;

interface Sized {
  readonly millions: number;
  readonly firstStartMs: number;
  readonly restartMs: number;
  readonly restartKilledMs: number;
  readonly memoryMb: number;
  readonly bytes: { readonly recent: number; readonly filtered: number };
  readonly ids: { readonly recent: number; readonly filtered: number };
  readonly files: number;
  /** The cost of moving ids from memory into files and merging these: CPU time of each id that was moved. */
  readonly tidying: number;
  readonly rounds: readonly { readonly empty: Measurement; readonly filled: Measurement }[];
  readonly letThrough: number;
  readonly replay: Replay;
}

interface Replay {
  readonly knownPerSecond: number;
  readonly othersP99Ms: number;
  /** The same traffic shortly before, with nothing sent again. */
  readonly othersAloneP99Ms: number;
  readonly cpuPerEvent: number;
}

export async function benchKnownIds(seconds: number): Promise<string> {
  const measured: Sized[] = [];
  for (const millions of SIZES) {
    measured.push(await withTemporaryDirectory((directory) => measureSize(directory, millions, seconds)));
  }
  const ratio = await recentRoad();
  return `${report(measured)}\n\nAll ids in memory: ${ratio.toFixed(3)} × the CPU time of an index without tiers (of an event about a tenth is the index; target: 1.05 ×).`;
}

async function measureSize(directory: string, millions: number, seconds: number): Promise<Sized> {
  // The first start makes PostgreSQL's cluster and all tables.
  await (await startTemporaryService(directory)).close();
  await storeSmallEvents(join(directory, 'clickhouse'), millions * 1_000_000);
  await mergeStoredEvents(join(directory, 'clickhouse'));
  const first = await startTemporaryService(directory);
  await first.close();
  const second = await startTemporaryService(directory);
  process.kill(second.pid, 'SIGKILL');
  await second.close();
  const third = await startTemporaryService(directory);
  const memoryMb = await third.memoryMb();
  const figures = await knownIdFigures(third);
  await third.close();
  const tidying = await tidied(directory);
  const rounds = [];
  let letThrough = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const empty = await withTemporaryDirectory((fresh) => loadOn(fresh, seconds));
    const filled = await loadOn(directory, seconds);
    letThrough = filled.letThrough;
    rounds.push({ empty: empty.load, filled: filled.load });
  }
  const replay = await sendAgain(directory, seconds);
  return {
    millions,
    firstStartMs: first.startMs,
    restartMs: second.startMs,
    restartKilledMs: third.startMs,
    ...{ memoryMb, ...figures, tidying, rounds, letThrough, replay },
  };
}

/**
 * Waits until memory holds only as many ids as it may, so that no earlier work is under way during the load.
 */
async function tidied(directory: string): Promise<number> {
  const service = await startTemporaryService(directory);
  try {
    const before = await service.cpuSeconds();
    const { ids } = await knownIdFigures(service);
    const moved = ids.recent - (await quiet(service));
    return moved > 0 ? (((await service.cpuSeconds()) - before) * 1e6) / moved : Number.NaN;
  } finally {
    await service.close();
  }
}

/** The ids in memory, when neither they nor the files change any more. */
async function quiet(service: TemporaryService): Promise<number> {
  const deadline = Date.now() + MINUTES_TO_SPILL_MAX * 60_000;
  let last = await knownIdFigures(service);
  for (let same = 0; same < QUIET_SECONDS; ) {
    if (Date.now() > deadline) throw new Error('ids are still being moved');
    await delay(1_000);
    const now = await knownIdFigures(service);
    same = now.files === last.files && now.ids.recent === last.ids.recent ? same + 1 : 0;
    last = now;
  }
  return last.ids.recent;
}

async function loadOn(directory: string, seconds: number) {
  const service = await startTemporaryService(directory);
  try {
    const load = await measure(service, RUN, seconds);
    const { lookups } = await knownIdFigures(service);
    return { load, letThrough: lookups.new / load.load.accepted };
  } finally {
    await service.close();
  }
}

/** Sends events, waits until they have left memory, and sends them again beside other traffic. */
async function sendAgain(directory: string, seconds: number): Promise<Replay> {
  const service = await startTemporaryService(directory, SMALL_MEMORY);
  try {
    const target = { host: service.host, port: service.port, token: service.token, servicePid: service.pid };
    const load = { ...target, eventsPerRequest: 100, spreadMinutes: 60, measureMs: seconds * 1000 };
    const replay = { ...load, run: 'again', connections: 32, eventsPerSecond: 0 };
    await runGenerator({ ...replay, warmUpMs: 1_000 });
    await spilled(service);
    const others = { ...load, run: 'others', connections: 32, eventsPerSecond: 2_000, warmUpMs: 2_000 };
    const alone = await runGenerator({ ...others, run: 'alone', measureMs: (seconds * 1000) / 2 });
    const [known, beside] = await Promise.all([
      runGenerator({ ...replay, warmUpMs: 2_000, measureMs: (seconds * 1000) / 2 }),
      runGenerator({ ...others, measureMs: (seconds * 1000) / 2 }),
    ]);
    const events = known.requests * load.eventsPerRequest - known.accepted;
    return {
      knownPerSecond: events / known.seconds,
      othersP99Ms: beside.latencyMs.p99,
      othersAloneP99Ms: alone.latencyMs.p99,
      cpuPerEvent: (known.serviceCpuSeconds * 1e6) / events,
    };
  } finally {
    await service.close();
  }
}

async function spilled(service: TemporaryService): Promise<void> {
  const deadline = Date.now() + MINUTES_TO_SPILL_MAX * 60_000;
  while ((await knownIdFigures(service)).ids.recent > Number(SMALL_MEMORY.KNOWN_IDS_RECENT)) {
    if (Date.now() > deadline) throw new Error('ids did not leave memory');
    await delay(500);
  }
}

async function knownIdFigures(service: TemporaryService) {
  const text = await (await fetch(`http://${service.host}:${service.port}/metrics`)).text();
  const figure = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? Number.NaN,
    );
  const byTier = (name: string) => ({
    recent: figure(`${name}{tier="recent"}`),
    filtered: figure(`${name}{tier="filtered"}`),
  });
  return {
    ids: byTier('tallyhouse_known_transaction_ids'),
    bytes: byTier('tallyhouse_known_transaction_ids_bytes'),
    files: figure('tallyhouse_known_id_files'),
    lookups: { new: figure('tallyhouse_known_id_lookups_total{result="new"}') },
  };
}

function report(measured: readonly Sized[]): string {
  const sizes = measured.map(({ millions }) => `${millions} million`);
  const row = (name: string, target: string, of: (one: Sized) => string) => [
    name,
    target,
    ...measured.map(of),
  ];
  const ratios = (of: (one: Measurement) => number) => (one: Sized) =>
    one.rounds.map(({ empty, filled }) => `${(of(filled) / of(empty)).toFixed(2)} ×`).join(', ');
  const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return table(
    ['known ids', 'target', ...sizes],
    [
      row(
        'ids in memory / in files',
        '',
        ({ ids }) => `${millionsOf(ids.recent)} / ${millionsOf(ids.filtered)}`,
      ),
      row(
        'index, all of it',
        '0.9 GB',
        ({ bytes }) => `${((bytes.recent + bytes.filtered) / 1e9).toFixed(2)} GB`,
      ),
      row('memory of an id in a file', '2 bytes', ({ bytes, ids }) =>
        (bytes.filtered / ids.filtered).toFixed(2),
      ),
      row('files', '', ({ files }) => `${files}`),
      row('process after the start', '', ({ memoryMb }) => `${(memoryMb / 1024).toFixed(2)} GB`),
      row('first start, which makes the files', '', (one) => inSeconds(one.firstStartMs)),
      row('restart after SIGTERM', '6 s', (one) => inSeconds(one.restartMs)),
      row('restart after kill -9', '6 s', (one) => inSeconds(one.restartKilledMs)),
      row('CPU time of moving an id into files', '', ({ tidying }) => `${tidying.toFixed(1)} µs`),
      row('new events: rate beside an empty service', '0.85 ×', ratios(rateOf)),
      row(
        'new events: CPU time beside it',
        '1.15 ×',
        ratios((one) => Number(microsecondsPerEvent(one))),
      ),
      row('new events that a filter let through', '', (one) => `${(100 * one.letThrough).toFixed(2)} %`),
      row('known events again, a second', '50,000', ({ replay }) => replay.knownPerSecond.toFixed(0)),
      row('their CPU time', '', ({ replay }) => `${replay.cpuPerEvent.toFixed(1)} µs`),
      row('p99 of others meanwhile', '100 ms', ({ replay }) => `${replay.othersP99Ms.toFixed(0)} ms`),
      row('p99 of others alone', '', ({ replay }) => `${replay.othersAloneP99Ms.toFixed(0)} ms`),
    ],
  );
}

function rateOf({ load }: Measurement): number {
  return load.accepted / load.seconds;
}

function millionsOf(ids: number): string {
  return `${(ids / 1e6).toFixed(1)} million`;
}
