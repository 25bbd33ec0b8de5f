import { spawnSync } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientOperations } from '../support/client-operations.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runBlocks, runShell, shownBlocks } from '../support/shown-blocks.ts';
import { createTestDirectory } from '../support/stores.ts';

const root = join(import.meta.dirname, '../..');
const readme = await readFile(join(root, 'README.md'), 'utf8');
const clientPage = await readFile(join(root, 'docs/how-to/official-client.md'), 'utf8');
const [, tour = ''] = /## A tour in five minutes\n([\s\S]*?)\n## /.exec(readme) ?? [];
const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;
const hasJq = isInstalled('jq');

/** The tour, and after it the page whose program continues in the same shell. */
const blocks = [...shownBlocks(tour), ...shownBlocks(clientPage)];

const service = await serviceForFile({ sandboxNow: null });
let directory: string;

beforeAll(async () => {
  directory = await createTestDirectory();
  // The file that the page of the official client has the reader save in the checkout.
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(clientPage) ?? [];
  await writeFile(join(directory, 'tour.ts'), program);
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
});

/** Runs the tour against the service of this test. */
async function runTour() {
  const without = hasJq ? [] : ['jq() { cat > /dev/null; }'];
  const ran = await runBlocks([...without, ...blocks.map(({ commands }) => commands)], directory, {
    'http://127.0.0.1:3000': service.url,
    '$(cat .data/api-token)': service.token,
  });
  return { ...ran, outputs: ran.outputs.slice(without.length) };
}

/** The months of the example and of today are alike. */
const anyMonth = (text: string) => text.replaceAll(/\d{4}-\d{2}-01T00:00:00\.000Z/g, 'MONTH');

describe('the tour of the README', () => {
  it.skipIf(!isInstalled('curl'))(
    'the tour of the README and the program of the official client print what they show, as often as they are run',
    async () => {
      for (let run = 0; run < 2; run += 1) {
        const { outputs, stderr, ended } = await runTour();
        expect([ended, stderr]).toEqual([0, '']);
        expect(outputs).toHaveLength(blocks.length);
        for (const [index, { commands, printed }] of blocks.entries()) {
          if (printed === undefined || (commands.includes('jq') && !hasJq)) continue;
          expect(anyMonth(outputs[index] ?? '')).toBe(anyMonth(printed));
        }
      }
    },
  );

  it('the tour of the README stops where an answer has no id, and shows the answer', async () => {
    const helpers = blocks[0]?.commands ?? '';
    const script = `${helpers.replace('$(cat .data/api-token)', 'x')}\nX=$(echo '{"message":"name: is required"}' | id)\necho went on`;
    const { stdout, stderr, ended } = await runShell(script, directory);
    expect([stdout, ended]).toEqual(['', 'SIGINT']);
    expect(stderr).toContain('no id in: {"message":"name: is required"}');
  });
});

describe('the README', () => {
  it('the README says how many operations of the official client work', async () => {
    const shape = (method: string, path: string) =>
      `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
    const present = new Set(service.routes.map(({ method, path }) => shape(method, path)));
    const operations = await clientOperations();
    const works = operations.filter(({ method, path }) => present.has(shape(method, path)));
    expect(readme).toContain(`${works.length} of the client's ${operations.length} operations work`);
  });
});
