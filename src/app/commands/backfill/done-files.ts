/**
 * Records in DATA_DIR/backfill which files of a folder or address are loaded, so that a later run loads only the
 * others. Each file has a line, which is appended when all of the file is stored. The list is safe to lose.
 */
import { mkdir, open, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonOrNull } from '../../../core/json-or-null.ts';
import type { StoredFile } from './files/input-file.ts';
import type { ReportPosition } from './invalid-report.ts';
import { digestOf, PROGRESS_FOLDER } from './progress-file.ts';

const entry = z.union([
  z.object({
    file: z.string(),
    version: z.string(),
    report: z.object({ path: z.string(), bytes: z.number().int().min(0) }).nullable(),
  }),
  /** All files were loaded: the lines after this one belong to another run. */
  z.object({ run: z.literal('complete') }),
]);

export interface DoneFiles {
  has(file: Pick<StoredFile, 'name' | 'version'>): boolean;
  /** The report of invalid lines of a run that did not finish. */
  readonly report: ReportPosition | null;
  add(file: Pick<StoredFile, 'name' | 'version'>, report: ReportPosition | null): Promise<void>;
  /** All files were loaded. */
  complete(): Promise<void>;
}

/** `identity`: identifies the source, its target, and how it is read. Each identity has its own file. */
export async function openDoneFiles(
  dataDir: string,
  identity: readonly string[],
  isRestart: boolean,
): Promise<DoneFiles> {
  const folder = join(dataDir, PROGRESS_FOLDER);
  const path = join(folder, `${digestOf(JSON.stringify(identity))}.done`);
  if (isRestart) await rm(path, { force: true });
  const done = new Map<string, string>();
  let report: ReportPosition | null = null;
  let isComplete = true;
  for (const line of await completeLines(path)) {
    isComplete = 'run' in line;
    if ('run' in line) {
      report = null;
      continue;
    }
    done.set(line.file, line.version);
    report = line.report;
  }
  const write = async (line: z.infer<typeof entry>) => {
    await mkdir(folder, { recursive: true });
    const file = await open(path, 'a');
    try {
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  return {
    has: ({ name, version }) => done.get(name) === version,
    report,
    async add({ name, version }, at) {
      await write({ file: name, version, report: at });
      done.set(name, version);
      isComplete = false;
    },
    async complete() {
      if (!isComplete) await write({ run: 'complete' });
      isComplete = true;
    },
  };
}

/** Drops the incomplete line that a crash left, which is cut off so that the next line begins there. */
async function completeLines(path: string): Promise<z.infer<typeof entry>[]> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return [];
  const end = bytes.lastIndexOf('\n') + 1;
  if (end < bytes.length) await truncate(path, end);
  const texts = bytes.subarray(0, end).toString().split('\n').slice(0, -1);
  const parsed = texts.map((text) => entry.safeParse(jsonOrNull(text)));
  return parsed.flatMap((each) => (each.success ? [each.data] : []));
}
