/** Loads the rows of a backup into an empty PostgreSQL, whose tables are those of the backup. */
import { messageOf } from '../../../core/failures.ts';
import { loadDatabase } from '../../../store/base/database-copy.ts';
import { applyMigrations, type migrationsOf, withMigrationLock } from '../../../store/migrations/migrate.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import type { Manifest, Piece } from '../../backups/manifest.ts';
import type { BackupPlace } from '../../backups/place.ts';
import { readPiece } from '../../backups/repository.ts';
import { CommandFailure } from '../../failures/command-failure.ts';

/** All rows or none. Throws a `CommandFailure` if they differ from the backup. */
export async function loadRows(
  connection: PostgresConnection,
  from: BackupPlace,
  { postgres }: Manifest,
  migrations: Awaited<ReturnType<typeof migrationsOf>>,
): Promise<void> {
  await withMigrationLock(connection, (db) => applyMigrations(db, migrations));
  const piecesOfTable = new Map(
    postgres.tables.map((table) => [`${table.schema}.${table.name}`, table.pieces]),
  );
  const counts = await loadDatabase(connection, postgres, ({ schema, name }) =>
    bytesOfPieces(from, piecesOfTable.get(`${schema}.${name}`) ?? []),
  ).catch((error: unknown) => {
    if (error instanceof CommandFailure) throw error;
    const [reason = ''] = messageOf(error).split('\n');
    throw new CommandFailure(`PostgreSQL does not take the rows of the backup: ${reason.slice(0, 500)}`, {
      cause: error,
    });
  });
  const wrong = postgres.tables.find(({ rows }, index) => counts[index] !== rows);
  if (wrong !== undefined)
    throw new CommandFailure(
      `table ${wrong.name} has other rows than the backup: ${wrong.rows} were expected`,
    );
}

async function* bytesOfPieces(from: BackupPlace, pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield* readPiece(from, piece);
}
