/**
 * Parses an answer in ClickHouse's Native format that has a row for each window of a line, in the order of the lines
 * and of their windows: the customer, the group values of the line, the start of the window, and the value of each
 * metric. An invoice run reads very many windows; as JSON they cost several times as much on either side.
 * Little-endian, like every machine that Node is built for except s390x.
 *
 * The bytes are kept as received, until a line is unpacked: as one text, in which each character is a byte.
 */
import { assert } from '../../core/errors.ts';
import type { PackedLine, WindowVisitor } from './packed-series.ts';

/** The columns of such an answer: `owner`, the groups, `window_offset`, the values. */
export interface WindowColumns {
  readonly groupCount: number;
  readonly metricCount: number;
}

/** One line of a customer. */
export interface WindowLine {
  /** Index of the customer. */
  readonly owner: number;
  /** For each metric, in order; without windows if it has no usage. */
  readonly metrics: readonly PackedLine[];
}

/** Throws if the answer is something else, such as the text of an error, and if it ends within a block. */
export function readWindowRows(answer: Buffer, { groupCount, metricCount }: WindowColumns): WindowLine[] {
  const reader = new NativeReader(answer);
  const lines: RowsOfLine[] = [];
  while (reader.hasMore()) {
    const { columnCount, rowCount } = reader.blockStart();
    assert(columnCount === groupCount + metricCount + 2, 'an answer has the columns that were asked for');
    const owners = reader.numbers(rowCount);
    const groups = Array.from({ length: groupCount }, () => reader.texts(rowCount));
    const offsets = reader.numbers(rowCount);
    const stretches = stretchesOf(lines, reader, { owners, groups, offsets });
    for (let metric = 0; metric < metricCount; metric += 1) reader.values(rowCount, stretches, metric);
  }
  return lines.map((line) => ({
    owner: line.owner,
    metrics: Array.from({ length: metricCount }, (_, metric) => packedLine(line, metric, reader.text)),
  }));
}

/** Rows of one line in one block. */
interface Stretch {
  readonly offsets: Uint32Array;
  /** Rows from this one up to but excluding `to`. */
  readonly from: number;
  to: number;
  /** For each metric the offset of its values in the text, and how many of them are not empty. */
  readonly valuesAt: number[];
  readonly counts: number[];
}

interface RowsOfLine {
  readonly owner: number;
  readonly groupValues: readonly string[];
  readonly stretches: Stretch[];
}

interface Keys {
  readonly owners: Uint32Array;
  /** For each group the offset of each row's text, and the end. */
  readonly groups: readonly Uint32Array[];
  readonly offsets: Uint32Array;
}

/** The stretches of a block, ascending; the first stretch of another line is added to `lines`. */
function stretchesOf(
  lines: RowsOfLine[],
  reader: NativeReader,
  { owners, groups, offsets }: Keys,
): Stretch[] {
  const stretches: Stretch[] = [];
  let current: Stretch | null = null;
  for (let row = 0; row < owners.length; row += 1) {
    if (current !== null && isSameLine(reader, owners, groups, row)) {
      current.to = row + 1;
      continue;
    }
    current = { offsets, from: row, to: row + 1, valuesAt: [], counts: [] };
    stretches.push(current);
    const owner = owners[row] ?? 0;
    const groupValues = groups.map((starts) => reader.textAt(starts[row] ?? 0));
    const last = lines.at(-1);
    // The last line of the previous block may continue.
    if (row === 0 && last?.owner === owner && hasValues(last, groupValues)) last.stretches.push(current);
    else lines.push({ owner, groupValues, stretches: [current] });
  }
  return stretches;
}

function isSameLine(
  reader: NativeReader,
  owners: Uint32Array,
  groups: readonly Uint32Array[],
  row: number,
): boolean {
  return (
    owners[row] === owners[row - 1] &&
    groups.every((starts) => reader.isSameText(starts[row - 1] ?? 0, starts[row] ?? 0, starts[row + 1] ?? 0))
  );
}

function hasValues({ groupValues }: RowsOfLine, values: readonly string[]): boolean {
  return groupValues.every((value, index) => value === values[index]);
}

