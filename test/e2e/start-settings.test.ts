import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { SETTINGS } from '../../src/config.ts';
import { memoryOfProcess } from '../../src/core/process-memory.ts';
import { type Program, runCommand, runProgram } from '../support/child-process.ts';
import { limitedMemory } from '../support/limited-memory.ts';
import { createTestDirectory } from '../support/stores.ts';

const settingsSchema = z.object({ JE_MALLOC_CONF: z.string(), UV_THREADPOOL_SIZE: z.string() });

const START = [
  process.execPath,
  ...['--require', './test/support/programs/tell-settings.cjs', 'dist/tallyhouse.cjs', 'start'],
];

/** The settings of a start that ends at once, because its port is none. */
async function settingsOf(begun: Program | undefined) {
  expect(await begun?.ended).toBe(1);
  return settingsSchema.parse(JSON.parse(begun?.stdout() ?? ''));
}

const settingsOfStart = (environment: Readonly<Record<string, string>> = {}) =>
  settingsOf(runCommand(process.execPath, START.slice(1), { PORT: 'none', ...environment }));

/** The settings that its allocator reports. */
async function allocatorWith(settings: string): Promise<unknown> {
  const program = runProgram('test/support/programs/tell-allocator.ts', [
    settings,
    await createTestDirectory(),
  ]);
  expect(await program.ended).toBe(0);
  return JSON.parse(program.stdout());
}

const GIVES_BACK = { pages: 'default', kept_ms: '500' };
const KEEPS = { pages: 'always', kept_ms: '20000' };

it('the start gives the embedded ClickHouse worker threads and memory that is kept, in a way its allocator takes', async () => {
  const settings = await settingsOfStart();
  expect(settings.UV_THREADPOOL_SIZE).toBe('16');
  const isLittle = memoryOfProcess() < 4 * 1024 ** 3;
  expect(await allocatorWith(settings.JE_MALLOC_CONF)).toEqual(isLittle ? GIVES_BACK : KEEPS);
});

const little = limitedMemory(2_000);
afterAll(() => little?.remove());

it.skipIf(little === null)(
  'the start gives memory back soon in a container with less than 4 GB',
  async () => {
    const settings = await settingsOf(little?.run(START, { PORT: 'none' }));
    expect(await allocatorWith(settings.JE_MALLOC_CONF)).toEqual(GIVES_BACK);
  },
);

it('the start leaves what the operator has set', async () => {
  const own = { JE_MALLOC_CONF: 'dirty_decay_ms:5000', UV_THREADPOOL_SIZE: '8' };
  expect(await settingsOfStart(own)).toEqual(own);
});

const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runCommand(process.execPath, ['dist/tallyhouse.cjs', 'start', ...args], environment);

it.each(['--help', '-h'])('the start shows every setting and starts nothing with %s', async (option) => {
  // A setting that cannot be used is no obstacle to reading how it is used.
  const help = start([option], { PORT: 'none' });
  expect([await help.ended, help.stderr()]).toEqual([0, '']);
  for (const { name, meaning } of SETTINGS) {
    expect(help.stdout()).toContain(`\n  ${name}`);
    expect(help.stdout().replaceAll(/\s+/g, ' ')).toContain(meaning);
  }
});

it('the start refuses any other argument, which would be ignored', async () => {
  const refused = start(['--port=8080']);
  expect([await refused.ended, refused.stdout()]).toEqual([2, '']);
  expect(refused.stderr()).toBe(
    'tallyhouse start: there is no argument --port=8080: settings are environment variables (tallyhouse start --help)\n',
  );
});

it('the start names a misspelt setting in the log and on standard error of commands, and not its value', async () => {
  const misspelt = { GRACE_PERIOD_HOUR: '4711', DATA_DIR: await createTestDirectory() };
  const line = 'GRACE_PERIOD_HOUR is not a setting and is ignored: did you mean GRACE_PERIOD_HOURS?';
  const started = start([], { ...misspelt, DATABASE_URL: 'postgres://127.0.0.1:1/x', PORT: '0' });
  expect(await started.ended).toBe(1);
  const [record = '{}'] = started.stderr().split('\n');
  expect(JSON.parse(record)).toMatchObject({ level: 40, msg: line });
  const command = runCommand(process.execPath, ['dist/tallyhouse.cjs', 'token', 'list'], misspelt);
  await command.ended;
  expect(command.stderr()).toContain(line);
  expect(`${started.stderr()}${command.stderr()}`).not.toContain('4711');
});
