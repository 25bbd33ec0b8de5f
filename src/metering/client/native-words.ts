/**
 * Parses an answer in ClickHouse's Native format whose columns are all UInt32: blocks of rows, in which the values of
 * each column are contiguous. Little-endian, like every machine that Node is built for except s390x.
 */
import { assert } from '../../core/errors.ts';

/** A block of rows: an array for each column, in the order of the statement, all of the same length. */
export type WordColumns = readonly Uint32Array[];

const TYPE = 'UInt32';
/** Names and types of columns are shorter. */
const TEXT_BYTES_MAX = 4_096;
/** A server sends blocks of some 65,000 rows; a larger count is invalid. */
const BLOCK_ROWS_MAX = 100_000_000;

/**
 * The blocks of an answer that arrives in pieces of any size. Throws if the answer is something else, such as the text
 * of an error, and if it ends within a block. It may end between two blocks: the sender has to ensure that it is
 * complete.
 */
export async function* wordBlocks(
  pieces: AsyncIterable<Buffer>,
  columnCount: number,
): AsyncGenerator<WordColumns, void, undefined> {
  const reader = new PiecesReader(pieces);
  try {
    while (await reader.hasMore()) {
      assert((await reader.count(columnCount)) === columnCount, `an answer has ${columnCount} columns`);
      const rows = await reader.count(BLOCK_ROWS_MAX);
      const columns: Uint32Array[] = [];
      while (columns.length < columnCount) columns.push(await readColumn(reader, rows));
      if (rows > 0) yield columns;
    }
  } finally {
    await reader.close();
  }
}

async function readColumn(reader: PiecesReader, rows: number): Promise<Uint32Array> {
  await reader.text();
  const type = await reader.text();
  assert(type === TYPE, `a column is ${TYPE}, not ${type}`);
  return await reader.words(rows);
}

class PiecesReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#at === this.#piece.length) {
      const next = await this.#pieces.next();
      if (next.done === true) return false;
      this.#piece = next.value;
      this.#at = 0;
    }
    return true;
  }

  /** This many words: a view of the piece if they are contiguous and aligned, else a copy. */
  async words(count: number): Promise<Uint32Array> {
    const bytes = count * Uint32Array.BYTES_PER_ELEMENT;
    const offset = this.#piece.byteOffset + this.#at;
    if (this.#at + bytes <= this.#piece.length && offset % Uint32Array.BYTES_PER_ELEMENT === 0) {
      this.#at += bytes;
      return new Uint32Array(this.#piece.buffer, offset, count);
    }
    const words = new Uint32Array(count);
    await this.fill(new Uint8Array(words.buffer));
    return words;
  }

  /** Fills the buffer. */
  async fill(room: Uint8Array): Promise<void> {
    for (let filled = 0; filled < room.length; ) {
      assert(await this.hasMore(), 'an answer ends with a whole block');
      const copied = this.#piece.copy(room, filled, this.#at);
      this.#at += copied;
      filled += copied;
    }
  }

  /** A varint of at most `max`. */
  async count(max: number): Promise<number> {
    const byte = new Uint8Array(1);
    let value = 0;
    for (let scale = 1; scale <= max; scale *= 128) {
      await this.fill(byte);
      const [bits = 0] = byte;
      value += (bits % 128) * scale;
      if (bits < 128) break;
    }
    assert(value <= max, `a count is at most ${max}`);
    return value;
  }

  async text(): Promise<string> {
    const bytes = Buffer.alloc(await this.count(TEXT_BYTES_MAX));
    await this.fill(bytes);
    return bytes.toString('utf8');
  }

  /** Cancels the query if it is still being read. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
