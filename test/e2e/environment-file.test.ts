/** Settings of a file: .env in the working directory, or the one that `--env-file` names. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/tallyhouse.cjs');
const TELL = join(import.meta.dirname, '../support/programs/tell-settings.cjs');

async function tallyhouse(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const program = runCommand(process.execPath, [PROGRAM, ...args], env, cwd);
  return { code: await program.ended, out: program.stdout(), err: program.stderr() };
}

/** Which DATA_DIR a command looks for the service in. */
async function dataDirOf(...call: Parameters<typeof tallyhouse>): Promise<string | undefined> {
  const { err } = await tallyhouse(...call);
  return /No tallyhouse is running on (\S+)\. /.exec(err)?.[1];
}

it('the settings file is read where it lies in the working directory, and the environment wins', async () => {
  const directory = await createTestDirectory();
  await writeFile(join(directory, '.env'), '# where the data are\nDATA_DIR=/from-file\n');
  expect(await dataDirOf(directory, {}, 'token', 'list')).toBe('/from-file');
  expect(await dataDirOf(directory, { DATA_DIR: '/from-environment' }, 'token', 'list')).toBe(
    '/from-environment',
  );
  // Empty counts as unset, and the environment still wins.
  expect(await dataDirOf(directory, { DATA_DIR: '' }, 'token', 'list')).toBe(join(directory, '.data'));
});

it.each([
  ['before the command', (file: string) => [`--env-file=${file}`, 'token', 'list']],
  ['behind it', (file: string) => ['token', 'list', '--env-file', file]],
])('the settings file is the one that is named %s, instead of .env', async (_, call) => {
  const directory = await createTestDirectory();
  await writeFile(join(directory, '.env'), 'DATA_DIR=/from-file\nLOG_LEVEL=none\n');
  await writeFile(join(directory, 'settings'), 'DATA_DIR="/from the named file"\n');
  const { err } = await tallyhouse(directory, {}, ...call('settings'));
  expect(err).toContain('No tallyhouse is running on /from the named file.');
});

it('the settings file decides about worker threads too, which are created before anything is loaded', async () => {
  const directory = await createTestDirectory();
  await writeFile(join(directory, '.env'), 'PORT=none\nUV_THREADPOOL_SIZE=7\n');
  const start = runCommand(process.execPath, ['--require', TELL, PROGRAM, 'start'], {}, directory);
  expect(await start.ended).toBe(1);
  expect(JSON.parse(start.stdout())).toMatchObject({ UV_THREADPOOL_SIZE: '7' });
  expect(start.stderr()).toContain('tallyhouse: PORT ');
});

it('the settings file that is named and cannot be read ends the call; a folder called .env is none', async () => {
  const directory = await createTestDirectory();
  const missing = await tallyhouse(directory, {}, 'token', 'list', '--env-file', 'nowhere');
  // Node 20 looks for the option after the script too, and ends with 9 before any code runs.
  const ends = process.version.startsWith('v20.') ? [2, 9] : [2];
  expect(ends).toContain(missing.code);
  expect(missing).toMatchObject({ out: '', err: expect.stringMatching(/\bnowhere\b/) });
  await mkdir(join(directory, '.env'));
  expect(await dataDirOf(directory, {}, 'token', 'list')).toBe(join(directory, '.data'));
});
