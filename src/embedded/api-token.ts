/**
 * The API token of the first start: generated once and stored in the data directory, readable by its owner only. The
 * service itself stores only a hash of it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Commands find the token there. */
export function tokenFileOf(dataDir: string): string {
  return join(dataDir, 'api-token');
}

/** Reads or creates the token of `dataDir`. */
export async function firstToken(dataDir: string): Promise<{ readonly token: string }> {
  const path = tokenFileOf(dataDir);
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (kept.trim() !== '') return { token: kept.trim() };
  const token = `th_${randomBytes(24).toString('base64url')}`;
  // Written to another file and renamed, so that a crash never leaves half a token.
  await writeFile(`${path}.new`, `${token}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { token };
}

/**
 * Replaces the token stored in `dataDir` by `text`, if `isFormer` is true for it. Returns whether it did. Synchronous,
 * so that a command can exit afterwards. Throws if the file cannot be written.
 */
export function replaceKeptToken(
  dataDir: string,
  isFormer: (kept: string) => boolean,
  text: string,
): boolean {
  const path = tokenFileOf(dataDir);
  const kept = keptText(path);
  if (kept === '' || !isFormer(kept)) return false;
  writeFileSync(`${path}.new`, `${text}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return true;
}

function keptText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
