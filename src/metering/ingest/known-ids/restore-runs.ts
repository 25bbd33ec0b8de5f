/**
 * The runs at a start: recorded ones whose files are whole, and new ones, from ClickHouse, for the times of acceptance
 * that none of them covers. The newest ids are left to the index in memory.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { DAY_MS, type Instant } from '../../../core/time.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { createDeduplicationIndex, type DeduplicationIndex } from '../deduplication-index.ts';
import {
  ALL_SECONDS,
  alsoAcceptedWithin,
  countAccepted,
  rebuildIndex,
  type Seconds,
} from '../rebuild-index.ts';
import { openRun, type Run, removeRunFile } from './run.ts';
import type { RecordedRuns } from './run-record.ts';
import { writeRun } from './spill.ts';

/** A slight excess over the memory limit is no reason to make a start wait for a file. */
const RECENT_SLACK = 1.25;
/** The maximum number of spans in which times of acceptance are counted. */
const SPANS_MAX = 10_000;

export interface RestoreOptions {
  readonly clickhouse: ClickHouse;
  readonly directory: string;
  readonly recentMax: number;
  readonly windowDays: number;
  /** Ids of this many seconds stay in memory in any case. */
  readonly recentSeconds: number;
  readonly now: Instant;
  /** Called for an unusable file, and for every rebuilt run. */
  readonly onUnusable: (file: string, error: unknown) => void;
  readonly onMade: (run: Run, progress: RestoreProgress) => void;
  /**
   * Called with the first hash words of ids that were stored more than once: within one new run, or before and after
   * its start.
   */
  readonly onSuspects: (hashes: ReadonlySet<number>) => void;
}

/** Progress over stored events whose ids are in no file. */
export interface RestoreProgress {
  readonly readEvents: number;
  readonly allEvents: number;
}

export interface RestoredRuns {
  readonly runs: readonly Run[];
  /** From this second on ids belong to the index in memory. */
  readonly recentFrom: number;
}

/** `coveredFrom`: ids accepted before this second do not matter. */
export async function restoreRuns(
  options: RestoreOptions,
  recorded: RecordedRuns | null,
  coveredFrom: number,
): Promise<RestoredRuns> {
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await openRecorded(options, recorded);
  const runs: Run[] = [];
  let from = coveredFrom;
  for (const run of found) {
    runs.push(...(await makeRuns(options, { from, to: run.from })), run);
    from = run.to;
  }
  const newest = await newestFrom(options, from);
  runs.push(...(await makeRuns(options, { from, to: newest })));
  await removeOthers(directory, runs);
  return { runs, recentFrom: newest };
}

async function openRecorded(
  { directory, onUnusable }: RestoreOptions,
  recorded: RecordedRuns | null,
): Promise<Run[]> {
  const found: Run[] = [];
  for (const summary of recorded?.runs ?? []) {
    try {
      found.push(await openRun(directory, summary));
    } catch (error) {
      onUnusable(summary.name, error);
    }
  }
  return found;
}

/** Runs of all ids that were accepted within these seconds, each of at most as many ids as memory may hold. */
async function makeRuns(options: RestoreOptions, within: Seconds): Promise<Run[]> {
  if (within.from >= within.to) return [];
  const parts = await partsOf(options, within);
  const allEvents = parts.reduce((sum, { events }) => sum + events, 0);
  const runs: Run[] = [];
  let readEvents = 0;
  for await (const { events, ...part } of smallParts(options, within, parts)) {
    const run = await makeRun(options, part);
    readEvents += events;
    options.onMade(run, { readEvents, allEvents });
    runs.push(run);
  }
  return runs;
}

/** The parts of an interval; parts with too many events for the memory are divided further, as long as possible. */
async function* smallParts(
  options: RestoreOptions,
  within: Seconds,
  parts: readonly Part[],
): AsyncGenerator<Part, void, undefined> {
  for (const part of parts) {
    const isDivisible = part.to - part.from > 1 && part.to - part.from < within.to - within.from;
    if (part.events > options.recentMax && isDivisible)
      yield* smallParts(options, part, await partsOf(options, part));
    else yield part;
  }
}

/**
 * First hash words of ids of the index that were also accepted shortly before `from`, its start. Copies that two
 * processes accepted concurrently may be on both sides, at most as far apart as events can be late.
 */
export async function acceptedBefore(
  { clickhouse, now, recentSeconds }: Pick<RestoreOptions, 'clickhouse' | 'now' | 'recentSeconds'>,
  index: DeduplicationIndex,
  from: number,
): Promise<ReadonlySet<number>> {
  if (recentSeconds === 0) return new Set();
  return await alsoAcceptedWithin(clickhouse, index, now, {
    from: Math.max(0, from - recentSeconds),
    to: from,
  });
}

async function makeRun(options: RestoreOptions, part: Seconds): Promise<Run> {
  const { clickhouse, directory, now, windowDays, onSuspects } = options;
  const index = createDeduplicationIndex((windowDays * DAY_MS) / 1000);
  const { suspects } = await rebuildIndex(clickhouse, index, now, windowDays, part);
  onSuspects(suspects);
  onSuspects(await acceptedBefore(options, index, part.from));
  const { run } = await writeRun(index, directory, part);
  return run;
}

interface Part extends Seconds {
  readonly events: number;
}

/** Parts of an interval, each with at most this many events, or a single span. */
async function partsOf(options: RestoreOptions, within: Seconds): Promise<Part[]> {
  const { width, spans } = await countSpans(options, within);
  const parts: Part[] = [];
  let { from } = within;
  let events = 0;
  for (const { span, events: more } of spans) {
    const to = Math.max(from, span * width);
    if (events > 0 && events + more > options.recentMax && to > from) {
      parts.push({ from, to, events });
      from = to;
      events = 0;
    }
    events += more;
  }
  return [...parts, { from, to: within.to, events }];
}

/** The second from which ids fit into memory, for a memory that is full at `now`. */
async function newestFrom(options: RestoreOptions, from: number): Promise<number> {
  const { width, spans } = await countSpans(options, { from, to: ALL_SECONDS.to });
  const last = spans.at(-1);
  if (last === undefined) return from;
  const latest = Math.floor(options.now / 1000) - options.recentSeconds;
  let first = (last.span + 1) * width;
  let events = 0;
  for (const { span, events: more } of spans.toReversed()) {
    events += more;
    if (events > options.recentMax * RECENT_SLACK) return Math.max(from, Math.min(first, latest));
    first = span * width;
  }
  return from;
}

async function countSpans(options: RestoreOptions, { from, to }: Seconds) {
  const nowSeconds = Math.floor(options.now / 1000);
  const width = Math.max(1, Math.ceil((Math.min(to, nowSeconds) - from) / SPANS_MAX));
  return { width, spans: await countAccepted(options.clickhouse, { from, to }, width) };
}

/** Removes files left by an earlier process. */
async function removeOthers(directory: string, runs: readonly Run[]): Promise<void> {
  const names = new Set(runs.map(({ name }) => name));
  for (const file of await readdir(directory)) {
    if (!names.has(file)) await removeRunFile(directory, file);
  }
}
