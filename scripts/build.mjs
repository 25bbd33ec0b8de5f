/**
 * Bundles the programs of src/ into dist/, what they share in common files: a start reads a few files instead of a
 * thousand. Packages are not bundled. Vite builds console/ into dist/console/, with each file compressed beside it. With
 * --if-needed it does nothing when dist/ was built from exactly the present sources; a hash of their contents decides,
 * because a fresh checkout has arbitrary times. Nor does it where there are no sources, as in the image, whose dist/ was
 * built before. With --check it never builds, and fails when dist/ was built from others.
 *
 * The viewer of the API reference is unpacked into dist/reference/. Types are not checked here (`npm run typecheck`).
 * clickhouse/, drizzle/ and catalogue/ are read from the package root at run time, so they are not copied.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'dist', '.built-from');

/** Which packages are in the console, with their licences, as vite writes it. */
const BUNDLED = 'bundled.json';

/** Programs that are started by their names. Each lies in dist/ where its source lies in src/. */
const PROGRAMS = [
  'main.ts',
  'app/cli/main.ts',
  'demo/stop-with-parent.ts',
  'metering/ingest/known-ids/merging-thread.ts',
  'metering/ingest/known-ids/reading-thread.ts',
  'metering/sql/read/reading-thread.ts',
];

function sourcesHash() {
  const hash = createHash('sha256');
  const sources = ['src', 'console', 'vendor']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.gen.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of [...sources, 'package.json', 'tsconfig.json', 'scripts/build.mjs'].map((each) =>
    resolve(root, each),
  )) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}

async function bundle(outdir) {
  // An installation without development packages starts what is built.
  const { build } = await import('esbuild');
  const common = {
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    // Stacks need places only. With the text of src/, a process that reads maps would keep 17 MB more.
    sourcesContent: false,
    outbase: join(root, 'src'),
    outdir,
  };
  await build({
    ...common,
    entryPoints: PROGRAMS.map((name) => join(root, 'src', name)),
    bundle: true,
    splitting: true,
    format: 'esm',
    packages: 'external',
  });
  // Not ES modules: they have to be read before the others.
  await build({
    ...common,
    entryPoints: ['tallyhouse.cts', 'start.cts'].map((name) => join(root, 'src', name)),
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  });
}

async function bundleConsole(outdir, bundled) {
  const { build } = await import('vite');
  await build({
    configFile: join(root, 'console/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: outdir, emptyOutDir: true, license: { fileName: BUNDLED } },
  });
  // Not served: what the package says of parts of others (scripts/third-party.ts).
  mkdirSync(bundled, { recursive: true });
  renameSync(join(outdir, BUNDLED), join(bundled, 'console.json'));
  const files = readdirSync(outdir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.html'))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of files) {
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** The viewer of the API reference, unpacked beside its compressed form (scripts/vendor-reference.mjs). */
function unpackReference(outdir) {
  const vendored = join(root, 'vendor/api-reference');
  const { version, fileIntegrity } = JSON.parse(readFileSync(join(vendored, 'vendored.json'), 'utf8'));
  const packed = readFileSync(join(vendored, 'standalone.js.br'));
  const bytes = brotliDecompressSync(packed);
  const found = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  if (found !== fileIntegrity)
    throw new Error(`the viewer of the reference is ${found}, not ${fileIntegrity}`);
  mkdirSync(outdir, { recursive: true });
  const path = join(outdir, `standalone-${version}.js`);
  writeFileSync(path, bytes);
  writeFileSync(`${path}.br`, packed);
  writeFileSync(`${path}.gz`, gzipSync(bytes));
  writeFileSync(join(outdir, 'LICENSE'), readFileSync(join(vendored, 'LICENSE')));
}

const isBuiltElsewhere = existsSync(stamp) && !existsSync(join(root, 'src'));
const hash = isBuiltElsewhere ? null : sourcesHash();
const isCurrent = isBuiltElsewhere || (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash);
if (process.argv.includes('--check')) {
  process.exitCode = isCurrent ? 0 : 1;
} else if (!(process.argv.includes('--if-needed') && isCurrent)) {
  const fresh = join(root, `dist.${process.pid}`);
  try {
    // Built aside and renamed, so that a running service or a second build never sees half of it.
    await bundle(fresh);
    await bundleConsole(join(fresh, 'console'), join(fresh, 'bundled'));
    unpackReference(join(fresh, 'reference/assets'));
    writeFileSync(join(fresh, '.built-from'), hash);
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    renameSync(fresh, join(root, 'dist'));
  } catch (error) {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
