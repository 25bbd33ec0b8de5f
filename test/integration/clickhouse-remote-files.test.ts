/** The files for a cluster that are kept in the repository, and what ClickHouse makes of them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from 'chdb';
import { expect, test } from 'vitest';
import { clusterFiles, serverConfiguration } from '../../scripts/cluster-files.ts';
import { createTestDirectory } from '../support/stores.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the committed files are what the generator makes of the schema', async () => {
  for (const [path, text] of await clusterFiles()) {
    expect(await readFile(join(ROOT, path), 'utf8'), `${path}: run npx tsx scripts/cluster-files.ts`).toBe(
      text,
    );
  }
});

test('ClickHouse reads the configuration of a node: two shards of two replicas, its own names, three Keepers', async () => {
  const directory = await createTestDirectory();
  const configuration = join(directory, 'node.xml');
  // The names are known inside the containers only, and nothing is to ask for them here.
  const text = serverConfiguration().replaceAll(/<host>[^<]+<\/host>/g, '<host>127.0.0.1</host>');
  await writeFile(
    configuration,
    text.replace('<clickhouse>', `<clickhouse><tmp_path>${directory}/tmp/</tmp_path>`),
  );
  const env = { CLICKHOUSE_SHARD: '2', CLICKHOUSE_REPLICA: 'clickhouse-2-1', CLICKHOUSE_CLUSTER_SECRET: 's' };
  Object.assign(process.env, env);
  const session = new Session(join(directory, 'data'), {
    connectionArgs: [`--config-file=${configuration}`],
  });
  const ask = async (sql: string) => (await session.queryAsync(sql, { format: 'TSV' })).text().trim();
  expect(
    await ask(
      "SELECT groupArray((shard_num, replica_num, port)) FROM (SELECT * FROM system.clusters WHERE cluster = 'tallyhouse' ORDER BY shard_num, replica_num)",
    ),
  ).toBe('[(1,1,9000),(1,2,9000),(2,1,9000),(2,2,9000)]');
  expect(
    await ask("SELECT min(internal_replication) FROM system.clusters WHERE cluster = 'tallyhouse'"),
  ).toBe('1');
  expect(await ask("SELECT getMacro('shard'), getMacro('replica')")).toBe('2\tclickhouse-2-1');
  session.close();
  expect(text.match(/<node>/g)).toHaveLength(3);
  for (const name of Object.keys(env)) expect(text).toContain(`from_env="${name}"`);
});
