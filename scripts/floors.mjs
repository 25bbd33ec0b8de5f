/**
 * Checks the rules of .dependency-cruiser.mjs. The tool's own command refuses Node 20, its interface
 * works there: it finds the same imports as on later versions. Then looks for mechanisms outside src/runtime/.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import ruleSet from '../.dependency-cruiser.mjs';
import { mechanismProblems } from './mechanisms.ts';

const { output, exitCode } = await cruise(['src', 'test', 'bench', 'scripts', 'console'], {
  ...ruleSet.options,
  ruleSet,
  validate: true,
  outputType: 'err-long',
});
process.stdout.write(String(output));
const exceptions = JSON.parse(await readFile(new URL('mechanisms.json', import.meta.url), 'utf8'));
const problems = await mechanismProblems(fileURLToPath(new URL('..', import.meta.url)), exceptions);
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = exitCode === 0 && problems.length === 0 ? 0 : 1;
