/** The files of a folder and the folders in it, in the order of their names. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../../core/failures.ts';
import { BackfillFailure, EXIT } from '../failure.ts';

/** More files indicate a wrong folder. */
const FILES_MAX = 1_000_000;

/** Paths of all files. Names that begin with a dot or an underscore are markers of the programs that write there. */
export async function filesOfFolder(folder: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch((error: unknown) => {
      throw new BackfillFailure(`cannot read ${next}: ${messageOf(error)}`, EXIT.usage);
    });
    for (const entry of entries) {
      if (isMarker(entry.name)) continue;
      const path = join(next, entry.name);
      // A link to a folder could form a cycle; one to a file is read as that file.
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) found.push(path);
    }
    if (found.length + folders.length > FILES_MAX) {
      throw new BackfillFailure(`${folder} has more than ${FILES_MAX} files`, EXIT.usage);
    }
  }
  return found.sort(byBytes);
}

export function isMarker(name: string): boolean {
  return name.startsWith('.') || name.startsWith('_');
}

/** Like the order of object stores. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
