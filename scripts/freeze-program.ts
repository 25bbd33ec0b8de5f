/**
 * `npm run freeze-program` keeps the program of this version in `test/frozen/program-x.y.z.json.gz`, for the test that the
 * next one can take its place process by process (docs/explanation/upgrades.md). It is the service alone: no console,
 * no commands. Migrations are kept by name, because their files never change; packages are those of the checkout that
 * runs it.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = process.cwd();
/** As scripts/build.mjs has them; without the commands and the demo. */
const PROGRAMS = [
  'main.ts',
  'metering/ingest/known-ids/merging-thread.ts',
  'metering/ingest/known-ids/reading-thread.ts',
  'metering/sql/read/reading-thread.ts',
];

const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const { outputFiles } = await build({
  entryPoints: PROGRAMS.map((name) => join(ROOT, 'src', name)),
  outbase: join(ROOT, 'src'),
  outdir: join(ROOT, 'dist'),
  platform: 'node',
  target: 'node20',
  format: 'esm',
  bundle: true,
  splitting: true,
  minify: true,
  packages: 'external',
  write: false,
});
const sqlFiles = async (folder: string) =>
  (await readdir(join(ROOT, folder))).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
const program = {
  version,
  files: Object.fromEntries(outputFiles.map(({ path, text }) => [path.slice(ROOT.length + 1), text])),
  drizzle: (await sqlFiles('drizzle')).map((name) => name.replace(/\.sql$/, '')),
  clickhouse: await sqlFiles('clickhouse'),
};
const path = `test/frozen/program-${version}.json.gz`;
const bytes = gzipSync(JSON.stringify(program), { level: 9 });
await writeFile(join(ROOT, path), bytes);
process.stdout.write(`${path}: ${Math.ceil(bytes.length / 1024)} KB\n`);
