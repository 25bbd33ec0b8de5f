/**
 * Records in DATA_DIR/backfill how far a file was loaded. Safe to lose: stored events are skipped when they are read
 * again. Ignored if the file or the ClickHouse has changed.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonOrNull } from '../../../core/json-or-null.ts';
import type { StoredFile } from './files/input-file.ts';
import { NOTHING_FOUND } from './findings.ts';

const finding = z.object({ count: z.number(), example: z.string().nullable() }).default(NOTHING_FOUND);

const savedProgress = z.object({
  version: z.literal(2),
  name: z.string(),
  fileVersion: z.string(),
  target: z.string(),
  reading: z.string(),
  offset: z.number().int().min(0),
  line: z.number().int().min(0),
  stored: z.number(),
  duplicates: z.number(),
  skipped: z.number(),
  leftOut: z.number(),
  /** Values that people read as numbers, and no metric does. */
  unread: finding,
  /** Rows that have the id of another event, and other content. */
  contradicting: finding,
  /** The report of invalid lines so far: after a crash, everything after this length is written again. */
  report: z.object({ path: z.string(), bytes: z.number().int().min(0) }).nullable(),
});

/** How far the file is loaded, and the number of lines by outcome. */
export type SavedProgress = Pick<
  z.infer<typeof savedProgress>,
  'offset' | 'line' | 'stored' | 'duplicates' | 'skipped' | 'leftOut' | 'unread' | 'contradicting' | 'report'
>;

export const NOTHING_DONE: SavedProgress = {
  offset: 0,
  line: 0,
  stored: 0,
  duplicates: 0,
  skipped: 0,
  leftOut: 0,
  unread: NOTHING_FOUND,
  contradicting: NOTHING_FOUND,
  report: null,
};

/** In DATA_DIR. */
export const PROGRESS_FOLDER = 'backfill';

export interface ProgressFile {
  /** The state saved by an earlier run for this file and ClickHouse; 'outdated' if one of them has changed. */
  load(): Promise<SavedProgress | 'outdated' | null>;
  save(progress: SavedProgress): Promise<void>;
  remove(): Promise<void>;
}

/** `target` names the ClickHouse, without any secret; `reading` changes if rows become other events. */
export function createProgressFile(
  dataDir: string,
  file: Pick<StoredFile, 'name' | 'version'>,
  target: string,
  reading = '',
): ProgressFile {
  const folder = join(dataDir, PROGRESS_FOLDER);
  const path = join(folder, `${digestOf(file.name)}.json`);
  const identity = { version: 2 as const, name: file.name, fileVersion: file.version, target, reading };
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text === null) return null;
      const parsed = savedProgress.safeParse(jsonOrNull(text));
      if (!parsed.success) return 'outdated';
      const {
        version,
        name,
        fileVersion,
        target: savedTarget,
        reading: savedReading,
        ...progress
      } = parsed.data;
      const saved = { version, name, fileVersion, target: savedTarget, reading: savedReading };
      return JSON.stringify(saved) === JSON.stringify(identity) ? progress : 'outdated';
    },
    async save(progress) {
      await mkdir(folder, { recursive: true });
      // Written to another file and renamed, so that it is never incomplete.
      await writeFile(`${path}.new`, JSON.stringify({ ...identity, ...progress }));
      await rename(`${path}.new`, path);
    },
    remove: () => rm(path, { force: true }),
  };
}

/** The file name for this subject. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
