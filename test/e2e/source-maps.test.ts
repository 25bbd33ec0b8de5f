/** Stacks of the bundled service name the lines of its sources when Node is configured to read source maps. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

test('a stack names file, line and column of the source', () => {
  const [application = ''] = readdirSync(join(ROOT, 'dist')).filter((name) =>
    /^application-\w+\.js$/.test(name),
  );
  const program = `
    const { createApplication } = await import(process.argv[1]);
    await createApplication(null).catch(({ stack }) => process.stdout.write(stack));`;
  const args = [
    '--enable-source-maps',
    '--input-type=module',
    '-e',
    program,
    join(ROOT, 'dist', application),
  ];
  const stack = execFileSync(process.execPath, args, { encoding: 'utf8' });
  const [, line] = /\(?\S*\/src\/app\/application\/application\.ts:(\d+):\d+\)?$/m.exec(stack) ?? [];
  const source = readFileSync(join(ROOT, 'src/app/application/application.ts'), 'utf8').split('\n');
  expect(source[Number(line) - 1]).toMatch(/\S/);
  expect(source.slice(0, Number(line)).join('\n')).toContain('async function createApplication(');
});
