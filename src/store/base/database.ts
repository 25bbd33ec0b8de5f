/**
 * The connection pool to PostgreSQL, through Drizzle.
 *
 * Drizzle changes the parsers of the client it wraps (dates become strings, Date parameters throw), so
 * the client never leaves this file: everything goes through `db`, raw SQL as `sql` templates with ISO
 * text for instants. `migrate.ts` opens a separate client.
 */
import { sql } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { assert, Refusal } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { retry } from '../../runtime/retry.ts';
import { connectPostgres, type PostgresConnection } from '../postgres-driver/connect-postgres.ts';
import { guardTransactions } from '../postgres-driver/guarded-transactions.ts';
import { instantFromPostgres } from './columns.ts';
import { isOfRequest, withUnits } from './request-unit.ts';
import { statementSent } from './sent-together.ts';

export type Database = PostgresJsDatabase;
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

export interface DatabasePool {
  readonly db: Database;
  /** Rejects when the server does not answer. */
  ping(): Promise<void>;
  /** Waits for running queries, at most 5 s. */
  close(): Promise<void>;
}

/** Enough for the changes and the jobs of one process; a server's default limit of 100 allows several processes. */
const CONNECTIONS_MAX = 10;
/** For read-only requests, so that they do not use up the others. Opened on demand. */
const READ_CONNECTIONS_MAX = 6;
/** For the lookup of a token at the start of each request. Concurrent lookups are sent together. */
const IDENTIFICATION_CONNECTIONS_MAX = 2;
/** No statement should take longer; a runaway one must not hold locks forever. */
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_SECONDS = 5;

/** Opens a pool; connections are opened when first needed. */
export function createDatabase(connection: PostgresConnection): DatabasePool {
  const clientOf = (max: number) =>
    connectPostgres(connection, {
      max,
      connection: {
        application_name: 'tallyhouse',
        // `columns.ts` parses timestamps in this zone, whatever the server's default is.
        TimeZone: 'UTC',
        statement_timeout: STATEMENT_TIMEOUT_MS,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      },
    });
  const writer = clientOf(CONNECTIONS_MAX);
  const reader = clientOf(READ_CONNECTIONS_MAX);
  const identifier = clientOf(IDENTIFICATION_CONNECTIONS_MAX);
  // Statements of jobs have lists of any length, so their plans are not kept.
  const guarded = (client: typeof writer, keepsStatements: () => boolean) =>
    drizzle(guardTransactions(client, { keepsStatements, onStatement: statementSent }));
  const db = withUnits(guarded(writer, isOfRequest), {
    reading: guarded(reader, () => true),
    identifying: guarded(identifier, () => true),
  });
  return {
    db,
    ping: async () => {
      await db.execute(sql`select 1`);
    },
    async close() {
      const timeout = CLOSE_TIMEOUT_SECONDS;
      await Promise.all([writer, reader, identifier].map((client) => client.end({ timeout })));
    },
  };
}

/** Runs `read` on one snapshot of PostgreSQL. Keep it short. */
export function inSnapshot<Result>(
  db: Database,
  read: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return db.transaction(read, { isolationLevel: 'repeatable read', accessMode: 'read only' });
}

/** How often a transaction is tried whose snapshot conflicts with another one. */
const ATTEMPTS_MAX = 3;
const SERIALIZATION_FAILURE = '40001';

/**
 * Runs `work`, which may write, on one snapshot of PostgreSQL, and rolls back all its writes. Its locks are held until
 * then: keep it short. If other transactions keep changing the rows it locks, it is refused (`unavailable`).
 */
export async function undone<Result>(
  db: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return await retry(() => undoneOnce(db, work), {
    name: 'snapshots',
    attemptsMax: ATTEMPTS_MAX,
    isTransient: isOvertaken,
    exhausted: () => new Refusal('unavailable', 'what is read keeps changing: try again later'),
  });
}

async function undoneOnce<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const undo = async (tx: Transaction) => {
    throw new Undo(await work(tx));
  };
  try {
    return await db.transaction(undo, { isolationLevel: 'repeatable read' });
  } catch (error) {
    if (error instanceof Undo) return error.result as Result;
    throw error;
  }
}

class Undo extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}

/** Whether a transaction on a snapshot failed because another one has changed the rows it locks. */
export function isOvertaken(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return [error, cause].some(
    (one) => one instanceof Error && 'code' in one && one.code === SERIALIZATION_FAILURE,
  );
}

/** When the snapshot of this transaction was taken, by the clock of the server. */
export async function snapshotInstant(tx: Transaction): Promise<Instant> {
  const rows = await tx.execute<{ at: string }>(sql`select now()::timestamptz(3) as at`);
  const [row] = rows;
  assert(row !== undefined, 'a row of one instant');
  return instantFromPostgres(row.at);
}
