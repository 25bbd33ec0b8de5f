import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ACTIONS } from '../../../../src/app/cli/actions.ts';
import { createProgram } from '../../../../src/app/cli/program.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const nothing = () => {};
const names = createProgram(ACTIONS, nothing, { out: nothing, err: nothing }).commands.map((one) =>
  one.name(),
);
const manifest = z
  .object({ scripts: z.record(z.string(), z.string()), bin: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));

it.each(names.filter((name) => name !== 'completion'))('npm run %s is the command of this name', (name) => {
  expect(manifest.scripts[name]).toMatch(
    new RegExp(`^node scripts/build[.]mjs --if-needed && (?:exec )?node [^&]*dist/tallyhouse[.]cjs ${name}$`),
  );
});

it('npm start and the installed command give V8 the same options', async () => {
  const [, options] = /exec node (.*) dist\/tallyhouse/.exec(manifest.scripts.start ?? '') ?? [];
  const [first] = (await readFile(join(ROOT, 'src/tallyhouse.cts'), 'utf8')).split('\n');
  expect(manifest.bin).toEqual({ tallyhouse: 'dist/tallyhouse.cjs' });
  expect(first).toBe(`#!/usr/bin/env -S node ${options}`);
  // The limit of kernels before 5.1.
  expect(first?.length).toBeLessThan(127);
});

it('nothing but the entries of the program reads the command line', async () => {
  const readers: string[] = [];
  for (const entry of await readdir(join(ROOT, 'src'), { recursive: true })) {
    if (!/[.]c?ts$/.test(entry)) continue;
    const text = await readFile(join(ROOT, 'src', entry), 'utf8');
    if (/process[.]argv|parseArgs/.test(text)) readers.push(entry);
  }
  expect(readers.sort()).toEqual(['app/cli/main.ts', 'main.ts', 'start.cts', 'tallyhouse.cts']);
});
