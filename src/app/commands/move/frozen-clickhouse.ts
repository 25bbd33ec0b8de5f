/**
 * The frozen tables of a running service, opened by an engine of this process over hard links, so that they take no
 * space, and the service's own engine is not used. Nothing is merged, and nothing is written to the parts.
 */
import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../../config.ts';
import { DEFINITIONS_FILE, restoreDefinitions } from '../../../embedded/kept-definitions.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { withHeldMerges } from '../../../metering/client/held-merges.ts';
import type { FrozenTables } from '../../backups/messages.ts';
import { linkedTablesOf, removeLinkedTables } from '../../move/linked-tables.ts';
import { createEmbeddedClickHouse } from '../../stores/stores.ts';

export interface OpenTables {
  readonly clickhouse: ClickHouse;
  close(): Promise<void>;
}

/** Only the named tables have their rows. */
export async function openFrozenTables(
  { dataDir, workerThreads }: Pick<Config, 'dataDir' | 'workerThreads'>,
  frozen: FrozenTables,
  names: readonly string[],
): Promise<OpenTables> {
  const directory = linkedTablesOf(dataDir);
  await removeLinkedTables(dataDir);
  const definitions = join(directory, DEFINITIONS_FILE);
  await mkdir(dirname(definitions), { recursive: true, mode: 0o700 });
  await copyFile(join(dataDir, 'clickhouse', DEFINITIONS_FILE), definitions);
  for (const { name, id } of frozen.tables) {
    if (!names.includes(name)) continue;
    const place = join('store', id.slice(0, 3), id);
    await linkFiles(join(frozen.directory, place), join(directory, 'data', place));
  }
  await restoreDefinitions(directory);
  const clickhouse = await withHeldMerges(await createEmbeddedClickHouse({ directory, workerThreads }));
  return {
    clickhouse,
    async close() {
      await clickhouse.close();
      await removeLinkedTables(dataDir);
    },
  };
}

/** The engine creates no directory for a table without rows. */
async function linkFiles(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  await mkdir(to, { recursive: true });
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFiles(source, target);
    else await link(source, target);
  }
}
