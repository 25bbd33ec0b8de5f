/** The directory in which a move opens the frozen tables of the service. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** On the file system of the parts, as hard links require. */
export function linkedTablesOf(dataDir: string): string {
  return join(dataDir, 'clickhouse', 'moving');
}

/** Left by a killed command: its links would keep merged parts on the disk. */
export async function removeLinkedTables(dataDir: string): Promise<void> {
  await rm(linkedTablesOf(dataDir), { recursive: true, force: true });
}
