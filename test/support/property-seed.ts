/**
 * The seed of all random properties of a run. It is derived from the sources, so that every change tries other values,
 * and the same sources give the same answer wherever they are tested.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCES = ['src', 'test'];

/** A whole number from 0 to 2^31 - 1. */
export async function propertySeed(root: string): Promise<number> {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const path of paths.sort()) hash.update(await readFile(path));
  }
  return hash.digest().readUInt32BE() >>> 1;
}
