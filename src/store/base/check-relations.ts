/**
 * Whether a PostgreSQL that is ours alone has what it had: asks it about files that looked damaged before it started, has
 * it read its tables and indexes, whose pages have checksums, and compares the end of its log with what was there.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from './database.ts';

/** A file as `pg_relation_filepath` names it, and what is wrong with it. */
export interface SuspectFile {
  readonly path: string;
  readonly what: string;
}

/** Read at a start, the smallest first: larger databases would hold it up. Whatever is read later is checked then. */
const READ_BYTES_MAX = 256 * 1024 * 1024;

const relationRow = z.object({ name: z.string(), path: z.string() });

/** The suspects that still belong to a table or an index: those of removed ones are gone on purpose. */
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

/** Undone at the end, so that nothing stays in the database. */
class Undone extends Error {}

/**
 * Reads the pages of all tables and indexes, which throws what PostgreSQL says of a damaged one. Does nothing where the
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

/** Of data or an index that cannot be read, a file that is missing, an error of the disk. */
const DAMAGE_CODES = /^(?:XX00[0-2]|58\w{3})$/;

function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && DAMAGE_CODES.test(String(error.code))) || isDamage(error.cause);
}

const positionRow = z.object({ written: z.string(), isDurable: z.boolean() });

/** Where the log ends, and whether it is on disk as far as that. */
export async function endOfLog(db: Database): Promise<z.infer<typeof positionRow>> {
  const [row] = await db.execute(sql`
    select inserted::text as written, pg_current_wal_flush_lsn() >= inserted as "isDurable"
    from (select pg_current_wal_insert_lsn() as inserted) as position`);
  return positionRow.parse(row);
}

/**
 * Whether the server, which has just started, found its log as far as `position`. It takes a damaged record for the end
 * of the log, and the checkpoint that it makes there says where that was.
 */
export async function hasLogUpTo(db: Database, position: string): Promise<boolean> {
  const [row] = await db.execute(sql`
    select redo_lsn >= ${position}::pg_lsn as reached from pg_control_checkpoint()`);
  return z.object({ reached: z.boolean() }).parse(row).reached;
}
