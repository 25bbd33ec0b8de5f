/**
 * The program of an earlier version, whole, as one file: what it does with data of today is tried, not derived. It was
 * bundled with `esbuild src/main.ts --bundle --platform=node --format=esm --packages=external --minify`, so it needs the
 * packages of this checkout. Its migrations are the first ones of today, which never change.
 */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { clickhouseFolderOf, drizzleFolderOf } from './migration-folders.ts';
import { createTestDirectory } from './stores.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Of commit 65cbf56, which has no check of the record of migrations. Returns the file to run. */
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
