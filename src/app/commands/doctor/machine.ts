/** Checks the requirements on the machine: Node, memory, and disk space for DATA_DIR. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Finding, fine, wrong } from './finding.ts';

const NODE_MIN = [20, 19] as const;
const MB = 1_000_000;
/** The service accepts no events below 64 MB; merges and invoice runs need more temporarily. */
const FREE_BYTES_WANTED = 1_000 * MB;
/** The maximum memory of one recent id (docs/explanation/deduplication.md). */
const BYTES_OF_RECENT_ID = 23.5;
/** The memory of the service and its embedded stores, without the ids. */
const BYTES_BESIDE_IDS = 600 * MB;

/** `version` without the v. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor, wantedMinor] = NODE_MIN;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return fine('Node', version);
  return wrong('Node', `${version} is too old: ${NODE_MIN.join('.')} or later is needed, 24 is recommended`);
}

/** `bytes`: the memory available to the process. */
export function checkMemory(recentIds: number, bytes: number): Finding {
  const needed = recentIds * BYTES_OF_RECENT_ID + BYTES_BESIDE_IDS;
  const text = `${mb(bytes)} for the process`;
  if (bytes >= needed) return fine('memory', text);
  return wrong(
    'memory',
    `${text}, and ${mb(needed)} are needed: ${recentIds} recent ids at up to ${BYTES_OF_RECENT_ID} bytes, and ${mb(BYTES_BESIDE_IDS)} for the rest; set KNOWN_IDS_RECENT lower`,
  );
}

/** `wantedBytes` is smaller in tests only. */
export async function checkDisk(
  dataDir: string,
  wantedBytes = FREE_BYTES_WANTED,
): Promise<readonly Finding[]> {
  const there = await nearestDirectory(dataDir);
  const isWritable = await access(there, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) return [wrong('disk', `DATA_DIR ${dataDir} cannot be written: ${there} refuses it`)];
  const { bavail, bsize } = await statfs(there);
  const free = bavail * bsize;
  if (free >= wantedBytes) return [fine('disk', `${mb(free)} are free for DATA_DIR ${dataDir}`)];
  return [
    wrong(
      'disk',
      `${mb(free)} are free for DATA_DIR ${dataDir}, and ${mb(wantedBytes)} should be: make room`,
    ),
  ];
}

/** DATA_DIR itself, or the nearest existing directory above it. */
async function nearestDirectory(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true || path === dirname(path)) return path;
  if (found !== null) throw new Error(`DATA_DIR ${path} is not a directory`);
  return await nearestDirectory(dirname(path));
}

function mb(bytes: number): string {
  return `${Math.floor(bytes / MB).toLocaleString('en-US')} MB`;
}
