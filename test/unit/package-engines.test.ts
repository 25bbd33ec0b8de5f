import { readFile } from 'node:fs/promises';
import { satisfies } from 'semver';
import { expect, it } from 'vitest';
import { z } from 'zod';

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      engines: z.object({ node: z.string().optional() }).optional().catch(undefined),
    }),
  ),
});

/** The tool of `npm run floors`, whose last version for Node 20 does not tell imports of types apart. It works there. */
const FOR_NEWER_NODE = [
  'node_modules/dependency-cruiser',
  'node_modules/dependency-cruiser/node_modules/commander',
  'node_modules/watskeburt',
];

it('every package takes the lowest Node that the README allows, but for one tool of development', async () => {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = lock.parse(JSON.parse(text));
  const lowest = `${/^>=(\d+\.\d+)$/.exec(packages['']?.engines?.node ?? '')?.[1]}.0`;
  const others = Object.entries(packages).filter(
    ([, { engines }]) => engines?.node !== undefined && !satisfies(lowest, engines.node),
  );
  expect([Object.keys(packages).length > 100, lowest]).toEqual([true, '20.19.0']);
  expect(others.map(([path]) => path).sort()).toEqual([...FOR_NEWER_NODE].sort());
  for (const [, { dev }] of others) expect(dev).toBe(true);
});
