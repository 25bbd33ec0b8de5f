import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { recordedCall } from '../../../support/recorded-calls.ts';

const script = async (shell: string) => (await recordedCall('completion', shell)).out;
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** The words that bash offers after these words, the last of which is being typed. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = spawnSync(
    'bash',
    [
      '-c',
      `eval "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tallyhouse; printf '%s\\n' "\${COMPREPLY[@]}"`,
      await script('bash'),
      'tallyhouse',
      ...words,
    ],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it.each([
    [['to'], ['token']],
    [
      ['token', ''],
      ['create', 'list', 'rotate', 'revoke', '--help'],
    ],
    [['token', 'create', '--s'], ['--scope']],
    [
      ['token', 'create', '--scope', ''],
      ['ingest', 'read', 'write'],
    ],
    [['token', 'create', '--name', 'token', '--sc'], ['--scope']],
    [['backfill', 'x.csv', '--format', 'p'], ['parquet']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '--help'],
    ],
    // Names of files come from the shell.
    [['sql', 'SELECT', '--output', ''], []],
  ])('%j offers %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it('completion in bash offers every command', async () => {
    const { out } = await recordedCall('--help');
    const [, list = ''] = /\nCommands:\n([\s\S]*?)\n\n/.exec(out) ?? [];
    const names = [...list.matchAll(/^ {2}(\S+)/gm)]
      .map(([, name]) => name)
      .filter((name) => name !== 'help');
    expect(names.length).toBeGreaterThan(9);
    expect(await offered('')).toEqual(expect.arrayContaining(names));
  });
});

describe('completion in other shells', () => {
  it.skipIf(!has('zsh'))('completion in other shells is a script that zsh reads', async () => {
    const said = spawnSync('zsh', ['-fc', `autoload -Uz compinit; compinit -D; ${await script('zsh')}`], {
      encoding: 'utf8',
    });
    expect([said.status, said.stderr]).toEqual([0, '']);
  });

  it.skipIf(!has('fish'))('completion in other shells offers commands and values in fish', async () => {
    const said = spawnSync(
      'fish',
      ['--no-config', '-c', `${await script('fish')}\ncomplete -C 'tallyhouse token create --scope '`],
      { encoding: 'utf8' },
    );
    expect([said.stdout.split('\n').filter((line) => line !== ''), said.stderr]).toEqual([
      ['ingest', 'read', 'write'].map((value) => expect.stringContaining(value)),
      '',
    ]);
  });
});
