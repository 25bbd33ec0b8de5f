/**
 * Entry of `npm run backfill`: arguments and environment in, progress and a summary out. docs/backfill.md
 * describes it. Standard output is for the summary, standard error for what went wrong.
 */
import { ConfigError } from '../../../config.ts';
import { systemClock } from '../../../core/clock.ts';
import { MigrationError } from '../../../core/migrations.ts';
import { EmbeddedClickHouseError } from '../../../embedded/chdb-engine.ts';
import { commandConfig } from '../command-config.ts';
import { formatCount, formatSeconds } from '../terminal/number-format.ts';
import { createProgress } from '../terminal/progress.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { runBackfill } from './backfill.ts';
import { BackfillFailure, EXIT, reasonOf } from './failure.ts';
import { type InputFile, openInput } from './input-file.ts';
import { openInvalidReport } from './invalid-report.ts';
import { openClickHouse } from './open-clickhouse.ts';
import { type BackfillOptions, HELP, parseOptions } from './options.ts';
import { createProgressFile, NOTHING_DONE, type ProgressFile, type SavedProgress } from './progress-file.ts';

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT.complete;
  }
  const config = commandConfig();
  const terminal = createTerminal(process.stdout);
  const signal = nextSignal();
  const file = await openInput(options.file);
  const { clickhouse, target, close } = await openClickHouse(config);
  try {
    terminal.line(`Backfill of ${file.path}${file.isGzip ? ' (gzip)' : ''} into ${target}`);
    const progressFile = createProgressFile(config.dataDir, file, target);
    const from = await startingPoint(options, progressFile, terminal);
    const report =
      options.reportFile === null ? null : await openInvalidReport(options.reportFile, from.report);
    const startedMs = performance.now();
    const fromFraction = file.isGzip ? 0 : fractionOf(from, file);
    const bar = createProgress(terminal, { unit: 'lines', total: null, fromFraction });
    let { line } = from;
    try {
      const done = await runBackfill({
        clickhouse,
        clock: config.sandboxNow === undefined ? systemClock : fixedClock(config.sandboxNow),
        file,
        from,
        progressFile,
        report,
        onProgress: (progress, fraction) => {
          bar.advance(progress.line - line, fraction);
          line = progress.line;
        },
        signal,
      });
      bar.end();
      terminal.line(summary(done, from, (performance.now() - startedMs) / 1000, options));
      return done.skipped > 0 ? EXIT.completeWithSkipped : EXIT.complete;
    } finally {
      bar.end();
      await report?.close();
    }
  } finally {
    await close();
  }
}

/** The first signal lets the batch under way end; the second ends the process. */
function nextSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop);
  return controller.signal;
}

async function startingPoint(
  options: BackfillOptions,
  progressFile: ProgressFile,
  terminal: Terminal,
): Promise<SavedProgress> {
  const saved = options.restart ? null : await progressFile.load();
  if (saved === null) return NOTHING_DONE;
  if (saved === 'outdated') {
    terminal.line('The file, or where it goes, has changed since the last run: beginning at the first line.');
    return NOTHING_DONE;
  }
  terminal.line(`Going on after line ${formatCount(saved.line)}, where the last run ended.`);
  return saved;
}

function fractionOf({ offset }: SavedProgress, { bytes }: InputFile): number {
  return bytes === 0 ? 0 : offset / bytes;
}

function fixedClock(at: number) {
  return { now: () => at };
}

function summary(
  done: SavedProgress,
  from: SavedProgress,
  seconds: number,
  options: BackfillOptions,
): string {
  const lines = done.line - from.line;
  const skipped =
    done.skipped === 0
      ? ''
      : `, ${formatCount(done.skipped)} invalid lines skipped (${options.reportFile ?? 'by an earlier run'})`;
  return (
    `Done: ${formatCount(done.stored)} events stored, ${formatCount(done.duplicates)} were there already${skipped}.\n` +
    `${formatCount(lines)} lines in ${formatSeconds(seconds)}, ${formatCount(lines / Math.max(seconds, 1e-3))}/s.`
  );
}

function exitCodeOf(error: unknown): number {
  if (error instanceof BackfillFailure) return error.exitCode;
  return error instanceof ConfigError ? EXIT.usage : EXIT.failed;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isExpected = [BackfillFailure, ConfigError, EmbeddedClickHouseError, MigrationError].some(
    (expected) => error instanceof expected,
  );
  const text = isExpected || !(error instanceof Error) ? reasonOf(error) : (error.stack ?? error.message);
  process.stderr.write(`backfill: ${text}\n`);
  process.exitCode = exitCodeOf(error);
}
