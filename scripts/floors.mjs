/**
 * Checks the rules of import-rules.ts, looks for circles, for mechanisms outside src/runtime/, and for styles off the
 * scale of the console.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { scaleProblems } from './console-scale.ts';
import { RULES } from './import-rules.ts';
import { circlesOf, readImports, refusedImports } from './imports.ts';
import { mechanismProblems } from './mechanisms.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'));
const imports = await readImports(
  root,
  ['src', 'test', 'bench', 'scripts', 'console'],
  await readJson('../package.json'),
);
const problems = [
  ...refusedImports(imports, RULES).map(({ text }) => text),
  ...circlesOf(imports).map((files) => `a circle, by type too: ${files.join(' → ')}`),
  ...(await mechanismProblems(root, await readJson('mechanisms.json'))),
  ...(await scaleProblems(root)),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
