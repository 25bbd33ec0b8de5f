import { readFile } from 'node:fs/promises';
import { satisfies } from 'semver';
import { expect, it } from 'vitest';
import { z } from 'zod';

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      engines: z.object({ node: z.string().optional() }).optional().catch(undefined),
    }),
  ),
});

it('every package takes the lowest Node that the README allows, also in development', async () => {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = lock.parse(JSON.parse(text));
  const lowest = `${/^>=(\d+\.\d+)$/.exec(packages['']?.engines?.node ?? '')?.[1]}.0`;
  const others = Object.entries(packages).filter(
    ([, { engines }]) => engines?.node !== undefined && !satisfies(lowest, engines.node),
  );
  expect([Object.keys(packages).length > 100, lowest]).toEqual([true, '20.19.0']);
  expect(others.map(([path]) => path)).toEqual([]);
});
