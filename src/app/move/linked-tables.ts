/** The directory in which a move opens the tables that the service has kept. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** On the file system of the parts, which a link does not leave. */
export function linkedTablesOf(dataDir: string): string {
  return join(dataDir, 'clickhouse', 'moving');
}

/** That of a command that was killed: its links would keep parts on the disk that are merged meanwhile. */
export async function removeLinkedTables(dataDir: string): Promise<void> {
  await rm(linkedTablesOf(dataDir), { recursive: true, force: true });
}
