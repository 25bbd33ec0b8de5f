/**
 * The log of acknowledged events that ClickHouse does not have yet: an LMDB database in a directory of its own.
 *
 * A commit is whole or absent, also after a power cut: LMDB writes new pages, syncs them, and only then the page that
 * names them.
 */
import { mkdir } from 'node:fs/promises';
import type { EventLog } from '../metering/ingest/event-blocks.ts';
import { EmbeddedClickHouseError } from './chdb-engine.ts';

/**
 * Opens the log, which one process at a time may do. Throws `EmbeddedClickHouseError` where the optional package is not
 * installed.
 */
export async function openEventLog(directory: string): Promise<EventLog> {
  const { open } = await loadLmdb();
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const database = open<Buffer, number>({
    path: directory,
    encoding: 'binary',
    // Otherwise an append would resolve before its pages are synced.
    overlappingSync: false,
    cache: false,
  });
  return {
    async append(key, rows) {
      await database.put(key, rows);
    },
    *entries() {
      for (const { key, value } of database.getRange()) yield { key, rows: Buffer.from(value) };
    },
    async remove(keys) {
      await Promise.all(keys.map((key) => database.remove(key)));
    },
    close: () => database.close(),
  };
}

/** Loaded only here: a service with a ClickHouse server is installed without it. */
async function loadLmdb() {
  try {
    return await import('lmdb');
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n', 1).join('');
    throw new EmbeddedClickHouseError(
      `the log of events (package lmdb) cannot be loaded here; set CLICKHOUSE_URL to use a server: ${reason}`,
    );
  }
}
