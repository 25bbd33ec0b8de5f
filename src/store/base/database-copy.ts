/**
 * All rows of the database, in the text format of COPY: read from one snapshot, and written into an empty database with
 * the same tables. Independent of the meaning of the tables.
 *
 * The text is the same for every version and platform of PostgreSQL, so a copy outlives both.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type postgres from 'postgres';
import { z } from 'zod';
import { messageOf } from '../../core/failures.ts';
import type { Instant } from '../../core/time.ts';
import { connectPostgres, type PostgresConnection } from '../postgres-driver/connect-postgres.ts';
import { copiedOut } from '../postgres-driver/copied-out.ts';

/** The schemas that hold rows of the service. */
const SCHEMAS = ['public', 'drizzle'] as const;
const copiedSchema = z.enum(SCHEMAS);
type CopiedSchema = z.output<typeof copiedSchema>;

export interface CopiedTable {
  readonly schema: CopiedSchema;
  readonly name: string;
  /** Columns without generated ones. */
  readonly columns: readonly string[];
}

interface CopiedSequence {
  readonly schema: CopiedSchema;
  readonly name: string;
  /** Null: the sequence has not been used yet. */
  readonly lastValue: string | null;
}

interface RowsFingerprint {
  readonly rows: number;
  /** The sum of the hashes of all rows. */
  readonly sum: string;
}

/** The database at one moment; later commits are not visible. */
export interface DatabaseSnapshot {
  /** When the snapshot was taken, by the clock of the server. */
  readonly moment: Instant;
  /** Ascending by name. */
  readonly tables: readonly CopiedTable[];
  /** Possibly read after the moment of the snapshot: numbers are skipped then, and none is used twice. */
  readonly sequences: readonly CopiedSequence[];
  /** The rows of the table, a line of text each, in chunks of any size. One table at a time. */
  rowsOf(table: CopiedTable): AsyncIterable<Buffer>;
  /** Equal for tables with equal rows, in any order. */
  fingerprintOf(table: CopiedTable): Promise<RowsFingerprint>;
  /** Throws a `DatabaseCopyError` if the snapshot or the lock was lost. Call it before relying on the rows. */
  check(): Promise<void>;
}

/** The copy cannot be created. The message is for the operator. */
export class DatabaseCopyError extends Error {
  override readonly name = 'DatabaseCopyError';
}

const tableRow = z.object({ schema: copiedSchema, name: z.string(), columns: z.array(z.string()) });
const sequenceRow = z.object({ schema: copiedSchema, name: z.string(), last_value: z.string().nullable() });
const fingerprintRow = z.object({ rows: z.coerce.number(), sum: z.string() });
const placeRow = z.object({ pid: z.int(), at: z.string(), ms: z.coerce.number() });

/** Schemas of the service: its tables, and the record of its migrations. */

/**
 * Runs `work` over a snapshot, which lives as long as `work`. `lock`: the number of the advisory lock that excludes
 * others of the same kind. Throws a `DatabaseCopyError` if it is held.
 */
export async function withDatabaseSnapshot<Result>(
  connection: PostgresConnection,
  lock: number,
  work: (snapshot: DatabaseSnapshot) => Promise<Result>,
): Promise<Result> {
  const client = copyClient(connection);
  try {
    await takeLock(client, lock, 'another backup of these stores is running');
    return await inSnapshot(client, 'begin isolation level repeatable read read only', work);
  } finally {
    await client.end({ timeout: 5 });
  }
}

/** Writing transactions must end within this time, or the copy fails. */
const LOCK_WAIT_SECONDS = 60;

export interface HeldDatabase {
  /** As of `withDatabaseSnapshot`. */
  readonly lock: number;
  /** Tables of the schema `public` that others continue to write to: they are not copied. */
  readonly except: readonly string[];
}

/**
 * Like `withDatabaseSnapshot`, while writes of others wait until `work` has ended. So nothing that is acknowledged
 * while `work` runs is missing from the snapshot.
 */
