/**
 * Data of embedded PostgreSQLs that root stores in the shared state directory, because PostgreSQL's account cannot
 * enter their DATA_DIR. They remain when DATA_DIR is removed, so each records where it belongs.
 */
import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SHARED_STATE_DIRECTORY } from './postgres-binaries.ts';
import { isPostgresRunning, readPostmaster } from './postmaster-file.ts';

const PREFIX = 'data-';
const ORIGIN_FILE = 'origin';
/** A directory is created before the link to it, and the link before its record. */
const NEW_MS = 60_000;

export interface StrayData {
  readonly name: string;
  /** The link in its DATA_DIR at the last start; null: a version that did not record it. */
  readonly origin: string | null;
  readonly usedAt: Date;
}

/** Whether `home` is such a directory. */
export function isShared(home: string): boolean {
  return home.startsWith(join(SHARED_STATE_DIRECTORY, PREFIX));
}

/** Records which link leads to the data, which may have been moved with its DATA_DIR. */
export async function noteOrigin(home: string, link: string): Promise<void> {
  await writeFile(join(home, ORIGIN_FILE), `${link}\n`);
}

/** The data without a link at its recorded place, and not in use by a server; by name. */
export async function findStrayData(shared: string = SHARED_STATE_DIRECTORY): Promise<StrayData[]> {
  const names = await readdir(shared).catch(() => []);
  const found: StrayData[] = [];
  for (const name of names.filter((one) => one.startsWith(PREFIX)).toSorted()) {
    const home = join(shared, name);
    const origin = (await readFile(join(home, ORIGIN_FILE), 'utf8').catch(() => '')).trim() || null;
    const usedAt = await stat(home).then(
      ({ mtime }) => mtime,
      () => null,
    );
    if (usedAt === null || (await isUsed(home))) continue;
    if (origin === null ? isNew(usedAt) : await leadsTo(origin, home)) continue;
    found.push({ name, origin, usedAt });
  }
  return found;
}

/** Removes what `findStrayData` has found. */
export async function removeStrayData(
  { name }: StrayData,
  shared: string = SHARED_STATE_DIRECTORY,
): Promise<void> {
  await rm(join(shared, name), { recursive: true, force: true });
}

function isNew(usedAt: Date): boolean {
  return Date.now() - usedAt.getTime() < NEW_MS;
}

async function leadsTo(link: string, home: string): Promise<boolean> {
  const [target, real] = await Promise.all([realpath(link).catch(() => null), realpath(home)]);
  return target === real;
}

async function isUsed(home: string): Promise<boolean> {
  const postmaster = await readPostmaster(join(home, 'data'));
  return postmaster !== null && (await isPostgresRunning(postmaster.pid));
}
