/** The embedded stores to move: those of a running or a stopped service. */

import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../../config.ts';
import { messageOf } from '../../../core/failures.ts';
import { formatInstant } from '../../../core/time.ts';
import { takeDataDirectory } from '../../../embedded/data-directory.ts';
import { DEFINITIONS_FILE, restoreDefinitions } from '../../../embedded/kept-definitions.ts';
import { type MoveRecord, writeMove } from '../../../embedded/move-record.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { withHeldMerges } from '../../../metering/client/held-merges.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import type { FrozenTables } from '../../backups/messages.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { linkedTablesOf, removeLinkedTables } from '../../move/linked-tables.ts';
import type { MoveReply, MoveRequest } from '../../move/messages.ts';
import { askMovedService, type MovedService } from '../../move/move-channel.ts';
import { createEmbeddedClickHouse, type Stores, startStores } from '../../stores/stores.ts';
import { requireWhole } from '../backup/verify-restored.ts';
import { databaseOfService } from '../token-command.ts';

export interface MoveSource {
  /** Whether a service uses the stores during the move. */
  readonly isRunning: boolean;
  connection(): Promise<PostgresConnection>;
  /** The tables with every event acknowledged so far. Close it before calling again. */
  openTables(names: readonly string[]): Promise<OpenTables>;
  /** Stops accepting changes and events, until `close` or permanently. */
  hold(): Promise<void>;
  /**
   * Abandons the embedded stores, which is on disk when this resolves. Throws if something may have been accepted since
   * `hold`.
   */
  leave(record: MoveRecord): Promise<void>;
  close(): Promise<void>;
}

export async function openSource(config: Config): Promise<MoveSource> {
  const service = await askMovedService(config.dataDir).catch(() => null);
  return service === null ? await stoppedSource(config) : runningSource(config, service);
}

function runningSource(config: Config, service: MovedService): MoveSource {
  const ask = async (asked: MoveRequest): Promise<Exclude<MoveReply, { refused: string }>> => {
    const answer = await service.ask(asked).catch((error: unknown) => {
      throw new CommandFailure(`the service does not answer: ${messageOf(error)}`);
    });
    if ('refused' in answer) throw new CommandFailure(`the service refuses the move: ${answer.refused}`);
    return answer;
  };
  return {
    isRunning: true,
    connection: () => databaseOfService(config),
    async openTables(names) {
      const answer = await ask({ ask: 'freeze' });
      if (!('frozen' in answer)) throw new Error('the service has answered something else');
      return await openFrozenTables(config, answer.frozen satisfies FrozenTables, names);
    },
    hold: async () => {
      await ask({ ask: 'hold' });
    },
    leave: async ({ id }) => {
      await ask({ ask: 'leave', id });
    },
    close: async () => service.close(),
  };
}

/** No other process can open the stores while this one has DATA_DIR. */
async function stoppedSource(config: Config): Promise<MoveSource> {
  const taken = await takeDataDirectory(config.dataDir);
  try {
    const stores = await wholeStores(config);
    return {
      isRunning: false,
      connection: () => databaseOfService(config),
      // Events in the log are included when the table is read.
      openTables: async () => ({ clickhouse: stores.clickhouse, close: async () => {} }),
      hold: async () => {},
      leave: (record) => writeMove(config.dataDir, { ...record, movedAt: formatInstant(Date.now()) }),
      close: async () => {
        await stores.close();
        await taken.release();
      },
    };
  } catch (error) {
    await taken.release();
    throw error;
  }
}

async function wholeStores(config: Config): Promise<Stores> {
  const stores = await startStores(config, { holdMerges: true });
  try {
    await requireWhole(stores);
    return stores;
  } catch (error) {
    await stores.close();
    throw error;
  }
}

interface OpenTables {
  readonly clickhouse: ClickHouse;
  close(): Promise<void>;
}

/**
 * The frozen tables of a running service, opened by an engine of this process over hard links, so that they take no
 * space, and the service's own engine is not used. Nothing is merged, and nothing is written to the parts. Only the
 * named tables have their rows.
 */
async function openFrozenTables(
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