function packedLine({ groupValues, stretches }: RowsOfLine, metric: number, text: string): PackedLine {
  return {
    groupValues,
    count: stretches.reduce((sum, { counts }) => sum + (counts[metric] ?? 0), 0),
    eachWindow(visit) {
      for (const { offsets, from, to, valuesAt } of stretches) {
        eachValue(text, valuesAt[metric] ?? 0, offsets.subarray(from, to), visit);
      }
    },
  };
}

/** Values are shorter than 128 bytes, so their length takes one byte. */
const LENGTH_MAX = 127;

/** Empty values belong to windows without usage. */
function eachValue(text: string, start: number, offsets: Uint32Array, visit: WindowVisitor): void {
  let at = start;
  for (const offset of offsets) {
    const end = at + 1 + text.charCodeAt(at);
    if (end > at + 1) visit(offset, text, at + 1, end);
    at = end;
  }
}

const WORD_BYTES = 4;

class NativeReader {
  /** The answer, one character for each byte. */
  readonly text: string;
  readonly #answer: Buffer;
  #at = 0;

  constructor(answer: Buffer) {
    this.#answer = answer;
    this.text = answer.toString('latin1');
  }

  hasMore(): boolean {
    return this.#at < this.text.length;
  }

  blockStart(): { readonly columnCount: number; readonly rowCount: number } {
    return { columnCount: this.#count(), rowCount: this.#count() };
  }

  numbers(rowCount: number): Uint32Array {
    this.#column('UInt32');
    const words = new Uint32Array(rowCount);
    const end = this.#skip(rowCount * WORD_BYTES);
    this.#answer.copy(new Uint8Array(words.buffer), 0, end - words.byteLength, end);
    return words;
  }

  /** The offset of each text, and the end. */
  texts(rowCount: number): Uint32Array {
    this.#column('String');
    const starts = new Uint32Array(rowCount + 1);
    for (let row = 0; row < rowCount; row += 1) {
      starts[row] = this.#at;
      this.#skip(this.#count());
    }
    starts[rowCount] = this.#at;
    return starts;
  }

  /** The values of all stretches of a block, which follow them. */
  values(rowCount: number, stretches: readonly Stretch[], metric: number): void {
    this.#column('String');
    const { text } = this;
    let at = this.#at;
    for (const { from, to, valuesAt, counts } of stretches) {
      valuesAt[metric] = at;
      let count = 0;
      for (let row = from; row < to; row += 1) {
        const length = text.charCodeAt(at);
        assert(length <= LENGTH_MAX, 'a value is a short text');
        if (length > 0) count += 1;
        at += 1 + length;
      }
      counts[metric] = count;
    }
    assert(
      at <= text.length && (stretches.at(-1)?.to ?? 0) === rowCount,
      'an answer ends with a whole block',
    );
    this.#at = at;
  }

  /** The text at this offset. */
  textAt(start: number): string {
    const before = this.#at;
    this.#at = start;
    const length = this.#count();
    const value = this.#answer.toString('utf8', this.#at, this.#at + length);
    this.#at = before;
    return value;
  }

  /** Whether the text between two offsets equals the one that ends at `end`. */
  isSameText(start: number, middle: number, end: number): boolean {
    return this.#answer.compare(this.#answer, middle, end, start, middle) === 0;
  }

  #column(type: string): void {
    this.#name();
    const own = this.#name();
    assert(own === type, `a column is ${type}, not ${own}`);
  }

  #name(): string {
    const length = this.#count();
    const end = this.#skip(length);
    return this.text.slice(end - length, end);
  }

  /** A varint. */
  #count(): number {
    let value = 0;
    for (let scale = 1; scale <= COUNT_MAX; scale *= 128) {
      const bits = this.text.charCodeAt(this.#skip(1) - 1);
      value += (bits % 128) * scale;
      if (bits < 128) return value;
    }
    assert(false, 'a count of an answer is a number');
  }

  /** Skips this many bytes and returns the offset before. */
  #skip(bytes: number): number {
    this.#at += bytes;
    assert(this.#at <= this.text.length, 'an answer ends with a whole block');
    return this.#at;
  }
}

/** More than the bytes of any answer. */
const COUNT_MAX = 2 ** 40;
