/**
 * The text of the ClickHouse migrations: clickhouse/*.sql, in order. Each statement is idempotent, so that a file can
 * be repeated.
 *
 * One source serves a single node and a cluster. On a cluster a table is replicated under the name `<table>_local`, and
 * `<table>` is the Distributed table in front of it, so queries and inserts are the same on both.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Migration } from '../../core/migrations.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';

const DDL_FOLDER = join(PACKAGE_ROOT, 'clickhouse');

const CLUSTER_ONLY = '-- only on a cluster';

/**
 * The path of a table in Keeper, the same on all replicas of a shard and at every start. The default contains an id
 * that a later `CREATE ... ON CLUSTER` replaces, so a node that is added or replaced would not find the others.
 */
const REPLICA_PATH = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";

const REPLICATED_ENGINE = /\b(Replicated\w*MergeTree)(?:\(([^()]*)\))?/g;

/** `name` without the extension. */
export interface SchemaFile extends Migration {
  readonly text: string;
}

export async function readSchemaFiles(folder: string = DDL_FOLDER): Promise<SchemaFile[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      return { name: name.replace(/\.sql$/, ''), checksum, text };
    }),
  );
}

/** All statements in order, as they are sent. */
export async function schemaStatements(cluster: string | undefined): Promise<string[]> {
  return (await readSchemaFiles()).flatMap(({ text }) => renderStatements(text, cluster));
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
