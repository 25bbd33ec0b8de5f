/** Connections to PostgreSQL with the corrections of the driver described in README.md of this folder. */
import postgres from 'postgres';
import { SECOND_MS } from '../../core/time.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { withOwnRows } from './own-rows.ts';
import { socketMaker } from './sockets.ts';
import { tlsSettings } from './tls-socket.ts';

/** The address of PostgreSQL: a server by URL, or a unix socket directory of the embedded one. */
export type PostgresConnection =
  | { readonly url: string }
  | { readonly socketDir: string; readonly user: string; readonly database: string };

/** The driver would wait up to 20 s to reconnect, although the server may be back. */
const RECONNECTS = { firstMs: 10, maxMs: 500 };

/** In seconds, before the attempt that follows so many. */
function backoff(attempts: number): number {
  return backoffMs(attempts + 1, RECONNECTS) / SECOND_MS;
}

/**
 * postgres.js keeps the bytes that were not sent when a connection was lost, and then sends the first message of the
 * next one only if both have 1,024 bytes together. So this message alone has them: PostgreSQL ignores the spaces. It
 * refuses the connection that begins with the kept bytes, and the driver opens another one at once.
 */
const FIRST_MESSAGE_BYTES_MIN = 1_024;

/**
 * A postgres.js client. Notices are dropped because idempotent DDL produces nothing else. Types of arrays are
 * not fetched: Drizzle reads arrays itself, and a connection lost during the fetch would end the process.
 */
export function connectPostgres(
  connection: PostgresConnection,
  options: postgres.Options<Record<string, postgres.PostgresType>>,
): postgres.Sql {
  const tls = 'url' in connection ? tlsSettings(connection.url) : null;
  const common = {
    connect_timeout: 10,
    fetch_types: false,
    backoff,
    onnotice: () => {},
    socket: socketMaker(tls),
    // The sockets are already secure; the driver would start TLS inside of them.
    ...(tls === null ? {} : { ssl: false }),
    ...options,
    // The style is that in which `columns.ts` reads timestamps.
    connection: { ...options.connection, DateStyle: 'ISO'.padEnd(FIRST_MESSAGE_BYTES_MIN) },
  };
  if ('url' in connection) return withOwnRows(postgres(connection.url, common));
  const { socketDir, user, database } = connection;
  return withOwnRows(postgres({ host: socketDir, port: 5432, user, database, ...common }));
}