export async function withHeldDatabase<Result>(
  connection: PostgresConnection,
  { lock, except }: HeldDatabase,
  work: (snapshot: DatabaseSnapshot) => Promise<Result>,
): Promise<Result> {
  const client = copyClient(connection);
  try {
    await takeLock(client, lock, 'another move of these stores is running');
    const tables = await asked(() => tablesOf(client));
    const held = tables.filter(({ schema, name }) => schema !== 'public' || !except.includes(name));
    // The snapshot is taken by the first statement after the locks.
    const begin = `begin isolation level repeatable read; set local lock_timeout = '${LOCK_WAIT_SECONDS}s';
      lock table ${held.map(quotedName).join(', ')} in share mode`;
    return await inSnapshot(client, begin, work);
  } finally {
    await client.end({ timeout: 5 });
  }
}

async function takeLock(client: Client, lock: number, taken: string): Promise<void> {
  const [locked] = await asked(() => client.unsafe(`select pg_try_advisory_lock(${lock}) as done`));
  if (locked?.done !== true) throw new DatabaseCopyError(taken);
}

async function inSnapshot<Result>(
  client: postgres.Sql,
  begin: string,
  work: (snapshot: DatabaseSnapshot) => Promise<Result>,
): Promise<Result> {
  const { before, tables, sequences } = await asked(async () => {
    await client.unsafe(begin).simple();
    return {
      before: await placeOf(client),
      tables: await tablesOf(client),
      sequences: await sequencesOf(client),
    };
  });
  const check = async () => {
    // The driver reconnects by itself, outside of any snapshot.
    const after = await asked(() => placeOf(client));
    if (after.pid === before.pid && after.at === before.at) return;
    throw new DatabaseCopyError(
      'the connection to PostgreSQL was lost: the rows that were read are not of one moment',
    );
  };
  return await work({
    moment: before.ms,
    tables,
    sequences,
    rowsOf: (table) => rowsOf(client, table),
    fingerprintOf: (table) => asked(() => fingerprintOf(client, table)),
    check,
  });
}

/** Reports a failure of the server or of the connection as a `DatabaseCopyError`. */
async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw unanswered(error);
  }
}

function unanswered(error: unknown): Error {
  const reason = messageOf(error);
  return new DatabaseCopyError(`PostgreSQL does not answer: ${reason}`);
}

/** The source of the rows of a table. */
export type TableRows = (table: CopiedTable) => AsyncIterable<Buffer>;

/**
 * Replaces the rows of a database that has these tables. The rows are checked by its constraints. One transaction: all
 * of them or none. Returns the number of rows of each table, in the order of `tables`.
 */
export async function loadDatabase(
  connection: PostgresConnection,
  { tables, sequences }: Pick<DatabaseSnapshot, 'tables' | 'sequences'>,
  rowsOfTable: TableRows,
): Promise<number[]> {
  const client = copyClient(connection);
  try {
    return await client.begin(async (tx) => {
      const present = await tablesOf(tx);
      if (present.length > 0) await tx.unsafe(`truncate ${present.map(quotedName).join(', ')}`);
      // Rows that triggers have written are among the copied ones. Triggers of references are not user triggers.
      for (const table of present) await tx.unsafe(`alter table ${quotedName(table)} disable trigger user`);
      const references = await referencesOf(tx);
      for (const table of inOrderOfReferences(tables, references)) {
        const to = await tx
          .unsafe(`copy ${quotedName(table)} (${quotedColumns(table)}) from stdin`)
          .writable();
        await pipeline(Readable.from(rowsOfTable(table), { objectMode: false }), to);
      }
      for (const sequence of sequences) {
        if (sequence.lastValue === null) continue;
        await tx.unsafe('select setval($1::regclass, $2::bigint)', [
          quotedName(sequence),
          sequence.lastValue,
        ]);
      }
      for (const table of present) await tx.unsafe(`alter table ${quotedName(table)} enable trigger user`);
      return await countsOf(tx, tables);
    });
  } finally {
    await client.end({ timeout: 5 });
  }
}

type Client = postgres.Sql | postgres.TransactionSql;

