/**
 * Packages that the build puts into files of dist/: those of the console and of the guide, as their builds name them,
 * and the viewer of the API reference. They are no dependencies of the package, but parts of it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from './lock.ts';

const described = z.object({
  name: z.string(),
  version: z.string(),
  identifier: z.string().nullable(),
  text: z.string().nullable(),
});
export type BundledPackage = z.output<typeof described> & { readonly where: string };

/** Written by scripts/build.mjs and scripts/guide.mjs. */
const BUILT = [
  { where: 'dist/console', file: 'dist/bundled/console.json' },
  { where: 'guide', file: 'guide/bundled.json' },
];

const vendored = z.object({ package: z.string(), version: z.string(), licence: z.string() });

export async function bundledPackages(): Promise<readonly BundledPackage[]> {
  const built = BUILT.map(async ({ where, file }) => {
    const packages = z.array(described).parse(JSON.parse(await readFile(join(ROOT, file), 'utf8')));
    return packages.map((each) => ({ ...each, where }));
  });
  return [...(await Promise.all(built)).flat(), await referenceViewer()];
}

async function referenceViewer(): Promise<BundledPackage> {
  const folder = join(ROOT, 'vendor/api-reference');
  const viewer = vendored.parse(JSON.parse(await readFile(join(folder, 'vendored.json'), 'utf8')));
  const text = await readFile(join(folder, 'LICENSE'), 'utf8');
  return {
    name: viewer.package,
    version: viewer.version,
    identifier: viewer.licence,
    text,
    where: 'dist/reference',
  };
}
