/**
 * Applies the generated migrations in drizzle/ and records them in `drizzle.applied_migrations`. All pending ones run
 * in one transaction, so a failing one leaves the database as it was.
 *
 * Earlier versions read `drizzle.__drizzle_migrations`. Its rows make each of them refuse to start
 * (`migration-record.ts`).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DrizzleQueryError, sql } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/postgres-js';
import { z } from 'zod';
import { codeOf } from '../../core/failures.ts';
import { failureReason, type Migration, MigrationError, pendingMigrations } from '../../core/migrations.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { formatInstant } from '../../core/time.ts';
import { REPORTED_AFTER_MS } from '../../runtime/reported-wait.ts';
import type { Database } from '../base/database.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { connectPostgres, type PostgresConnection } from '../postgres-driver/connect-postgres.ts';
import { addNamesToRecord, isRecordMoved, moveRecord, recordApplied, recordOf } from './migration-record.ts';

const MIGRATIONS_FOLDER = join(PACKAGE_ROOT, 'drizzle');

const STORE = 'PostgreSQL';

/**
 * Runs `work` while no other process migrates the stores that belong to this database. The database passed to it is for
 * migrations: its statements have no time limit.
 */
export async function withMigrationLock<Result>(
  connection: PostgresConnection,
  work: (db: Database) => Promise<Result>,
  told: LockWait = { say: () => undefined },
): Promise<Result> {
  const client = connectPostgres(connection, {
    max: 1,
    connection: { application_name: 'tallyhouse migrate' },
  });
  const db = drizzle(client);
  try {
    await takeLock(db, told);
    return await work(db);
  } finally {
    await client.end({ timeout: 5 });
  }
}

/** How a wait for the lock is reported. The wait has no limit: migrations of a large database may take hours. */
export interface LockWait {
  say(line: string): void;
  /** The interval of reports: 10 s unless given. */
  readonly everyMs?: number | undefined;
}

/** The lock ends with the connection. */
async function takeLock(db: Database, { say, everyMs = REPORTED_AFTER_MS }: LockWait): Promise<void> {
  await db.execute(sql.raw(`set lock_timeout = ${Math.ceil(everyMs)}`));
  for (;;) {
    try {
      await db.execute(sql`select pg_advisory_lock(${LOCKS.migration})`);
      break;
    } catch (error) {
      if (codeOf(error instanceof DrizzleQueryError ? error.cause : error) !== LOCK_NOT_AVAILABLE)
        throw error;
      say(`the start waits for the lock of migrations, which ${await holderOfLock(db)} has`);
    }
  }
  await db.execute(sql`set lock_timeout = 0`);
}

const LOCK_NOT_AVAILABLE = '55P03';

const holderRow = z.object({ pid: z.number(), program: z.string().nullable(), host: z.string().nullable() });

/** The connection that has the lock, for the operator. */
async function holderOfLock(db: Database): Promise<string> {
  const [row] = await db.execute(sql`
    select l.pid, a.application_name as program, host(a.client_addr) as host
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.database = a.datid
      and ((l.classid::bigint << 32) | l.objid::bigint) = ${LOCKS.migration}`);
  if (row === undefined) return 'another connection';
  const { pid, program, host } = holderRow.parse(row);
  return `the connection of ${program || 'a program'} from ${host ?? 'this machine'} (pid ${pid} of PostgreSQL)`;
}

/** Brings the database up to date under the lock. */
export async function migrateDatabase(
  connection: PostgresConnection,
  migrationsFolder: string = MIGRATIONS_FOLDER,
): Promise<void> {
  await withMigrationLock(connection, async (db) => {
    await applyMigrations(db, await findPendingMigrations(db, migrationsFolder));
  });
}

/** A file of drizzle/ with its statements. */
export interface PostgresMigration extends Migration {
  readonly statements: readonly string[];
  /** From the journal of drizzle/, in milliseconds. */
  readonly createdAt: number;
}

