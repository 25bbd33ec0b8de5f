/** The embedded PostgreSQL of a running service ends and cannot be started again: the service ends and says why. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPostmaster } from '../../src/embedded/postmaster-file.ts';
import { startBillingProcess } from '../support/billing-process.ts';
import { createTestDirectory } from '../support/stores.ts';

test('a start without PostgreSQL ends after several attempts, with one line and exit code 1', async () => {
  const dataDir = join(await createTestDirectory(), 'data');
  const { program } = await startBillingProcess(null, dataDir, '2026-11-10T00:00:00Z');
  const files = join(dataDir, 'postgres', 'data');
  const postmaster = await readPostmaster(files);
  await rm(join(files, 'PG_VERSION'));
  process.kill(postmaster?.pid ?? 0, 'SIGKILL');
  expect(await program.ended).toBe(1);
  expect(program.stderr()).toMatch(
    /\ntallyhouse: the embedded PostgreSQL has ended and cannot be started again: [^\n]*PG_VERSION[^\n]*\n$/,
  );
});
