/** Copies the rows of PostgreSQL as a whole while they cannot change, and compares both sides. */
import {
  type CopiedTable,
  type DatabaseSnapshot,
  loadDatabase,
  withDatabaseSnapshot,
} from '../../../store/base/database-copy.ts';
import { LOCKS } from '../../../store/base/lock-numbers.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { CommandFailure } from '../../failures/command-failure.ts';

/** They describe the place of the events: the log, and the parts of the tables. */
export const OF_THE_PLACE = ['event_log', 'event_store_parts', 'event_store_losses'];

export interface MovedRows {
  /** The number of rows of each table that is equal in both, by name. */
  readonly tables: ReadonlyMap<string, number>;
  readonly rows: number;
}

/** All rows or none. Throws a `CommandFailure` if the two differ afterwards. */
export async function movePostgres(
  snapshot: DatabaseSnapshot,
  target: PostgresConnection,
  onBytes: (bytes: number) => void,
): Promise<MovedRows> {
  const tables = snapshot.tables.filter(
    ({ schema, name }) => schema !== 'public' || !OF_THE_PLACE.includes(name),
  );
  await loadDatabase(target, { tables, sequences: snapshot.sequences }, (table) =>
    counted(snapshot.rowsOf(table), onBytes),
  );
  return await withDatabaseSnapshot(target, LOCKS.move, (copy) => compared(snapshot, copy, tables));
}

async function* counted(chunks: AsyncIterable<Buffer>, onBytes: (bytes: number) => void) {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function compared(
  source: DatabaseSnapshot,
  copy: DatabaseSnapshot,
  tables: readonly CopiedTable[],
): Promise<MovedRows> {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const [wanted, found] = await Promise.all([source.fingerprintOf(table), copy.fingerprintOf(table)]);
    if (wanted.rows !== found.rows || wanted.sum !== found.sum)
      throw new CommandFailure(
        `table ${table.name} differs on the server: ${wanted.rows} rows here, ${found.rows} there, and their checksums`,
      );
    counts.set(table.name, wanted.rows);
  }
  const numbers = new Map(
    copy.sequences.map(({ schema, name, lastValue }) => [`${schema}.${name}`, lastValue]),
  );
  const behind = source.sequences.find(
    ({ schema, name, lastValue }) => lastValue !== null && numbers.get(`${schema}.${name}`) !== lastValue,
  );
  if (behind !== undefined) throw new CommandFailure(`sequence ${behind.name} differs on the server`);
  return { tables: counts, rows: [...counts.values()].reduce((sum, rows) => sum + rows, 0) };
}
