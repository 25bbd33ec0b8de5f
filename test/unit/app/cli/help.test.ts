import { describe, expect, it } from 'vitest';
import { ACTIONS } from '../../../../src/app/cli/actions.ts';
import { createProgram, descendantsOf, pathOf } from '../../../../src/app/cli/program.ts';
import { VERSION } from '../../../../src/version.ts';
import { recordedCall } from '../../../support/recorded-calls.ts';

const nothing = () => {};
const program = createProgram(ACTIONS, nothing, { out: nothing, err: nothing });
const paths = descendantsOf(program).map((command) => pathOf(command).split(' ').slice(1));

/** The words after the name of the program in `source <(tallyhouse completion bash)` or `PORT=1 tallyhouse start`. */
function argumentsOf(line: string): string[] {
  const call = line.replace(/^.*?(?:^|[ (])tallyhouse /, '');
  const text = line.includes('<(') ? call.replace(/\)$/, '') : call.replace(/ \| source$/, '');
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

/** The command lines below "Examples:". */
function examplesOf(help: string): string[] {
  const [, block = ''] = /\nExamples:\n([\s\S]*?)\n\n/.exec(`${help}\n\n`) ?? [];
  return block
    .split('\n')
    .filter((line) => !line.startsWith('  #'))
    .map((line) => line.trim().replace(/ {3,}.*$/, ''));
}

describe('the help of every command', () => {
  it('the help of every command is there for the commands that the README names', () => {
    expect(paths.map((path) => path.join(' '))).toEqual(
      expect.arrayContaining(['start', 'demo', 'token create', 'token list', 'token rotate', 'token revoke']),
    );
  });

  it.each([[[]], ...paths.map((path) => [path])])(
    '%j says what it does, its examples and exit codes',
    async (path) => {
      const { code, out, err } = await recordedCall(...path, '--help');
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(new RegExp(`^Usage: ${['tallyhouse', ...path].join(' ')}\\b`));
      expect(out).toMatch(/\n\nExit code: 0 /);
      for (const line of out.split('\n').filter((each) => !each.startsWith('  ')))
        expect(line.length).toBeLessThanOrEqual(110);
      const examples = examplesOf(out);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const call = await recordedCall(...argumentsOf(example));
        expect([example, call.code, call.err]).toEqual([example, 0, '']);
      }
    },
  );
});

it('the program says its version', async () => {
  expect(await recordedCall('--version')).toMatchObject({ code: 0, out: `${VERSION}\n` });
});
