/** Copies the rows of PostgreSQL, in pieces; unchanged ones are shared with the previous backup. */
import type { DatabaseSnapshot } from '../../../store/base/database-copy.ts';
import type { Manifest } from '../../backups/manifest.ts';
import type { BackupWriter } from '../../backups/repository.ts';
import { rowPieces } from './row-pieces.ts';

type CopiedTables = Manifest['postgres']['tables'];

/** The state of the event log in DATA_DIR. A restored service has all events in ClickHouse, and no log. */
const OF_THE_DIRECTORY = ['event_log'];

export async function copyRows(
  snapshot: Pick<DatabaseSnapshot, 'tables' | 'rowsOf'>,
  writer: BackupWriter,
  onBytes: (bytes: number) => void,
): Promise<CopiedTables> {
  const copied: CopiedTables = [];
  for (const table of snapshot.tables) {
    const { schema, name } = table;
    if (schema === 'public' && OF_THE_DIRECTORY.includes(name)) continue;
    let rows = 0;
    const pieces: CopiedTables[number]['pieces'] = [];
    for await (const piece of rowPieces(snapshot.rowsOf(table))) {
      rows += piece.rows;
      pieces.push(await writer.pieceOf(piece.bytes));
      onBytes(piece.bytes.length);
    }
    copied.push({ schema, name, columns: [...table.columns], rows, pieces });
  }
  return copied;
}
