/** Copies the rows of PostgreSQL, in pieces; unchanged ones are shared with the previous backup. */

import { crc32 } from 'node:zlib';
import type { DatabaseSnapshot } from '../../../store/base/database-copy.ts';
import type { Manifest } from '../../backups/manifest.ts';
import type { BackupWriter } from '../../backups/repository.ts';

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

const PIECE_BYTES_MIN = 256 * 1024;
const PIECE_BYTES_MAX = 4 * 1024 * 1024;
/** After the minimum, the average number of further bytes of a piece. */
const PIECE_BYTES_MORE = 768 * 1024;

export interface RowPiece {
  readonly rows: number;
  readonly bytes: Buffer;
}

/**
 * Splits rows of a table into pieces of about a megabyte, at boundaries that depend on the rows alone: added, changed
 * or removed rows change only the pieces around them, and the others are the same as in the previous backup.
 * `rows`: lines, in chunks of any size.
 */
export async function* rowPieces(rows: AsyncIterable<Buffer>): AsyncGenerator<RowPiece, void, undefined> {
  const piece = new OpenPiece();
  for await (const chunk of rows) {
    let pieceStart = 0;
    let rowStart = 0;
    for (let end = chunk.indexOf(NEWLINE) + 1; end > 0; end = chunk.indexOf(NEWLINE, rowStart) + 1) {
      piece.rows += 1;
      const size = piece.bytes + end - pieceStart;
      const isEnd = endsPiece(chunk.subarray(rowStart, end), size);
      rowStart = end;
      if (!isEnd) continue;
      piece.add(chunk.subarray(pieceStart, end));
      yield piece.take();
      pieceStart = end;
    }
    piece.add(chunk.subarray(pieceStart));
  }
  if (piece.bytes > 0) yield piece.take();
}

const NEWLINE = 0x0a;

class OpenPiece {
  rows = 0;
  bytes = 0;
  #chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.bytes += chunk.length;
  }

  take(): RowPiece {
    const taken = { rows: this.rows, bytes: Buffer.concat(this.#chunks) };
    this.rows = 0;
    this.bytes = 0;
    this.#chunks = [];
    return taken;
  }
}

/** A row that began in another chunk is judged by its end. */
function endsPiece(row: Buffer, size: number): boolean {
  if (size >= PIECE_BYTES_MAX) return true;
  return size >= PIECE_BYTES_MIN && crc32(row) / 2 ** 32 < row.length / PIECE_BYTES_MORE;
}
