/** ClickHouse behind a URL. One HTTP client; its pool of connections is what keeps inserts unhindered. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { assert } from '../core/errors.ts';
import type { ClickHouse } from './clickhouse.ts';
import { createClickHouse } from './clickhouse-client.ts';
import { parameterForm } from './clickhouse-parameters.ts';

/** Longer than any query may run, so that the server's own limit speaks first, with a clear error. */
const REQUEST_TIMEOUT_MS = 660_000;
const CONNECTIONS_MAX = 16;

export interface RemoteClickHouseOptions {
  /** http or https, with user, password and database (default `tallyhouse`) in it. */
  readonly url: string;
  /** With a cluster, an insert is answered only when every shard it goes to has it. */
  readonly cluster?: string | undefined;
}

/** Opens a server; nothing is sent before the first statement. */
export function createRemoteClickHouse(options: RemoteClickHouseOptions): ClickHouse {
  const { url, database } = splitUrl(options.url);
  const client = createClient({
    url,
    database,
    application: 'tallyhouse',
    // It logs to the console; what fails is thrown as well.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
  });
  const insertSettings = {
    async_insert: 0,
    wait_end_of_query: 1,
    ...(options.cluster === undefined ? {} : { distributed_foreground_insert: 1 }),
  } as const;
  return createClickHouse({
    select: async ({ sql, params }) => {
      // The whole result is checked before the first byte, so an error is never half a result.
      const settings = { wait_end_of_query: 1, readonly: '2' } as const;
      if (Object.keys(params).length === 0) {
        return (await client.exec({ query: sql, clickhouse_settings: settings })).stream;
      }
      const boundary = randomUUID();
      const result = await client.exec({
        query: sql,
        values: Readable.from([parameterForm(params, boundary)], { objectMode: false }),
        http_headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
        clickhouse_settings: settings,
      });
      return result.stream;
    },
    command: async (query) => {
      await client.command({ query, clickhouse_settings: { wait_end_of_query: 1 } });
    },
    insertRows: async ({ table, columns, rows }) => {
      for (const name of [table, ...columns]) assert(IDENTIFIER.test(name), `identifier ${name}`);
      const result = await client.exec({
        query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONCompactEachRow`,
        values: Readable.from([rows], { objectMode: false }),
        clickhouse_settings: insertSettings,
      });
      // The answer has no content, but it is over only when it was read.
      result.stream.resume();
      await finished(result.stream);
    },
    ping: async () => {
      const result = await client.ping({ select: true });
      if (!result.success) throw result.error;
    },
    close: () => client.close(),
  });
}

/** Creates the database that the URL names, so that an empty server is enough. */
export async function createRemoteDatabase(options: RemoteClickHouseOptions): Promise<void> {
  const { url, database } = splitUrl(options.url);
  const client = createClient({ url, application: 'tallyhouse' });
  const onCluster = options.cluster === undefined ? '' : ` ON CLUSTER '${options.cluster}'`;
  try {
    await client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database}\`${onCluster}` });
  } finally {
    await client.close();
  }
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

function splitUrl(text: string): { url: string; database: string } {
  const url = new URL(text);
  const database = url.pathname.replace(/^\//, '') || 'tallyhouse';
  assert(IDENTIFIER.test(database), `CLICKHOUSE_URL: ${database} is not a database name`);
  url.pathname = '';
  return { url: url.toString(), database };
}
