/** Pages of the console ask operations of the API: the only SQL is what a person writes, and the examples of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';

const SOURCES = join(PACKAGE_ROOT, 'console/src');
/** Where a person writes SQL. */
const WRITTEN_BY_PEOPLE = ['pages/ask/ask.tsx', 'pages/metrics/definition.ts'];

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.gen.d.ts') && file !== 'api/resources.ts')
  .map((file) => ({ file, text: readFileSync(join(SOURCES, file), 'utf8') }));

function withStatement(text: string): boolean {
  return /\bSELECT\b[^;]{0,2000}?\bFROM\b/.test(text) || /['"`]POST \/v1\/sql['"`]/.test(text);
}

test('the console has no SQL text, and asks no SQL, outside the pages where a person writes it', () => {
  expect(files.length).toBeGreaterThan(100);
  const found = files.filter(({ text }) => withStatement(text)).map(({ file }) => file);
  expect(found.sort()).toEqual(WRITTEN_BY_PEOPLE);
});
