/**
 * Detects that files of an embedded PostgreSQL changed while it did not run. The server itself detects few of these
 * damages: a table whose file was emptied is an empty table to it, and a page of zeros is an unused one.
 *
 * When the server has ended cleanly, the shell that runs it writes a list of its files with checksums
 * (postgres-server.ts), even if this process was killed before. The next start compares them. After a crash there is no
 * such list; the sizes of the previous list are still valid, because nothing makes a file shorter (`vacuum_truncate` is
 * off): files of tables removed since are distinguished by callers that can query the server (`Suspect`).
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './postgres-account.ts';
import { EmbeddedPostgresError } from './postgres-binaries.ts';
import { POSTGRES_ENVIRONMENT } from './postgres-cluster.ts';
import { isWholeControlFile } from './postgres-control-file.ts';

const run = promisify(execFile);

/** Reading more than this would slow starts and stops down: then only sizes of tables are compared. */
const SUMMED_KB_MAX = 262_144;

/**
 * Prints `checksum size path` of each file in the current directory, or the output of `ls -ln`, and `complete` at the
 * end. Files that the server creates again at each start are left out.
 */
export const LIST_FILES = `
list_files() {
  for place in PG_VERSION global pg_xact pg_multixact; do
    [ ! -e $place ] || find $place -type f ! -name pg_internal.init -exec cksum {} + || return 1
  done
  if [ "$(du -sk base | cut -f 1)" -le ${SUMMED_KB_MAX} ]; then
    find base -type f ! -name pg_internal.init -exec cksum {} +
  else
    find base -type f ! -name pg_internal.init -exec ls -ln {} +
  fi &&
  echo complete
}`;

/** Identifies the last run of the server, so that a late list is not mistaken for that of another run. */
const RUN = 'tallyhouse-run';
const LIST = 'tallyhouse-files-';
const LAST_LIST = `${LIST}before`;
const LIST_BYTES_MAX = 64 * 1024 * 1024;
const PAGE_BYTES = 8_192;
const CONTROL = 'global/pg_control';

/** A file that is shorter than before, or begins with an empty page; valid if its table has been removed. */
export interface Suspect {
  /** Below the data directory, as `pg_relation_filepath` names it; without the number of a further segment. */
  readonly path: string;
  readonly what: string;
}

/** The findings at a start. */
export interface FoundFiles {
  /** Name of the list that the shell writes when the server has ended. */
  readonly list: string;
  readonly suspects: readonly Suspect[];
}

/**
 * Compares the files with the list of the last run, before the server starts. Throws `EmbeddedPostgresError` if a file
 * has changed while no server ran.
 */
export async function checkFiles(dataDir: string, account: Account | undefined): Promise<FoundFiles> {
  const lastRun = await readFile(join(dataDir, RUN), 'utf8').catch(() => '');
  const atStop = await readList(join(dataDir, `${LIST}${lastRun.trim()}`));
  if (atStop !== null) {
    await compare(dataDir, atStop, account);
    await rename(join(dataDir, `${LIST}${lastRun.trim()}`), join(dataDir, LAST_LIST));
  }
  const suspects = atStop === null ? await suspectsOf(dataDir) : [];
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(LIST) && name !== LAST_LIST) await rm(join(dataDir, name), { force: true });
  }
  const id = randomUUID();
  // On a full disk the server may still start; its list is then not found.
  await writeFile(join(dataDir, RUN), id).catch(() => undefined);
  return { list: `${LIST}${id}`, suspects };
}

interface ListedFile {
  readonly size: number;
  /** Null in a list of sizes. */
  readonly sum: string | null;
}

type FileList = ReadonlyMap<string, ListedFile>;

/** Null if there is none, or it is incomplete. */
async function readList(path: string): Promise<FileList | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().endsWith('\ncomplete') ? parseList(text) : null;
}

const SUMMED = /^(\d+) (\d+) (\S+)$/;
const SIZED = /^-\S+\s+\d+\s+\d+\s+\d+\s+(\d+)\s.*\s(\S+)$/;
/** Tables and indexes with their forks, and the maps between files and relations. Temporary ones have other names. */
const KEPT = /(?:^|\/)(?:\d+(?:_[a-z]+)?(?:\.\d+)?|[\dA-F]{4,}|pg_filenode\.map|pg_control|PG_VERSION)$/;

function parseList(text: string): FileList {
  const files = new Map<string, ListedFile>();
  for (const line of text.split('\n')) {
    const [, sum, size, path] = SUMMED.exec(line) ?? [];
    const [, sizeOnly, sizedPath] = SIZED.exec(line) ?? [];
    if (path !== undefined && KEPT.test(path)) files.set(path, { size: Number(size), sum: sum ?? null });
    else if (sizedPath !== undefined && KEPT.test(sizedPath))
      files.set(sizedPath, { size: Number(sizeOnly), sum: null });
  }
  return files;
}

async function compare(dataDir: string, atStop: FileList, account: Account | undefined): Promise<void> {
  const now = parseList(await listedNow(dataDir, account));
  // An earlier version of this program starts the server without recording it, and a server changes this file first.
  const isSameControl = now.get(CONTROL)?.sum === atStop.get(CONTROL)?.sum;
  if (!isSameControl && (await isWholeControlFile(join(dataDir, CONTROL)))) return;
  const changed = [...atStop].flatMap(([path, before]) => {
    const what = changeOf(before, now.get(path));
    return what === null ? [] : [`${path} ${what}`];
  });
  if (changed.length === 0) return;
  const others = changed.length > 1 ? ` (and ${changed.length - 1} more)` : '';
  throw new EmbeddedPostgresError(
    `files of the embedded PostgreSQL were damaged while it was stopped: in ${dataDir}, ${changed[0]}${others}. ` +
      `Put ${dataDir} back from a backup; to start with what is left, remove ${join(dataDir, RUN)}`,
  );
}

/** A file that the disk cannot read is missing in the list. */
async function listedNow(dataDir: string, account: Account | undefined): Promise<string> {
  const options = { cwd: dataDir, env: POSTGRES_ENVIRONMENT, maxBuffer: LIST_BYTES_MAX, ...account };
  try {
    return (await run('/bin/sh', ['-c', `${LIST_FILES}\nlist_files`], options)).stdout;
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}

/** Null: it is unchanged. */
function changeOf(before: ListedFile, now: ListedFile | undefined): string | null {
  if (now === undefined) return 'is missing';
  if (now.size !== before.size) return `has ${now.size} bytes and had ${before.size}`;
  return now.sum !== null && before.sum !== null && now.sum !== before.sum ? 'has other content' : null;
}

/** By the list of an earlier run. */
async function suspectsOf(dataDir: string): Promise<Suspect[]> {
  const before = (await readList(join(dataDir, LAST_LIST))) ?? new Map<string, ListedFile>();
  const tables = [...before].filter(([path, { size }]) => size > 0 && /\/\d+(?:\.\d+)?$/.test(path));
  const found: Suspect[] = [];
  for (const [path, { size }] of tables) {
    const what = await shortage(join(dataDir, path), size);
    if (what !== null) found.push({ path: path.replace(/\.\d+$/, ''), what });
  }
  return found;
}

async function shortage(path: string, sizeMin: number): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return 'is missing';
  if (found.size < sizeMin) return `has ${found.size} bytes and had ${sizeMin}`;
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, 0);
    return buffer.every((byte) => byte === 0) ? 'begins with an empty page' : null;
  } finally {
    await file.close();
  }
}
