/**
 * The first API token: given by the configuration, or made once and kept in the data directory,
 * readable by its owner only. The service itself stores only a hash of it.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FirstToken {
  readonly token: string;
  /** True when it was made just now and the operator has not seen it yet. */
  readonly isNew: boolean;
}

/** Reads or makes the token of `dataDir`; a `configured` one wins and is not written to disk. */
export async function firstToken(dataDir: string, configured: string | undefined): Promise<FirstToken> {
  if (configured !== undefined) return { token: configured, isNew: false };
  const path = join(dataDir, 'api-token');
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (kept.trim() !== '') return { token: kept.trim(), isNew: false };
  const token = `th_${randomBytes(24).toString('base64url')}`;
  // Written aside and renamed, so that a crash never leaves half a token.
  await writeFile(`${path}.new`, `${token}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { token, isNew: true };
}
