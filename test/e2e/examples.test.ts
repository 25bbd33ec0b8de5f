/** The examples run as their page says, as often as one likes, and print the results. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const folder = join(import.meta.dirname, '../../examples');
const service = await serviceForFile({ sandboxNow: null });
const isInstalled = (program: string) =>
  spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0;

const EXAMPLES: readonly (readonly [file: string, command: readonly string[], printed: readonly string[]])[] =
  [
    [
      'typescript/ai-gateway.ts',
      [process.execPath, '--import', 'tsx'],
      ['large output: 3 thousand tokens, 4.5 cents', 'so far this month: 10.7 cents'],
    ],
    ['python/seats.py', ['python3'], ['total: 10002 cents', 'total: 14002 cents']],
    [
      'python/enterprise.py',
      ['python3'],
      ['USAGE: 36112.5 cents', 'SCHEDULED: 63887.5 cents', 'together: 100000.0 cents'],
    ],
    [
      'typescript/hold-fetch.ts',
      [process.execPath, '--import', 'tsx'],
      ['held 16 cents, billed 16', 'held 16 cents, billed 4', 'refused: balance, 14 cents are left'],
    ],
    [
      'typescript/hold-ai-sdk.ts',
      [process.execPath, '--import', 'tsx'],
      ['stopped after 4 steps: balance, 2 cents are left'],
    ],
    [
      'go/overage.go',
      ['go', 'run'],
      ['100 calls included applied: -50 cents', 'so far this month: 15 cents'],
    ],
    [
      'curl/prepaid.sh',
      ['bash'],
      ['bought: 5000 cents', 'after 500 images: 3000 cents', 'and the top-up: 5000 cents'],
    ],
  ];

it.for(EXAMPLES)('%s prints what it should, as often as it is run', async (example, { skip }) => {
  const [file, command, printed] = example;
  const [program = '', ...args] = command;
  const needed = program === 'bash' ? [program, 'curl'] : [program];
  for (const name of needed) skip(!isInstalled(name), `${name} is not installed`);
  const home: Record<string, string> = process.env.HOME === undefined ? {} : { HOME: process.env.HOME };
  const env = { ...home, TALLYHOUSE_URL: service.url, TALLYHOUSE_TOKEN: service.token };
  for (let time = 0; time < 2; time += 1) {
    const run = runCommand(program, [...args, join(folder, file)], env);
    const code = await run.ended;
    expect([code, run.stderr()]).toEqual([0, '']);
    for (const text of printed) expect(run.stdout()).toContain(text);
  }
});

it('the examples are all named on their page, with the command that runs them', async () => {
  const page = await readFile(join(folder, 'README.md'), 'utf8');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== 'README.md' && !entry.parentPath.endsWith('/support'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  expect(files.sort()).toEqual(EXAMPLES.map(([file]) => file).sort());
  for (const file of files) expect(page.split(file)).toHaveLength(4);
});
