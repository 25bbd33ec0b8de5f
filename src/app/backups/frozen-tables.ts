/**
 * The parts of an embedded ClickHouse as they are at one moment: hard links, which cost no bytes. Merges continue, and the
 * parts that they replace stay on disk until the links are removed.
 */

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import { NO_EVENTS } from '../../metering/client/around.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { stringLiteral } from '../../metering/client/clickhouse-parameters.ts';
import type { FrozenTables } from './messages.ts';

const tableRow = z.object({ name: z.string(), id: z.uuid() });

/** Where the engine makes the links. */
function linksDirectory(dataDir: string): string {
  return join(dataDir, 'clickhouse', 'data', 'shadow');
}

/** Those of a process that was killed meanwhile. */
export async function removeLinks(dataDir: string): Promise<void> {
  await rm(linksDirectory(dataDir), { recursive: true, force: true });
}

/** Freezes every table, one after the other. Every row that was inserted before the call is in it. */
async function freezeTables(clickhouse: ClickHouse, dataDir: string): Promise<FrozenTables> {
  // The engine writes other characters than these in another way.
  const name = `backup_${randomUUID().replaceAll('-', '')}`;
  const directory = join(linksDirectory(dataDir), name);
  try {
    const tables = await clickhouse.query({
      sql: `SELECT name, toString(uuid) AS id FROM system.tables
        WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
      lane: 'ingest',
      eventsOf: NO_EVENTS,
      schema: tableRow,
    });
    for (const table of tables) {
      await clickhouse.command(`ALTER TABLE ${table.name} FREEZE WITH NAME ${stringLiteral(name)}`);
    }
    return { directory, tables };
  } catch (error) {
    await thawTables({ directory });
    throw error;
  }
}

export async function thawTables({ directory }: Pick<FrozenTables, 'directory'>): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

interface WholeStores {
  readonly clickhouse: ClickHouse;
  readonly dataDir: string;
  /** Why the stored data are not whole, or null. */
  problem(): string | null;
}

/** Like `freezeTables`. Throws where ClickHouse does not have all that was acknowledged: its copy would replace whole ones. */
export async function freezeWhole({ clickhouse, dataDir, problem }: WholeStores): Promise<FrozenTables> {
  const before = problem();
  if (before !== null) throw new Refusal('unavailable', `stored data are missing (/readyz): ${before}`);
  const frozen = await freezeTables(clickhouse, dataDir);
  const after = problem();
  if (after === null) return frozen;
  await thawTables(frozen);
  throw new Refusal('unavailable', `stored data are missing (/readyz): ${after}`);
}
