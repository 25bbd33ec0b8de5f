/** The directory of the package, from which files other than code are found in source and in a build. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The directory of package.json, above src/ and dist/ alike. */
export const PACKAGE_ROOT = packageRootAbove(import.meta.dirname);

/** The nearest directory with a package.json, from `directory` upwards. Throws if there is none up to the root. */
export function packageRootAbove(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (at === dirname(at)) {
      throw new Error(`no package.json in ${directory} or above it: the package is not complete`);
    }
  }
}
