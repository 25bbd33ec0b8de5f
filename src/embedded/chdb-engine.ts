/**
 * The chDB engine itself: the optional package, its configuration, its connections. One engine and one data directory
 * per process; several connections.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import type { ChdbConnection } from 'chdb/connection';
import { messageOf } from '../core/failures.ts';
import { memoryOfProcess } from '../core/process-memory.ts';

/** Below the engine's directory: the only files that its function `file` may read. */
export const USER_FILES = 'user-files';

/** The engine cannot be started. The message is one line for the operator. */
export class EmbeddedClickHouseError extends Error {
  override readonly name = 'EmbeddedClickHouseError';
}

/** A connection to the engine. It runs one statement at a time. */
export interface EngineConnection {
  readonly client: ClickHouseClient;
  /** The engine's own interface, for inserting raw bytes. */
  readonly raw: ChdbConnection;
}

export interface Engine {
  run(sql: string): Promise<void>;
  connect(): EngineConnection;
  close(): Promise<void>;
}

/** Throws `EmbeddedClickHouseError` if there is no package or no usable directory. */
export async function openEngine(directory: string): Promise<Engine> {
  const { chdb, connections } = await loadEngine();
  const data = join(directory, 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'engine.xml');
  await writeFile(configuration, engineConfiguration(directory));
  try {
    // The first connection starts the engine, so it carries the configuration.
    const anchor = new chdb.Session(data, { connectionArgs: [`--config-file=${configuration}`] });
    return {
      run: async (sql) => {
        await anchor.queryAsync(sql);
      },
      connect: () => {
        const raw = connections.createChdbConnection({ path: data });
        // The same contract, declared by each package: only optional members are written differently.
        const connection = raw as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>;
        return { raw, client: createClient({ connection, log: { level: ClickHouseLogLevel.OFF } }) };
      },
      close: async () => {
        anchor.close();
        await chdb.drainPending();
      },
    };
  } catch (error) {
    throw new EmbeddedClickHouseError(
      `cannot open the embedded ClickHouse in ${directory}: ${firstLine(error)}. ` +
        'What the engine met is said above; where a file is damaged, put this directory back from a backup',
    );
  }
}

async function loadEngine() {
  try {
    const [chdb, connections] = await Promise.all([import('chdb'), import('chdb/connection')]);
    return { chdb, connections };
  } catch (error) {
    throw new EmbeddedClickHouseError(
      `the embedded ClickHouse (package chdb) cannot be loaded here; set CLICKHOUSE_URL to use a server: ${firstLine(error)}`,
    );
  }
}

/**
 * Keeps every path inside the directory, and is named explicitly because the engine would otherwise read a config.xml
 * from the working directory. Half of the memory belongs to the rest of the process; the caches are sized for a machine
 * of a few gigabytes rather than for a server. Damaged parts are detached however large they are, because the service
 * reports each of them and does not start to work without them.
 */
function engineConfiguration(directory: string): string {
  const path = (name: string) => `${escapeXml(join(directory, name))}/`;
  return `<clickhouse>
  <tmp_path>${path('tmp')}</tmp_path>
  <user_files_path>${path(USER_FILES)}</user_files_path>
  <format_schema_path>${path('format-schemas')}</format_schema_path>
  <max_server_memory_usage>${Math.floor(memoryOfProcess() / 2)}</max_server_memory_usage>
  <memory_worker_period_ms>1000</memory_worker_period_ms>
  <mark_cache_size>268435456</mark_cache_size>
  <primary_index_cache_size>268435456</primary_index_cache_size>
  <merge_tree>
    <max_suspicious_broken_parts>1000000000</max_suspicious_broken_parts>
    <max_suspicious_broken_parts_bytes>1000000000000000</max_suspicious_broken_parts_bytes>
  </merge_tree>
</clickhouse>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n', 1).join('');
}
