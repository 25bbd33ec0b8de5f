/** The file of lines that are not valid events, each with its number and its problem. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../../core/failures.ts';
import type { InvalidLine } from './check-lines.ts';
import { BackfillFailure, EXIT } from './failure.ts';
import type { SavedProgress } from './progress-file.ts';

/** The report, and its length. */
export type ReportPosition = NonNullable<SavedProgress['report']>;

export interface InvalidReport {
  readonly path: string;
  /** Resolves when the lines are on disk. */
  write(file: string, lines: readonly InvalidLine[]): Promise<ReportPosition>;
  close(): Promise<void>;
}

/**
 * Opens the report, which is new or has the lines of an earlier run, to which more are appended. Throws
 * `BackfillFailure` instead of overwriting a file of another program.
 */
export async function openInvalidReport(
  file: string,
  earlier: ReportPosition | null,
): Promise<InvalidReport> {
  const path = resolve(file);
  const isGoneOnWith = earlier?.path === path;
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT).catch((error: unknown) => {
    throw refusal(path, messageOf(error));
  });
  const { size } = await handle.stat();
  if (!isGoneOnWith && size > 0) {
    await handle.close();
    throw refusal(path, 'there is such a file already, which is not of this run');
  }
  return await reportBehind(handle, path, Math.min(isGoneOnWith ? earlier.bytes : 0, size));
}

async function reportBehind(handle: FileHandle, path: string, bytes: number): Promise<InvalidReport> {
  await handle.truncate(bytes);
  let length = bytes;
  return {
    path,
    async write(file, lines) {
      if (lines.length > 0) {
        const text = Buffer.from(lines.map((line) => reportLine(file, line)).join(''));
        await handle.write(text, 0, text.length, length);
        await handle.sync();
        length += text.length;
      }
      return { path, bytes: length };
    },
    close: () => handle.close(),
  };
}

function refusal(path: string, problem: string): BackfillFailure {
  return new BackfillFailure(`cannot write the report ${path}: ${problem}`, EXIT.usage);
}

function reportLine(file: string, { line, reason }: InvalidLine): string {
  const text = line.source?.() ?? (line.bytes === null ? null : line.bytes.toString('utf8'));
  return `${JSON.stringify({ file, line: line.number, reason, text })}\n`;
}
