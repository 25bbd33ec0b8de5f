/** Loads the files of a source one after the other, each from where an earlier run ended. */
import type { Clock } from '../../../core/clock.ts';
import { runBackfill } from './backfill.ts';
import type { DoneFiles } from './done-files.ts';
import { BackfillFailure, EXIT } from './failure.ts';
import type { InputFile } from './files/input-file.ts';
import type { Source } from './files/open-source.ts';
import { type Finding, NOTHING_FOUND, together } from './findings.ts';
import { type InvalidReport, openInvalidReport, type ReportPosition } from './invalid-report.ts';
import { createProgressFile, NOTHING_DONE, type ProgressFile, type SavedProgress } from './progress-file.ts';
import { type Reading, unitOf } from './rows/read-batches.ts';
import type { BatchStore } from './store-batch.ts';

export interface Load {
  readonly source: Source;
  readonly store: BatchStore;
  readonly clock: Clock;
  readonly dataDir: string;
  /** The ClickHouse, without any secret. */
  readonly target: string;
  readonly reading: Reading;
  readonly reportFile: string | null;
  readonly isRestart: boolean;
  /** Null for a single file, which is read again on each run. */
  readonly doneFiles: DoneFiles | null;
  readonly signal: AbortSignal;
  /** Called once before a file is read, with its start. */
  readonly onFile: (file: InputFile, from: SavedProgress | 'outdated', place: number) => void;
  /** Called after every batch: the number of its lines, and the fraction of the whole source that was read. */
  readonly onProgress: (lines: number, fraction: number) => void;
}

export interface Loaded {
  readonly lines: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly skipped: number;
  readonly leftOut: number;
  readonly unread: Finding;
  readonly contradicting: Finding;
  readonly files: number;
  /** Whether the report has lines, possibly from the earlier run that this one continues. */
  readonly isReported: boolean;
  /** Files loaded by an earlier run. */
  readonly filesBefore: number;
}

export async function loadSource(load: Load): Promise<Loaded> {
  const total = { lines: 0, stored: 0, duplicates: 0, skipped: 0, leftOut: 0, files: 0, filesBefore: 0 };
  const found = { unread: NOTHING_FOUND, contradicting: NOTHING_FOUND };
  const report = createOpenedReport(load);
  try {
    for (const [place, each] of load.source.files.entries()) {
      if (load.signal.aborted) {
        throw new BackfillFailure('interrupted; run the same again to continue from there', EXIT.interrupted);
      }
      const file = await each.open();
      const reading = readingText(load.reading, file);
      const progressFile = createProgressFile(load.dataDir, file, load.target, reading);
      if (load.doneFiles?.has(file) === true) {
        total.filesBefore += 1;
        // Left by a run that ended between the two steps.
        await progressFile.remove();
        continue;
      }
      const from = await startingPoint(load, file, progressFile, place, report.position());
      const opened = await report.open(from.report);
      const begun = await noted(from, opened, progressFile);
      const done = await loadFile(load, file, { place, from: begun, progressFile, report: opened });
      report.reached(done.report);
      await load.doneFiles?.add(file, done.report);
      await progressFile.remove();
      total.files += 1;
      total.lines += done.line - from.line;
      for (const count of ['stored', 'duplicates', 'skipped', 'leftOut'] as const)
        total[count] += done[count];
      for (const what of ['unread', 'contradicting'] as const)
        found[what] = together(found[what], done[what]);
    }
    await load.doneFiles?.complete();
    return { ...total, ...found, isReported: (report.position()?.bytes ?? 0) > 0 };
  } finally {
    await report.close();
  }
}

async function startingPoint(
  load: Load,
  file: InputFile,
  progressFile: ProgressFile,
  place: number,
  report: ReportPosition | null,
): Promise<SavedProgress> {
  const saved = load.isRestart ? null : await progressFile.load();
  const from = saved === null || saved === 'outdated' ? { ...NOTHING_DONE, report } : saved;
  load.onFile(file, saved === 'outdated' ? saved : from, place);
  return from;
}

/** A new report is recorded before anything is written to it, so that a continued run recognizes it. */
async function noted(
  from: SavedProgress,
  report: InvalidReport | null,
  progressFile: ProgressFile,
): Promise<SavedProgress> {
  if (report === null || from.report?.path === report.path) return from;
  const begun = { ...from, report: { path: report.path, bytes: 0 } };
  await progressFile.save(begun);
  return begun;
}

interface Step {
  readonly place: number;
  readonly from: SavedProgress;
  readonly progressFile: ProgressFile;
  readonly report: InvalidReport | null;
}

async function loadFile(
  load: Load,
  file: InputFile,
  { place, from, progressFile, report }: Step,
): Promise<SavedProgress> {
  let { line } = from;
  return await runBackfill({
    store: load.store,
    clock: load.clock,
    file,
    reading: load.reading,
    from,
    progressFile,
    report,
    onProgress(progress, fraction) {
      load.onProgress(progress.line - line, (place + fraction) / load.source.files.length);
      line = progress.line;
    },
    signal: load.signal,
  });
}

/** Opened at the first file that is read. It continues after the lines of the earlier run. */
function createOpenedReport({ reportFile, doneFiles, isRestart }: Load) {
  let opened: InvalidReport | null = null;
  let position = isRestart ? null : (doneFiles?.report ?? null);
  return {
    position: () => position,
    reached(at: ReportPosition | null) {
      position = at;
    },
    async open(earlier: ReportPosition | null): Promise<InvalidReport | null> {
      if (reportFile === null) return null;
      opened ??= await openInvalidReport(reportFile, earlier);
      return opened;
    },
    close: async () => await opened?.close(),
  };
}

/** Changes if the same rows would become other events. */
export function readingText({ mapping, delimiter }: Reading, { format }: Pick<InputFile, 'format'>): string {
  const { only, properties, ...rest } = mapping ?? { only: new Map(), properties: null };
  const parts = { ...rest, only: [...only], properties: properties === null ? null : [...properties] };
  return JSON.stringify([unitOf({ format }), delimiter, mapping === null ? null : parts]);
}
