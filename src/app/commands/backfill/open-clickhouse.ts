/** Opens the ClickHouse of the service's configuration for a backfill, without any of its other parts. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../../config.ts';
import { messageOf } from '../../../core/failures.ts';
import { DataDirectoryError, takeDataDirectory } from '../../../embedded/data-directory.ts';
import { restoreDefinitions, whileDefinitionsChange } from '../../../embedded/kept-definitions.ts';
import { requireNotMoved } from '../../../embedded/move-record.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../../metering/client/clickhouse-remote.ts';
import { parseClickHouseUrl } from '../../../metering/client/clickhouse-url.ts';
import { USAGE_EVENTS_TABLE } from '../../../metering/ingest/encode-events.ts';
import { applySchema } from '../../../metering/schema/schema.ts';
import { withTakenUpEvents } from '../../stores/logged-clickhouse.ts';
import { createEmbeddedClickHouse } from '../../stores/stores.ts';
import { BackfillFailure } from './failure.ts';

export interface OpenClickHouse {
  readonly clickhouse: ClickHouse;
  /** Identifies it for people, without any secret. */
  readonly target: string;
  /** Changes if ClickHouse was emptied and created again at the same place. */
  readonly identity: string;
  close(): Promise<void>;
}

export type BackfillConfig = Pick<
  Config,
  'dataDir' | 'clickhouseUrl' | 'clickhouseCluster' | 'workerThreads'
>;

/**
 * The embedded one belongs to one process, so its directory is locked while it is open. Throws `BackfillFailure` if the
 * service has it, or a server does not respond.
 */
export async function openClickHouse(config: BackfillConfig): Promise<OpenClickHouse> {
  return config.clickhouseUrl === undefined
    ? await openEmbedded(config)
    : await openRemote(config, config.clickhouseUrl);
}

async function openEmbedded({ dataDir, workerThreads }: BackfillConfig): Promise<OpenClickHouse> {
  await requireNotMoved(dataDir).catch((error: unknown) => {
    throw error instanceof DataDirectoryError ? new BackfillFailure(error.message) : error;
  });
  const directory = await takeDataDirectory(dataDir).catch((error: unknown) => {
    if (!(error instanceof DataDirectoryError)) throw error;
    throw new BackfillFailure(
      `${error.message}\nThe embedded ClickHouse belongs to one process: stop the service, run the backfill, start it again`,
    );
  });
  try {
    const engine = join(dataDir, 'clickhouse');
    await restoreDefinitions(engine);
    const clickhouse = await createEmbeddedClickHouse({ directory: engine, workerThreads });
    const close = async () => {
      await clickhouse.close();
      await directory.release();
    };
    const target = await realpath(dataDir);
    const opened = await whileDefinitionsChange(engine, () =>
      withTables({ clickhouse, target, close }, undefined),
    );
    // A killed service may have left events there.
    const events = await withTakenUpEvents(clickhouse, dataDir);
    return {
      ...opened,
      clickhouse: events.clickhouse,
      close: async () => {
        await events.close();
        await close();
      },
    };
  } catch (error) {
    await directory.release();
    throw error;
  }
}

async function openRemote(config: BackfillConfig, url: string): Promise<OpenClickHouse> {
  const server = { url, cluster: config.clickhouseCluster };
  const address = parseClickHouseUrl(url);
  const { host, protocol } = new URL(address.url);
  const target = `${protocol}//${host}/${address.database}`;
  try {
    await createRemoteDatabase(server);
  } catch (error) {
    throw new BackfillFailure(`the ClickHouse at ${target} does not answer: ${messageOf(error)}`);
  }
  const clickhouse = createRemoteClickHouse(server);
  return await withTables({ clickhouse, target, close: () => clickhouse.close() }, config.clickhouseCluster);
}

async function withTables(
  opened: Omit<OpenClickHouse, 'identity'>,
  cluster: string | undefined,
): Promise<OpenClickHouse> {
  try {
    await applySchema(opened.clickhouse, cluster);
    const [table] = await opened.clickhouse.query({
      sql: `SELECT toString(uuid) AS id FROM system.tables WHERE database = currentDatabase() AND name = '${USAGE_EVENTS_TABLE}'`,
      schema: z.object({ id: z.string() }),
    });
    return { ...opened, identity: `${opened.target} ${table?.id ?? ''}` };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
