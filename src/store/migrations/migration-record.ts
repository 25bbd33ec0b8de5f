/**
 * The record of applied migrations, and a guard against versions that do not read this record.
 *
 * Versions before the record was checked read the last row of `drizzle.__drizzle_migrations` only: a row newer than
 * their own migrations let them start on the data of any later version. So the record is in another table, and that one
 * has a single row, which is older than every migration and known to none. The oldest versions treat their first
 * migration as pending, which fails on the existing tables, and roll back. Versions that check the record report a
 * migration that they do not know.
 */
import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../base/database.ts';

const RECORD = sql`drizzle.applied_migrations`;
const FORMER_RECORD = sql`drizzle.__drizzle_migrations`;

const NEWER_VERSION = 'a newer version of tallyhouse has been started on this data';

/** The table with the record; null if nothing was applied yet. */
export async function recordOf(db: Database): Promise<typeof RECORD | null> {
  const { record, former } = await tablesOf(db);
  return record ? RECORD : former ? FORMER_RECORD : null;
}

export async function isRecordMoved(db: Database): Promise<boolean> {
  return (await tablesOf(db)).record;
}

/**
 * Moves the record of earlier versions, or begins an empty one, and leaves the guard against them. Once for a database.
 */
export async function moveRecord(tx: Transaction): Promise<void> {
  const { record, former } = await tablesOf(tx);
  if (record) return;
  if (former) {
    await tx.execute(sql`alter table ${FORMER_RECORD} rename to applied_migrations`);
    await tx.execute(
      sql`alter sequence if exists drizzle.__drizzle_migrations_id_seq rename to applied_migrations_id_seq`,
    );
    await tx.execute(
      sql`alter index if exists drizzle.__drizzle_migrations_pkey rename to applied_migrations_pkey`,
    );
  } else {
    await tx.execute(sql`create schema if not exists drizzle`);
    // As Drizzle's migrator created the table of earlier versions.
    await tx.execute(
      sql`create table ${RECORD} (id serial primary key, hash text not null, created_at bigint)`,
    );
  }
  await tx.execute(
    sql`create table ${FORMER_RECORD} (id serial primary key, hash text not null, created_at bigint)`,
  );
  await tx.execute(sql`insert into ${FORMER_RECORD} (hash, created_at) values (${NEWER_VERSION}, 0)`);
}

/** Earlier versions recorded no names. */
export async function addNamesToRecord(tx: Transaction): Promise<void> {
  await tx.execute(sql`alter table ${RECORD} add column if not exists name text`);
}

export async function recordApplied(
  tx: Transaction,
  {
    name,
    checksum,
    createdAt,
  }: { readonly name: string; readonly checksum: string; readonly createdAt: number },
): Promise<void> {
  await tx.execute(
    sql`insert into ${RECORD} (hash, created_at, name) values (${checksum}, ${createdAt}, ${name})`,
  );
}

async function tablesOf(db: Database | Transaction): Promise<{ record: boolean; former: boolean }> {
  const [row] = await db.execute(sql`
    select to_regclass('drizzle.applied_migrations') is not null as record,
      to_regclass('drizzle.__drizzle_migrations') is not null as former`);
  return { record: row?.record === true, former: row?.former === true };
}
