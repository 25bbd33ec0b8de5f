/** Where the package lies: its files that are not code are found from there, however deep this code is built. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The directory of package.json, above src/ and dist/ alike. */
export const PACKAGE_ROOT = rootAbove(import.meta.dirname);

function rootAbove(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : rootAbove(dirname(directory));
}
