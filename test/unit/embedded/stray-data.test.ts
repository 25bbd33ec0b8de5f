import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { strayDataCommand } from '../../../src/app/commands/stray-data-command.ts';
import { readPostmaster } from '../../../src/embedded/postmaster-file.ts';
import { noteOrigin } from '../../../src/embedded/stray-data.ts';
import { createTestDirectory } from '../../support/stores.ts';

const root = await createTestDirectory();
const shared = join(root, 'shared');

/** Data that lie in the shared directory, as they are an hour after `DATA_DIR` was created. */
async function data(name: string, { dataDir }: { readonly dataDir: string | null }): Promise<string> {
  const home = join(shared, name);
  await mkdir(join(home, 'data'), { recursive: true });
  await writeFile(join(home, 'data', 'PG_VERSION'), '18');
  if (dataDir !== null) {
    await mkdir(join(root, dataDir), { recursive: true });
    await symlink(home, join(root, dataDir, 'postgres'));
    await noteOrigin(home, join(root, dataDir, 'postgres'));
  }
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(home, hourAgo, hourAgo);
  return home;
}

it('data without DATA_DIR are listed, and removed by name; those in use, new or not known are left', async () => {
  expect(await strayDataCommand([], join(root, 'none'))).toEqual(['There are none.']);
  await data('data-used', { dataDir: 'kept' });
  await data('data-gone', { dataDir: 'gone' });
  await data('data-moved', { dataDir: 'moved' });
  await data('data-old', { dataDir: null });
  await mkdir(join(shared, 'data-new'));
  await mkdir(join(shared, 'postgres-18.4.0'));
  await rm(join(root, 'gone'), { recursive: true });
  await rm(join(root, 'moved'), { recursive: true });
  const server = await readPostmaster(join(inject('runDirectory'), 'postgres', 'data'));
  const served = await data('data-served', { dataDir: 'served' });
  await rm(join(root, 'served'), { recursive: true });
  // The server of the tests stands for one that serves these data.
  await writeFile(join(served, 'data', 'postmaster.pid'), `${server?.pid}\n`);

  const listed = await strayDataCommand([], shared);
  expect(listed.map((line) => line.split('  ').toSpliced(1, 1).join(' '))).toEqual([
    `data-gone ${join(root, 'gone', 'postgres')}`,
    `data-moved ${join(root, 'moved', 'postgres')}`,
    'data-old unknown DATA_DIR',
  ]);
  await expect(strayDataCommand(['data-used'], shared)).rejects.toThrow(/not among/);
  expect(await strayDataCommand(['data-gone'], shared)).toHaveLength(1);
  expect(await strayDataCommand(['all'], shared)).toHaveLength(1);
  expect(await readdir(shared)).toEqual(
    expect.arrayContaining(['data-new', 'data-old', 'data-served', 'data-used', 'postgres-18.4.0']),
  );
  expect(await readdir(shared)).toHaveLength(5);
});
