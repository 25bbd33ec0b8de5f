/**
 * Reads the current and detached parts from ClickHouse's system tables; on a cluster, also the parts that all replicas
 * have lost. Needs no privilege beyond those on the tables, except on servers that restrict `system`.
 */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import { type Loss, type SetAsidePart, type StoredPart, WATCHED_TABLES } from './part-losses.ts';

export interface ActivePart extends StoredPart {
  /** Directory on the machine of ClickHouse. */
  readonly path: string;
}

const OF_WATCHED_TABLES = `database = currentDatabase() AND table IN (${WATCHED_TABLES.map(stringLiteral).join(', ')})`;

/** `name` is null for a table without parts. */
const ACTIVE_SQL = `
  SELECT tables.name AS table, toString(tables.uuid) AS table_id, parts.partition_id AS partition,
    parts.min_block_number AS min_block, parts.max_block_number AS max_block, parts.name AS name,
    parts.rows AS rows, parts.path AS path
  FROM system.tables AS tables
  INNER JOIN (SELECT * FROM system.parts WHERE active AND ${OF_WATCHED_TABLES}) AS parts ON parts.table = tables.name
  WHERE tables.database = currentDatabase()`;

const blocks = {
  table: z.string(),
  partition: z.string(),
  min_block: z.coerce.number(),
  max_block: z.coerce.number(),
  name: z.string(),
};

const activeRow = z
  .object({ ...blocks, table_id: z.string(), rows: z.coerce.number(), path: z.string() })
  .transform(
    ({ min_block: minBlock, max_block: maxBlock, table_id: tableId, ...row }): ActivePart => ({
      ...row,
      minBlock,
      maxBlock,
      tableId,
    }),
  );

export async function readActiveParts(clickhouse: ClickHouse): Promise<ActivePart[]> {
  return await clickhouse.query({ sql: ACTIVE_SQL, schema: activeRow, eventsOf: NO_EVENTS });
}

/** Parts without a reason were detached on purpose. */
const SET_ASIDE_SQL = `
  SELECT table, assumeNotNull(partition_id) AS partition, assumeNotNull(min_block_number) AS min_block,
    assumeNotNull(max_block_number) AS max_block, name, reason
  FROM system.detached_parts
  WHERE ${OF_WATCHED_TABLES} AND (reason LIKE 'broken%' OR reason IN ('unexpected', 'noquorum', 'covered-by-broken'))`;

const setAsideRow = z
  .object({ ...blocks, reason: z.string() })
  .transform(
    ({ min_block: minBlock, max_block: maxBlock, ...row }): SetAsidePart => ({ ...row, minBlock, maxBlock }),
  );

export async function readSetAsideParts(clickhouse: ClickHouse): Promise<SetAsidePart[]> {
  return await clickhouse.query({ sql: SET_ASIDE_SQL, schema: setAsideRow, eventsOf: NO_EVENTS });
}

const lostRow = z.object({ table: z.string(), path: z.string(), lost: z.coerce.number() });

/** Keeper counts, for every shard, the parts that no replica has. A part lost by one replica is fetched again. */
export async function readLossesOfReplicas(clickhouse: ClickHouse, cluster: string): Promise<Loss[]> {
  const tables = WATCHED_TABLES.map((table) => stringLiteral(`${table}_local`)).join(', ');
  const rows = await clickhouse.query({
    sql: `
      SELECT table, zookeeper_path AS path, max(lost_part_count) AS lost
      FROM clusterAllReplicas(${stringLiteral(cluster)}, system.replicas)
      WHERE database = currentDatabase() AND table IN (${tables})
      GROUP BY table, path
      HAVING lost > 0`,
    schema: lostRow,
  });
  return rows.map(({ table, path, lost }) => ({
    table,
    part: `${lost}-parts-of-${path}`,
    kind: 'replicated',
    rows: null,
  }));
}

const checkRow = z.object({ is_passed: z.coerce.number() });

/** Whether every byte of the part can be read. True for a part that has been replaced in the meantime. */
export async function isPartReadable(clickhouse: ClickHouse, table: string, part: string): Promise<boolean> {
  try {
    const rows = await clickhouse.query({
      sql: `CHECK TABLE ${table} PART ${stringLiteral(part)}`,
      settings: { check_query_single_value_result: 0, max_execution_time: 600 },
      eventsOf: NO_EVENTS,
      schema: checkRow,
    });
    return rows.every(({ is_passed }) => is_passed === 1);
  } catch (error) {
    if (error instanceof ClickHouseError) return error.type === 'NO_SUCH_DATA_PART';
    throw error;
  }
}
