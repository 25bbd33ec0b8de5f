/**
 * Compiles src/ into dist/. With --if-needed it does nothing when dist/ was made from exactly the
 * present sources; a hash of their contents decides, because a fresh checkout has arbitrary times. With
 * --check it never builds, and fails when dist/ was made from others.
 *
 * clickhouse/ and drizzle/ are read from the package root at run time, so they are not copied.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'dist', '.built-from');
const require = createRequire(import.meta.url);

function sourcesHash() {
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of [...sources, 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((each) =>
    resolve(root, each),
  )) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}

const hash = sourcesHash();
const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
if (process.argv.includes('--check')) {
  process.exitCode = isCurrent ? 0 : 1;
} else if (!(process.argv.includes('--if-needed') && isCurrent)) {
  const fresh = join(root, `dist.${process.pid}`);
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  try {
    // Built aside and renamed, so that a running service or a second build never sees half of it.
    execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh], {
      cwd: root,
      stdio: 'inherit',
    });
    writeFileSync(join(fresh, '.built-from'), hash);
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    renameSync(fresh, join(root, 'dist'));
  } catch {
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
