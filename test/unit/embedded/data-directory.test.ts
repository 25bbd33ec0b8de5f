import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { DataDirectoryError, takeDataDirectory } from '../../../src/embedded/data-directory.ts';
import { runProgram } from '../../support/child-process.ts';
import { createTestDirectory } from '../../support/stores.ts';

const HOLDER = 'test/support/programs/hold-data-directory.ts';

let directory: string;

beforeEach(async () => {
  directory = join(await createTestDirectory(), 'parent', 'data');
});

const liveLocks = async () =>
  (await readdir(join(directory, 'lock'))).filter((name) => name.startsWith('in-use'));

describe('a data directory', () => {
  test('a data directory is created and can be taken again after it was let go', async () => {
    const first = await takeDataDirectory(directory);
    await first.release();
    const second = await takeDataDirectory(directory);
    await second.release();
    expect(await liveLocks()).toEqual([]);
  });

  test('a data directory is refused, in one line with the owner, while another process has it', async () => {
    const holder = runProgram(HOLDER, [directory]);
    await holder.said('held');
    const refusal = takeDataDirectory(directory);
    await expect(refusal).rejects.toBeInstanceOf(DataDirectoryError);
    await expect(refusal).rejects.toThrow(
      `DATA_DIR ${directory} is in use by another tallyhouse process (pid ${holder.child.pid})`,
    );
    holder.child.kill('SIGKILL');
    await holder.ended;
  });

  test('a data directory is free as soon as the process that had it was killed', async () => {
    const holder = runProgram(HOLDER, [directory]);
    await holder.said('held');
    holder.child.kill('SIGKILL');
    await holder.ended;
    const taken = await takeDataDirectory(directory);
    expect(await liveLocks()).toHaveLength(1);
    await taken.release();
  });

  test('a data directory goes to one contender at most when several try at the same time', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => takeDataDirectory(directory)));
    const winners = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(winners.length).toBeLessThanOrEqual(1);
    for (const winner of winners) await winner.release();
    const later = await takeDataDirectory(directory);
    await later.release();
  });

  test('a data directory works where its path is too long for a socket', async () => {
    const long = join(directory, 'x'.repeat(120));
    const first = await takeDataDirectory(long);
    await expect(takeDataDirectory(long)).rejects.toThrow('is in use by another');
    await first.release();
  });

  test('a data directory that cannot be created is refused in one line', async () => {
    await mkdir(join(directory, '..'), { recursive: true });
    await writeFile(directory, 'a file');
    await expect(takeDataDirectory(directory)).rejects.toThrow(/^cannot create DATA_DIR .*$/);
  });

  test('a data directory on a file system that takes none is refused, and does not keep the process busy', async () => {
    await expect(takeDataDirectory('/proc/tallyhouse/data')).rejects.toThrow(/^cannot create DATA_DIR .*$/);
  });
});
