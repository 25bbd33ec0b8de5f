/**
 * The tables in ClickHouse: clickhouse/*.sql, applied in order at every start. Each statement is
 * idempotent, so nothing has to be remembered about what was applied.
 *
 * One source serves a single node and a cluster. On a cluster a table is replicated under the name
 * `<table>_local`, and `<table>` is the Distributed table in front of it, so queries and inserts read
 * the same on both.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClickHouse } from './client/clickhouse.ts';

/** At the package root, which is two levels up from src/metering and from dist/metering alike. */
const DDL_FOLDER = fileURLToPath(new URL('../../clickhouse', import.meta.url));

const CLUSTER_ONLY = '-- only on a cluster';

/**
 * Where Keeper knows a table by, the same on all replicas of a shard and at every start. The default has
 * an id in it that a later `CREATE ... ON CLUSTER` makes anew, so a node that is added or replaced would
 * not find the others.
 */
const REPLICA_PATH = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";

const REPLICATED_ENGINE = /\b(Replicated\w*MergeTree)(?:\(([^()]*)\))?/g;

/** Creates what is missing. `cluster` is the name of the cluster, or undefined for a single node. */
export async function applySchema(clickhouse: ClickHouse, cluster: string | undefined): Promise<void> {
  for (const statement of await schemaStatements(cluster)) await clickhouse.command(statement);
}

/** All statements in order, as they are sent. */
export async function schemaStatements(cluster: string | undefined): Promise<string[]> {
  const files = (await readdir(DDL_FOLDER)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(DDL_FOLDER, name), 'utf8')));
  return texts.flatMap((text) => renderStatements(text, cluster));
}

/** Splits a file at lines that end in a semicolon and fills in its placeholders. */
export function renderStatements(text: string, cluster: string | undefined): string[] {
  const values: Readonly<Record<string, string>> = {
    LOCAL: cluster === undefined ? '' : '_local',
    ON_CLUSTER: cluster === undefined ? '' : `ON CLUSTER '${cluster}'`,
    REPLICATED: cluster === undefined ? '' : 'Replicated',
    CLUSTER: cluster === undefined ? '' : `'${cluster}'`,
  };
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .filter((statement) => cluster !== undefined || !statement.startsWith(CLUSTER_ONLY))
    .map((statement) => withReplicaPath(fillIn(statement, values)));
}

function fillIn(statement: string, values: Readonly<Record<string, string>>): string {
  return statement.replace(/\$\{([A-Z_]+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`unknown placeholder ${placeholder} in the ClickHouse schema`);
    return value;
  });
}

function withReplicaPath(statement: string): string {
  return statement.replace(REPLICATED_ENGINE, (_, engine: string, parameters?: string) => {
    const own = parameters === undefined || parameters === '' ? '' : `, ${parameters}`;
    return `${engine}(${REPLICA_PATH}${own})`;
  });
}
