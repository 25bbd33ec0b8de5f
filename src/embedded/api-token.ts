/**
 * The API token of the first start: made once and kept in the data directory, readable by its owner
 * only. The service itself stores only a hash of it.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Reads or makes the token of `dataDir`. */
export async function firstToken(dataDir: string): Promise<{ readonly token: string }> {
  const path = join(dataDir, 'api-token');
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (kept.trim() !== '') return { token: kept.trim() };
  const token = `th_${randomBytes(24).toString('base64url')}`;
  // Written aside and renamed, so that a crash never leaves half a token.
  await writeFile(`${path}.new`, `${token}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { token };
}