/** In order. Throws a `MigrationError` and changes nothing if this version does not know the state of the database. */
export async function findPendingMigrations(
  db: Database,
  migrationsFolder: string = MIGRATIONS_FOLDER,
): Promise<PostgresMigration[]> {
  const journal = await readJournal(migrationsFolder);
  return pendingMigrations(STORE, knownMigrations(journal, migrationsFolder), await readApplied(db, journal));
}

function knownMigrations(journal: Journal, migrationsFolder: string): PostgresMigration[] {
  return readMigrationFiles({ migrationsFolder }).map((file) => ({
    name: nameOf(journal, file.folderMillis),
    checksum: file.hash,
    statements: file.sql,
    createdAt: file.folderMillis,
  }));
}

/** The applied migrations, in order. */
export async function findAppliedMigrations(db: Database): Promise<Migration[]> {
  return await readApplied(db, await readJournal(MIGRATIONS_FOLDER));
}

/**
 * The migrations from an empty database to one with `applied`. Throws a `MigrationError` if this version does not know
 * them, even if they only add something: it could not create the additions.
 */
export async function migrationsOf(applied: readonly Migration[]): Promise<PostgresMigration[]> {
  const known = knownMigrations(await readJournal(MIGRATIONS_FOLDER), MIGRATIONS_FOLDER);
  const names = new Set(known.map(({ name }) => name));
  const unknown = applied.find(({ name }) => !names.has(name));
  if (unknown !== undefined) {
    throw new MigrationError(
      `the backup has the migration ${unknown.name}, which this version of tallyhouse does not know: restore it with the version that created it, or a later one`,
    );
  }
  const later = new Set(pendingMigrations(STORE, known, applied));
  return known.filter((migration) => !later.has(migration));
}

/** All or none of them. Throws a `MigrationError` that names the failed one. */
export async function applyMigrations(db: Database, pending: readonly PostgresMigration[]): Promise<void> {
  if (pending.length === 0 && (await isRecordMoved(db))) return;
  try {
    // One transaction: until all of it is done, the earlier version can continue with the data.
    await db.transaction(async (tx) => {
      await moveRecord(tx);
      await addNamesToRecord(tx);
      for (const { name, statements, checksum, createdAt } of pending) {
        for (const statement of statements) await tx.execute(sql.raw(statement));
        await recordApplied(tx, { name, checksum, createdAt });
      }
    });
  } catch (error) {
    const query = error instanceof DrizzleQueryError ? error.query : undefined;
    const failed = pending.find(({ statements }) => query !== undefined && statements.includes(query));
    const which =
      failed === undefined ? pending.map(({ name }) => name).join(', ') || 'of the record' : failed.name;
    throw new MigrationError(
      `migration ${which} could not be applied to ${STORE}: ${failureReason(error)}. ` +
        'Nothing of it was kept and no data is lost. Remove the cause and start again, or go back to the version before (docs/how-to/operations.md)',
      { cause: error },
    );
  }
}

const journalSchema = z.object({ entries: z.array(z.object({ tag: z.string(), when: z.int() })) });
type Journal = z.output<typeof journalSchema>['entries'];

async function readJournal(migrationsFolder: string): Promise<Journal> {
  const text = await readFile(join(migrationsFolder, 'meta', '_journal.json'), 'utf8');
  return journalSchema.parse(JSON.parse(text)).entries;
}

/** Drizzle records the creation time of a migration, which names one that is missing in the journal. */
function nameOf(journal: Journal, when: number): string {
  return journal.find((entry) => entry.when === when)?.tag ?? `of ${formatInstant(when)}`;
}

const appliedRow = z.object({ hash: z.string(), created_at: z.coerce.number(), name: z.string().nullable() });

async function readApplied(db: Database, journal: Journal): Promise<Migration[]> {
  const record = await recordOf(db);
  if (record === null) return [];
  // A record of an earlier version has no column of names.
  const rows = await db.execute(sql`
    select hash, created_at, to_jsonb(applied) ->> 'name' as name from ${record} as applied order by created_at, id`);
  return z
    .array(appliedRow)
    .parse([...rows])
    .map((row) => ({ name: row.name ?? nameOf(journal, row.created_at), checksum: row.hash }));
}