/** No time limit: a statement takes as long as its table is large. */
function copyClient(connection: PostgresConnection): postgres.Sql {
  return connectPostgres(connection, {
    max: 1,
    connection: {
      application_name: 'tallyhouse copy',
      TimeZone: 'UTC',
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
      // Values have the same text on every server.
      bytea_output: 'hex',
      extra_float_digits: 1,
      IntervalStyle: 'postgres',
    },
  });
}

async function placeOf(client: Client): Promise<z.output<typeof placeRow>> {
  const [row] = await client.unsafe(
    'select pg_backend_pid() as pid, now()::text as at, (extract(epoch from now()) * 1000)::bigint as ms',
  );
  return placeRow.parse(row);
}

async function tablesOf(client: Client): Promise<CopiedTable[]> {
  const rows = await client.unsafe(
    `select n.nspname as schema, c.relname as name,
       (select array_to_json(array_agg(a.attname::text order by a.attnum)) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in (${SCHEMAS.map((name) => `'${name}'`).join(', ')})
     order by n.nspname, c.relname`,
  );
  return z.array(tableRow).parse([...rows]);
}

async function sequencesOf(client: Client): Promise<CopiedSequence[]> {
  const rows = await client.unsafe(
    `select schemaname as schema, sequencename as name, last_value::text
     from pg_sequences where schemaname in (${SCHEMAS.map((name) => `'${name}'`).join(', ')})
     order by 1, 2`,
  );
  return z
    .array(sequenceRow)
    .parse([...rows])
    .map(({ schema, name, last_value: lastValue }) => ({ schema, name, lastValue }));
}

async function* rowsOf(client: Client, table: CopiedTable): AsyncGenerator<Buffer, void, undefined> {
  try {
    const copy = `copy ${quotedName(table)} (${quotedColumns(table)}) to stdout`;
    yield* copiedOut(client, copy);
  } catch (error) {
    throw unanswered(error);
  }
}

async function fingerprintOf(client: Client, table: CopiedTable): Promise<RowsFingerprint> {
  const [row] = await client.unsafe(
    `select count(*) as rows, coalesce(sum(hashtextextended(row(${quotedColumns(table)})::text, 0)), 0)::text as sum
     from ${quotedName(table)}`,
  );
  return fingerprintRow.parse(row);
}

interface Reference {
  readonly from: string;
  readonly to: string;
}

async function referencesOf(client: Client): Promise<Reference[]> {
  const rows = await client.unsafe(
    `select f.nspname || '.' || c.relname as from, t.nspname || '.' || r.relname as to
     from pg_constraint k
       join pg_class c on c.oid = k.conrelid join pg_namespace f on f.oid = c.relnamespace
       join pg_class r on r.oid = k.confrelid join pg_namespace t on t.oid = r.relnamespace
     where k.contype = 'f' and k.conrelid <> k.confrelid`,
  );
  return z.array(z.object({ from: z.string(), to: z.string() })).parse([...rows]);
}

/** Each table after those that it refers to. A table may refer to itself: that is checked at the end of its COPY. */
function inOrderOfReferences(
  tables: readonly CopiedTable[],
  references: readonly Reference[],
): CopiedTable[] {
  const left = new Map(tables.map((table) => [`${table.schema}.${table.name}`, table]));
  const ordered: CopiedTable[] = [];
  while (left.size > 0) {
    const free = [...left].filter(
      ([name]) => !references.some(({ from, to }) => from === name && left.has(to)),
    );
    if (free.length === 0) throw new Error(`tables refer to one another: ${[...left.keys()].join(', ')}`);
    for (const [name, table] of free) {
      left.delete(name);
      ordered.push(table);
    }
  }
  return ordered;
}

async function countsOf(client: Client, tables: readonly CopiedTable[]): Promise<number[]> {
  const counts: number[] = [];
  for (const table of tables) {
    const [row] = await client.unsafe(`select count(*)::bigint as rows from ${quotedName(table)}`);
    counts.push(Number(row?.rows));
  }
  return counts;
}

function quotedName({ schema, name }: Pick<CopiedTable, 'schema' | 'name'>): string {
  return `${quoted(schema)}.${quoted(name)}`;
}

function quotedColumns({ columns }: CopiedTable): string {
  return columns.map(quoted).join(', ');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
