import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startBillingProcess } from '../support/billing-process.ts';
import { runProgram } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

it('the thread of SQL metrics does not keep a process alive that has read a query', async () => {
  const program = runProgram('test/support/programs/read-sql-metric.ts', []);
  expect(await program.ended).toBe(0);
  expect(program.stdout()).toBe('event_type');
});

it('the thread of SQL metrics reads queries in the built service as well', async () => {
  const directory = join(await createTestDirectory(), 'open');
  await mkdir(directory);
  const service = await startBillingProcess(null, join(directory, 'data'), '2026-11-01T00:00:00Z');
  try {
    const create = (sql: string) => service.call('/v1/billable-metrics/create', { name: 'By query', sql });
    expect((await create('SELECT COUNT(*) FROM events')).status).toBe(200);
    const refused = await create('SELECT COUNT(* FROM events');
    expect(refused.status).toBe(400);
    expect(refused.body).toContain('sql: ');
  } finally {
    await service.kill();
  }
});
