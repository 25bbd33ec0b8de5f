/**
 * Programs of earlier versions, whole: what they do with data of today is tried, not derived. They need the packages of
 * this checkout. Their migrations are the first ones of today, which never change.
 *
 * The oldest is one file. It was bundled with `esbuild src/main.ts --bundle --platform=node --format=esm --packages=external --minify`.
 * The last release is what `npm run freeze-program` has kept.
 */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { clickhouseFolderOf, drizzleFolderOf } from './migration-folders.ts';
import { createTestDirectory } from './stores.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The program of commit 65cbf56, which has no check of the record of migrations. Returns the file to run. */
export async function unpackFrozenProgram(): Promise<string> {
  const directory = await createTestDirectory();
  const program = join(directory, 'dist/bundle/main.js');
  await mkdir(join(directory, 'dist/bundle'), { recursive: true });
  await writeFile(program, gunzipSync(await readFile(join(ROOT, 'test/frozen/program-65cbf56.js.gz'))));
  await writeFile(join(directory, 'dist/package.json'), '{"version":"0.1.0","type":"module"}');
  await cp(await drizzleFolderOf(['0000_initial']), join(directory, 'drizzle'), { recursive: true });
  const tables = ['0001_usage_events.sql', '0002_invoice_hourly_lines.sql', '0003_event_repeats.sql'];
  await cp(await clickhouseFolderOf(tables), join(directory, 'clickhouse'), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return program;
}

const frozenProgram = z.object({
  version: z.string(),
  files: z.record(z.string(), z.string()),
  drizzle: z.array(z.string()),
  clickhouse: z.array(z.string()),
});

/** The program of the last release. Returns the file to run. */
export async function unpackLastRelease(): Promise<string> {
  const frozen = join(ROOT, 'test/frozen');
  const [name] = (await readdir(frozen)).filter((file) => /^program-[\d.]+\.json\.gz$/.test(file));
  if (name === undefined) throw new Error('test/frozen has no program: npm run freeze-program');
  const text = gunzipSync(await readFile(join(frozen, name))).toString();
  const { version, files, drizzle, clickhouse } = frozenProgram.parse(JSON.parse(text));
  const directory = await createTestDirectory();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await writeFile(join(directory, 'package.json'), JSON.stringify({ ...manifest, version }));
  await cp(await drizzleFolderOf(drizzle), join(directory, 'drizzle'), { recursive: true });
  await cp(await clickhouseFolderOf(clickhouse), join(directory, 'clickhouse'), { recursive: true });
  for (const same of ['node_modules', 'catalogue']) await symlink(join(ROOT, same), join(directory, same));
  return join(directory, 'dist/main.js');
}
