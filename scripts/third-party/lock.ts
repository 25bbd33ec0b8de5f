/** The packages of others that an installation without development packages has, as the lockfile names them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

export const ROOT = join(import.meta.dirname, '../..');

export interface ThirdPartyPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json has it: an SPDX expression. */
  readonly licence: string | undefined;
  /** Where it is installed, below the root of the project. */
  readonly path: string;
}

const entry = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  /** Set for development packages that a production package would take if it were there. */
  devOptional: z.boolean().optional(),
  peer: z.boolean().optional(),
});
const lockfile = z.object({ packages: z.record(z.string(), entry) });

/** Every platform's, also those of platforms that this machine is not. Peer dependencies are the user's own. */
export async function productionPackages(): Promise<readonly ThirdPartyPackage[]> {
  const { packages } = lockfile.parse(JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')));
  return Object.entries(packages).flatMap(([path, { name, version, license, ...of }]) => {
    if (path === '' || version === undefined || of.dev || of.devOptional || of.peer) return [];
    const installedAs = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return [{ name: name ?? installedAs, version, licence: license, path }];
  });
}
