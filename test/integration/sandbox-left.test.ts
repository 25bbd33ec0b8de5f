/** Data that were begun with SANDBOX_NOW, and a start without it. */
import { expect, test } from 'vitest';
import { createServiceClock, leftSandboxLine } from '../../src/jobs/service-clock.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

test('a start by the system clock says that the data are of a sandbox, and no other start does', async () => {
  const line = async (sandboxNow: number | null) =>
    await leftSandboxLine(db, await createServiceClock(db, sandboxNow));
  expect(await line(null)).toBeNull();
  expect(await line(Date.UTC(2026, 10, 20))).toBeNull();
  expect(await line(null)).toBe(
    'these are sandbox data, whose clock shows 2026-11-20T00:00:00.000Z; without SANDBOX_NOW the system clock counts',
  );
});
