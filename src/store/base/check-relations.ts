/**
 * Checks that a PostgreSQL used by this service alone is complete: asks it about files that looked damaged before it
 * started, has it read its tables and indexes, whose pages have checksums, and compares the end of its log with the
 * recorded position.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from './database.ts';

/** A file as `pg_relation_filepath` names it, and its fault. */
export interface SuspectFile {
  readonly path: string;
  readonly what: string;
}

/**
 * Read at a start, the smallest first: larger databases would delay the start. The rest is checked when it is read
 * later.
 */
const READ_BYTES_MAX = 256 * 1024 * 1024;

const relationRow = z.object({ name: z.string(), path: z.string() });

/** The suspects that still belong to a table or an index; files of removed ones are gone on purpose. */
export async function damagedRelations(db: Database, suspects: readonly SuspectFile[]): Promise<string[]> {
  if (suspects.length === 0) return [];
  const rows = await db.execute(sql`
    select oid::regclass::text as name, pg_relation_filepath(oid) as path from pg_class
    where pg_relation_filepath(oid) is not null`);
  const names = new Map(
    z
      .array(relationRow)
      .parse([...rows])
      .map(({ name, path }) => [path, name]),
  );
  return suspects.flatMap(({ path, what }) => {
    const name = names.get(path);
    return name === undefined ? [] : [`${path} (${name}) ${what}`];
  });
}

/** Thrown to roll back, so that nothing stays in the database. */
class Undone extends Error {}

/**
 * Reads the pages of all tables and indexes, which throws PostgreSQL's error for a damaged one. Does nothing if the
 * server lacks the extension for it.
 */
export async function readRelations(db: Database): Promise<void> {
  const [found] = await db.execute(sql`select 1 from pg_available_extensions where name = 'pg_prewarm'`);
  if (found === undefined) return;
  const reading = db.transaction(async (tx) => {
    await tx.execute(sql`create extension if not exists pg_prewarm`);
    await tx.execute(sql`
      select sum(pg_prewarm(oid, 'read')) from (
        select oid, sum(pg_relation_size(oid)) over (order by pg_relation_size(oid), oid) as bytes
        from pg_class where relkind in ('r', 'i', 't', 'S', 'm') and relpersistence = 'p'
      ) as relations
      where bytes <= ${READ_BYTES_MAX}`);
    throw new Undone();
  });
  await reading.catch((error: unknown) => {
    if (isDamage(error)) throw error;
  });
}

/** Codes for unreadable data or indexes, missing files, and disk errors. */
const DAMAGE_CODES = /^(?:XX00[0-2]|58\w{3})$/;

function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && DAMAGE_CODES.test(String(error.code))) || isDamage(error.cause);
}

const positionRow = z.object({ written: z.string(), isDurable: z.boolean() });

/** Where the log ends, and whether it is on disk up to that position. */
export async function endOfLog(db: Database): Promise<z.infer<typeof positionRow>> {
  const [row] = await db.execute(sql`
    select inserted::text as written, pg_current_wal_flush_lsn() >= inserted as "isDurable"
    from (select pg_current_wal_insert_lsn() as inserted) as position`);
  return positionRow.parse(row);
}

/**
 * Whether the server, which has just started, found its log up to `position`. It treats a damaged record as the end of
 * the log, and the checkpoint it then writes shows the position of that end.
 */
export async function hasLogUpTo(db: Database, position: string): Promise<boolean> {
  const [row] = await db.execute(sql`
    select redo_lsn >= ${position}::pg_lsn as reached from pg_control_checkpoint()`);
  return z.object({ reached: z.boolean() }).parse(row).reached;
}
