/** Notes which packages are in the files of the guide, with their licences, for the package's list of them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserConfig } from 'vitepress';

type Plugin = NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number];

const LICENCE = /^licen[cs]e(?:[.-].*)?$/i;

/** Writes to the file of the environment variable `GUIDE_BUNDLED`, if it is set. */
export function bundledPackagesPlugin(): Plugin {
  const folders = new Set<string>();
  return {
    name: 'bundled-packages',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
          if (renderedLength === 0) continue;
          const folder = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (folder !== undefined) folders.add(folder);
        }
      }
    },
    closeBundle() {
      const file = process.env.GUIDE_BUNDLED;
      if (file === undefined || folders.size === 0) return;
      const described = [...folders].sort().map(describe);
      writeFileSync(file, `${JSON.stringify(described, null, 2)}\n`);
    },
  };
}

function describe(folder: string) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => LICENCE.test(each));
  const text = file === undefined ? null : readFileSync(join(folder, file), 'utf8');
  return { name, version, identifier: license ?? null, text };
}
