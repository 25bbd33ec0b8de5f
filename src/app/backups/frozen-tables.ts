/**
 * The parts of an embedded ClickHouse at one moment: hard links, which take no space. Merges continue, and the parts
 * that they replace stay on disk until the links are removed.
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

/** The directory of the engine's links. */
function linksDirectory(dataDir: string): string {
  return join(dataDir, 'clickhouse', 'data', 'shadow');
}

/** Removes the links of a process that was killed. */
export async function removeLinks(dataDir: string): Promise<void> {
  await rm(linksDirectory(dataDir), { recursive: true, force: true });
}

/** Freezes every table, one after the other. Every row that was inserted before the call is in it. */
async function freezeTables(clickhouse: ClickHouse, dataDir: string): Promise<FrozenTables> {
  // The engine would escape other characters than these.
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
  /** Why the stored data are incomplete, or null. */
  problem(): string | null;
}

/**
 * Like `freezeTables`. Throws if ClickHouse does not have everything that was acknowledged: an incomplete copy would
 * replace complete ones.
 */
export async function freezeWhole({ clickhouse, dataDir, problem }: WholeStores): Promise<FrozenTables> {
  const before = problem();
  if (before !== null) throw new Refusal('unavailable', `stored data are missing (/readyz): ${before}`);
  const frozen = await freezeTables(clickhouse, dataDir);
  const after = problem();
  if (after === null) return frozen;
  await thawTables(frozen);
  throw new Refusal('unavailable', `stored data are missing (/readyz): ${after}`);
}
