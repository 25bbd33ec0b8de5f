/**
 * Remembers in DATA_DIR/backfill how far a file was loaded. Safe to lose: what is stored is left out when
 * it comes again. Ignored where the file or the ClickHouse is another one than it was.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { InputFile } from './input-file.ts';

const savedProgress = z.object({
  version: z.literal(1),
  path: z.string(),
  bytes: z.number(),
  modifiedMs: z.number(),
  target: z.string(),
  offset: z.number().int().min(0),
  line: z.number().int().min(0),
  stored: z.number(),
  duplicates: z.number(),
  skipped: z.number(),
  /** The report of invalid lines up to here: what a crash left behind that length is written again. */
  report: z.object({ path: z.string(), bytes: z.number().int().min(0) }).nullable(),
});

/** How far it is, and what became of the lines up to there. */
export type SavedProgress = Pick<
  z.infer<typeof savedProgress>,
  'offset' | 'line' | 'stored' | 'duplicates' | 'skipped' | 'report'
>;

export const NOTHING_DONE: SavedProgress = {
  offset: 0,
  line: 0,
  stored: 0,
  duplicates: 0,
  skipped: 0,
  report: null,
};

export interface ProgressFile {
  /** What an earlier run saved for this very file and ClickHouse; 'outdated' where one of them has changed. */
  load(): Promise<SavedProgress | 'outdated' | null>;
  save(progress: SavedProgress): Promise<void>;
  remove(): Promise<void>;
}

/** `target` names the ClickHouse, without any secret. */
export function createProgressFile(dataDir: string, file: InputFile, target: string): ProgressFile {
  const folder = join(dataDir, 'backfill');
  const path = join(folder, `${createHash('sha256').update(file.path).digest('hex').slice(0, 32)}.json`);
  const identity = {
    version: 1 as const,
    path: file.path,
    bytes: file.bytes,
    modifiedMs: file.modifiedMs,
    target,
  };
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text === null) return null;
      const parsed = savedProgress.safeParse(parseJson(text));
      if (!parsed.success) return 'outdated';
      const { version, path: savedPath, bytes, modifiedMs, target: savedTarget, ...progress } = parsed.data;
      const saved = { version, path: savedPath, bytes, modifiedMs, target: savedTarget };
      return JSON.stringify(saved) === JSON.stringify(identity) ? progress : 'outdated';
    },
    async save(progress) {
      await mkdir(folder, { recursive: true });
      // Written aside and renamed, so that there is never half of it.
      await writeFile(`${path}.new`, JSON.stringify({ ...identity, ...progress }));
      await rename(`${path}.new`, path);
    },
    remove: () => rm(path, { force: true }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
