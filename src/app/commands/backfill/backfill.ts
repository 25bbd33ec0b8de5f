/**
 * Loads a file of events: reads, checks and stores it, and records its progress, batch by batch. While one batch is
 * stored the next is read and checked. Does not print, start stores or end the process, nor delete the progress.
 */
import type { Clock } from '../../../core/clock.ts';
import { messageOf } from '../../../core/failures.ts';
import { ignoreFailure } from '../../../runtime/poll.ts';
import { type CheckedLines, checkLines, type InvalidLine } from './check-lines.ts';
import { BackfillFailure, EXIT, InputFailure } from './failure.ts';
import type { InputFile } from './files/input-file.ts';
import { findUnreadNumbers, together } from './findings.ts';
import type { InvalidReport } from './invalid-report.ts';
import type { ProgressFile, SavedProgress } from './progress-file.ts';
import { explainer, type LineBatch, type Reading, readBatches, unitOf } from './rows/read-batches.ts';
import type { BatchStore } from './store-batch.ts';

export interface Backfill {
  readonly store: BatchStore;
  readonly clock: Clock;
  readonly file: InputFile;
  /** Absent: without a mapping. */
  readonly reading?: Reading;
  /** The start: `NOTHING_DONE`, or the progress of an earlier run. */
  readonly from: SavedProgress;
  readonly progressFile: ProgressFile;
  /** The report of invalid lines; null: the first one ends the run. */
  readonly report: InvalidReport | null;
  /** Called after every batch with the fraction of the file that was read, from 0 to 1. */
  readonly onProgress: (progress: SavedProgress, fraction: number) => void;
  /** Ends the run after the running batch. */
  readonly signal: AbortSignal;
}

interface CheckedBatch extends CheckedLines, LineBatch {}

/**
 * Resolves with the total counts when the end of the file is stored. Throws `BackfillFailure` at the first invalid
 * line, if the file cannot be read any further, and if it was interrupted; everything before that is stored.
 */
export async function runBackfill(backfill: Backfill): Promise<SavedProgress> {
  const { file, from, clock, signal } = backfill;
  const explain = explainer(file, backfill.reading);
  let storing = Promise.resolve(from);
  try {
    for await (const { lines, fraction } of readBatches(file, from, backfill.reading)) {
      const checked = { ...checkLines(lines, clock.now(), explain), lines, fraction };
      const progress = await storing;
      if (signal.aborted) throw interrupted(file, progress);
      const [first] = checked.invalid;
      if (first !== undefined && backfill.report === null) {
        throw await stopAt(first, backfill, checked, progress);
      }
      storing = storeBatch(backfill, checked, progress);
      // Its failure is handled when it is awaited; until then the rejection must not end the process.
      storing.catch(ignoreFailure);
    }
  } catch (error) {
    if (!(error instanceof InputFailure)) throw error;
    const { line } = await storing;
    const stored = `Everything up to ${unitOf(file)} ${line} is stored`;
    throw new BackfillFailure(line === 0 ? error.message : `${error.message}\n${stored}`, error.exitCode);
  }
  const progress = await storing;
  await file.unchanged();
  return progress;
}

async function storeBatch(
  backfill: Backfill,
  batch: CheckedBatch,
  progress: SavedProgress,
): Promise<SavedProgress> {
  const last = batch.lines.at(-1);
  if (last === undefined) return progress;
  const outcome = await backfill.store.store(batch.events, backfill.clock.now()).catch((error: unknown) => {
    throw new BackfillFailure(
      `the events after ${unitOf(backfill.file)} ${progress.line} could not be stored: ${messageOf(error)}\n` +
        'Run the same again to continue from there',
    );
  });
  const report = (await backfill.report?.write(backfill.file.name, batch.invalid)) ?? progress.report;
  const reached = {
    offset: last.end,
    line: last.number,
    stored: progress.stored + outcome.stored,
    duplicates: progress.duplicates + outcome.duplicates,
    skipped: progress.skipped + batch.invalid.length,
    leftOut: progress.leftOut + batch.leftOut,
    unread: together(progress.unread, findUnreadNumbers(batch.events)),
    contradicting: together(progress.contradicting, outcome.contradicting),
    report,
  };
  await backfill.progressFile.save(reached);
  backfill.onProgress(reached, batch.fraction);
  return reached;
}

/** Stores the lines before the invalid one, so that a run continues there after the file is corrected. */
async function stopAt(
  { line, reason }: InvalidLine,
  backfill: Backfill,
  batch: CheckedBatch,
  progress: SavedProgress,
): Promise<BackfillFailure> {
  const lines = batch.lines.filter(({ number }) => number < line.number);
  const before = { ...checkLines(lines, backfill.clock.now()), lines, fraction: batch.fraction };
  await storeBatch(backfill, before, progress);
  const unit = unitOf(backfill.file);
  return new BackfillFailure(
    `${backfill.file.name}: ${unit} ${line.number} is not a valid event: ${reason}\n` +
      `Everything before it is stored. Correct the ${unit} and run the same again, or skip such ${unit}s with --skip-invalid REPORT.ndjson`,
    EXIT.invalidLine,
  );
}

function interrupted(file: InputFile, { line }: SavedProgress): BackfillFailure {
  return new BackfillFailure(
    `interrupted after ${unitOf(file)} ${line}; run the same again to continue from there`,
    EXIT.interrupted,
  );
}
