/**
 * Fails when drizzle/ does not say what the tables of src/store/ say, or when its migrations are out of order.
 *
 * The migrator applies only what is newer than the last applied migration, so one with an older time
 * that is merged later would be skipped silently.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const problems = [];

const { entries } = JSON.parse(readFileSync(join(root, 'drizzle', 'meta', '_journal.json'), 'utf8'));
for (const [index, entry] of entries.entries()) {
  const before = entries[index - 1];
  if (before !== undefined && entry.when <= before.when)
    problems.push(`${entry.tag} is not later than ${before.tag}`);
}

// Inside the checkout, because the tool wants relative paths and resolves its imports from here.
const copy = mkdtempSync(join(root, 'node_modules', '.schema-drift-'));
try {
  cpSync(join(root, 'drizzle'), join(copy, 'drizzle'), { recursive: true });
  const config = join(copy, 'drizzle.config.json');
  const out = `./${relative(root, join(copy, 'drizzle'))}`;
  writeFileSync(config, JSON.stringify({ dialect: 'postgresql', schema: './src/store/*/*.tables.ts', out }));
  const tool = join(root, 'node_modules', 'drizzle-kit', 'bin.cjs');
  execFileSync(process.execPath, [tool, 'generate', '--config', relative(root, config), '--name', 'drift'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const made = readdirSync(join(copy, 'drizzle')).filter((name) => name.endsWith('_drift.sql'));
  for (const name of made) {
    problems.push(
      `the tables of src/store/ differ from drizzle/; run npm run schema:generate. Missing:\n${readFileSync(join(copy, 'drizzle', name), 'utf8')}`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}

for (const problem of problems) process.stderr.write(`schema drift: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
