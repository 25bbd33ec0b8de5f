/** The command that loads events of any age: progress and a summary on standard output (docs/how-to/backfill.md). */
import { type Config, ConfigError, processEnvironment } from '../../../config.ts';
import { systemClock } from '../../../core/clock.ts';
import { MigrationError } from '../../../core/migrations.ts';
import { EmbeddedClickHouseError } from '../../../embedded/chdb-engine.ts';
import { recordedUpTo } from '../../../metering/ingest/known-ids/run-record.ts';
import { failingWith } from '../../failures/command-failure.ts';
import { commandConfig } from '../command-config.ts';
import { formatCount, formatSeconds } from '../terminal/number-format.ts';
import { createProgress } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { openDoneFiles } from './done-files.ts';
import { EXIT } from './failure.ts';
import { openSource, type Source } from './files/open-source.ts';
import { type Load, type Loaded, loadSource, readingText } from './load-source.ts';
import { type OpenClickHouse, openClickHouse } from './open-clickhouse.ts';
import { type BackfillOptions, readMapping } from './options.ts';
import type { SavedProgress } from './progress-file.ts';
import { unitOf } from './rows/read-batches.ts';
import { createBatchStore } from './store-batch.ts';

const EXPECTED = [ConfigError, EmbeddedClickHouseError, MigrationError];

/** Returns the exit code. Throws a `CommandFailure` if the backfill cannot run. */
export function backfillCommand(options: BackfillOptions): Promise<number> {
  return failingWith(EXPECTED, () => backfilled(options));
}

async function backfilled(options: BackfillOptions): Promise<number> {
  const config = await failingWith([ConfigError], async () => commandConfig(), EXIT.usage);
  const reading = { mapping: await readMapping(options), delimiter: options.delimiter };
  const signal = nextSignal();
  const source = await openSource(options.source, options.format, processEnvironment());
  // An unreadable source is reported before the stores are opened.
  if (source.isFile) await source.files[0]?.open();
  const opened = await openClickHouse(config);
  try {
    const { dataDir } = config;
    const identity = [
      source.name,
      opened.identity,
      readingText(reading, { format: options.format ?? 'json' }),
    ];
    return await load(options, source, opened, config, {
      source,
      clock: config.sandboxNow === undefined ? systemClock : fixedClock(config.sandboxNow),
      dataDir,
      target: opened.identity,
      reading,
      reportFile: options.reportFile,
      isRestart: options.restart,
      doneFiles: source.isFile ? null : await openDoneFiles(dataDir, identity, options.restart),
      signal,
    });
  } finally {
    await opened.close();
  }
}

/** Loads with a progress bar, and prints the result. */
async function load(
  options: BackfillOptions,
  source: Source,
  { clickhouse, target }: OpenClickHouse,
  { clickhouseUrl, sandboxNow }: Config,
  work: Omit<Load, 'store' | 'onFile' | 'onProgress'>,
): Promise<number> {
  const terminal = createTerminal(process.stdout);
  terminal.line(`Backfill of ${titleOf(source)} into ${target}`);
  for (const text of passedOverText(source)) terminal.line(text);
  // The next start of a service with files of known ids would not read the ids of events stored earlier.
  const store = createBatchStore(clickhouse, {
    acceptedFrom: await recordedUpTo(clickhouse),
    // A sandbox clock is at any time its service has moved it to, so events stored by that service cannot be followed.
    others: clickhouseUrl === undefined ? 'none' : sandboxNow === undefined ? 'followed' : 'unknown',
  });
  const startedMs = performance.now();
  const bar = createProgress(terminal, { unit: 'lines', total: null });
  try {
    const loaded = await loadSource({
      ...work,
      store,
      onFile(file, from, place) {
        const name = source.isFile
          ? ''
          : `${file.name} (${formatCount(place + 1)} of ${formatCount(source.files.length)}): `;
        for (const text of beginningText(from, unitOf(file))) {
          bar.end();
          terminal.line(`${name}${text}`);
        }
      },
      onProgress: (lines, fraction) => bar.advance(lines, fraction),
    });
    bar.end();
    for (const text of findingsText(loaded)) terminal.line(text);
    terminal.line(summary(loaded, source, (performance.now() - startedMs) / 1000, options));
    return loaded.skipped > 0 || loaded.isReported ? EXIT.completeWithSkipped : EXIT.complete;
  } finally {
    bar.end();
  }
}

function titleOf({ name, isFile, files }: Source): string {
  return isFile ? name : `${formatCount(files.length)} files of ${name}`;
}

function passedOverText({ passedOver }: Source): string[] {
  const [first] = passedOver;
  if (first === undefined) return [];
  const count = formatCount(passedOver.length);
  return [
    `${count} files have names of another kind and are passed over, such as ${first} (--format takes them too).`,
  ];
}

function beginningText(from: SavedProgress | 'outdated', unit: string): string[] {
  if (from === 'outdated') {
    return [
      `The file, how it is read, or where it goes, has changed since the last run: beginning at the first ${unit}.`,
    ];
  }
  return from.line === 0
    ? []
    : [`Going on after ${unit} ${formatCount(from.line)}, where the last run ended.`];
}

/** The first signal lets the running batch end; the second ends the process. */
function nextSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop);
  return controller.signal;
}

function fixedClock(at: number) {
  return { now: () => at };
}

/** Reports how many rows were stored that are probably wrong. */
function findingsText({ unread, contradicting }: Loaded): string[] {
  const has = (count: number, one: string, many: string) =>
    `${formatCount(count)} ${count === 1 ? one : many}`;
  return [
    ...(unread.count === 0
      ? []
      : [
          `${has(unread.count, 'value is a number that no metric reads', 'values are numbers that no metric reads')}, such as ${unread.example}: write 1234.5, without groups and with a point.`,
        ]),
    ...(contradicting.count === 0
      ? []
      : [
          `${has(contradicting.count, 'row has', 'rows have')} the id of another event and other content, such as ${contradicting.example}: the first one counts.`,
        ]),
  ];
}

function summary(
  { lines, stored, duplicates, skipped, leftOut, files, filesBefore }: Loaded,
  { isFile }: Source,
  seconds: number,
  options: BackfillOptions,
): string {
  const parts = [
    `${formatCount(stored)} events stored, ${formatCount(duplicates)} were there already`,
    ...(leftOut === 0 ? [] : [`${formatCount(leftOut)} rows left out by the mapping`]),
    ...(skipped === 0
      ? []
      : [`${formatCount(skipped)} invalid lines skipped (${options.reportFile ?? 'by an earlier run'})`]),
  ];
  const before =
    filesBefore === 0 ? '' : `, ${formatCount(filesBefore)} were loaded before (--restart reads them again)`;
  return (
    `Done: ${parts.join(', ')}.\n${isFile ? '' : `${formatCount(files)} files${before}. `}` +
    `${formatCount(lines)} lines in ${formatSeconds(seconds)}, ${formatCount(lines / Math.max(seconds, 1e-3))}/s.`
  );
}
