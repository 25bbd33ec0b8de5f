import { expect, it } from 'vitest';
import { z } from 'zod';
import { runCommand, runProgram } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

const settingsSchema = z.object({ JE_MALLOC_CONF: z.string(), UV_THREADPOOL_SIZE: z.string() });

/** The settings of a start that ends at once, because its port is none. */
async function settingsOfStart(environment: Readonly<Record<string, string>> = {}) {
  const start = runCommand(
    process.execPath,
    ['--require', './test/support/programs/tell-settings.cjs', 'dist/start.cjs'],
    { PORT: 'none', ...environment },
  );
  expect(await start.ended).toBe(1);
  return settingsSchema.parse(JSON.parse(start.stdout()));
}

it('gives the embedded ClickHouse worker threads and memory that is kept, in a way its allocator takes', async () => {
  const settings = await settingsOfStart();
  expect(settings.UV_THREADPOOL_SIZE).toBe('16');
  const program = runProgram('test/support/programs/tell-allocator.ts', [
    settings.JE_MALLOC_CONF,
    await createTestDirectory(),
  ]);
  expect(await program.ended).toBe(0);
  expect(JSON.parse(program.stdout())).toEqual({ pages: 'always', kept_ms: '20000' });
});

it('leaves what the operator has set', async () => {
  const own = { JE_MALLOC_CONF: 'dirty_decay_ms:5000', UV_THREADPOOL_SIZE: '8' };
  expect(await settingsOfStart(own)).toEqual(own);
});
