/**
 * The mark in a database that is the target of a move from embedded stores: the id of the move, and whether it has
 * ended. It is in another schema, because the rows of all other tables are copied from the moved stores.
 */
import type postgres from 'postgres';
import { z } from 'zod';
import { connectPostgres, type PostgresConnection } from '../postgres-driver/connect-postgres.ts';

export interface MoveMark {
  readonly id: string;
  /** The target of the events, without user and password. */
  readonly clickhouse: string;
  readonly isEnded: boolean;
}

const markRow = z.object({ id: z.string(), clickhouse: z.string(), ended: z.boolean() });

/** Null if nothing was moved here. */
export async function findMoveMark(connection: PostgresConnection): Promise<MoveMark | null> {
  return await withClient(connection, async (client) => {
    const [table] = await client`select to_regclass('tallyhouse_move.move') is not null as known`;
    if (table?.known !== true) return null;
    const [row] =
      await client`select id, clickhouse, ended_at is not null as ended from tallyhouse_move.move`;
    if (row === undefined) return null;
    const { id, clickhouse, ended } = markRow.parse(row);
    return { id, clickhouse, isEnded: ended };
  });
}

/** The first table of the database that a service would use; null if it is empty. */
export async function firstTable(connection: PostgresConnection): Promise<string | null> {
  return await withClient(connection, async (client) => {
    const [row] = await client`
      select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname in ('public', 'drizzle') order by 1 limit 1`;
    return row === undefined ? null : z.object({ name: z.string() }).parse(row).name;
  });
}

/** All or nothing. Idempotent. */
export async function markMoveTarget(
  connection: PostgresConnection,
  { id, clickhouse }: Pick<MoveMark, 'id' | 'clickhouse'>,
): Promise<void> {
  await withClient(connection, (client) =>
    client.begin(async (tx) => {
      await tx`create schema if not exists tallyhouse_move`;
      await tx`
        create table if not exists tallyhouse_move.move (
          one boolean primary key default true check (one),
          id uuid not null,
          clickhouse text not null,
          started_at timestamptz not null default now(),
          ended_at timestamptz
        )`;
      await tx`insert into tallyhouse_move.move (id, clickhouse) values (${id}, ${clickhouse}) on conflict do nothing`;
    }),
  );
}

/** From now on a service may use the database. */
export async function endMove(connection: PostgresConnection, id: string): Promise<void> {
  await withClient(connection, async (client) => {
    await client`update tallyhouse_move.move set ended_at = coalesce(ended_at, now()) where id = ${id}`;
  });
}

async function withClient<Result>(
  connection: PostgresConnection,
  work: (client: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const client = connectPostgres(connection, { max: 1, connection: { application_name: 'tallyhouse move' } });
  try {
    return await work(client);
  } finally {
    await client.end({ timeout: 5 });
  }
}
