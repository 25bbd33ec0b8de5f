/** The frozen hours of invoices in memory, written and read as billing does it with ClickHouse (frozen-lines.ts). */
import type { RowsInsert, SelectStatement } from '../../../src/metering/client/clickhouse.ts';
import { FROZEN_LINES_INSERT } from '../../../src/metering/frozen-lines/frozen-rows.ts';
import { RowReader } from '../../../src/metering/ingest/row-binary.ts';

interface FrozenRow {
  readonly id: string;
  readonly position: number;
  readonly seconds: readonly number[];
  readonly quantities: readonly string[];
  readonly amounts: readonly string[];
}

interface NaiveFrozenLines {
  /** Rows of other tables are left out. */
  insert(insert: RowsInsert): void;
  /** Null: a statement that does not read them. */
  select(statement: SelectStatement): unknown[] | null;
}

export function naiveFrozenLines(): NaiveFrozenLines {
  const stored: FrozenRow[] = [];
  return {
    insert({ table, rows }) {
      if (table === FROZEN_LINES_INSERT.table) stored.push(...decoded(rows));
    },
    select({ sql, params = {} }) {
      if (!sql.includes(`FROM ${FROZEN_LINES_INSERT.table}`)) return null;
      const ids = params.breakdown_ids as readonly string[];
      const [start, end, first, after] = ['start', 'end', 'first_line', 'end_line'].map((name) =>
        Number(params[name]),
      ) as [number, number, number, number];
      return stored
        .filter(({ id, position }) => ids.includes(id) && first <= position && position < after)
        .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.position - b.position))
        .map(({ id, position, ...hours }) => {
          const isAsked = (_: unknown, hour: number) => {
            const at = hours.seconds[hour] ?? 0;
            return start <= at && at < end;
          };
          return {
            ...{ breakdown_id: id, line_index: position },
            hour_seconds: hours.seconds.filter(isAsked),
            hour_quantities: hours.quantities.filter(isAsked),
            hour_amounts: hours.amounts.filter(isAsked),
          };
        });
    },
  };
}

const UUID_BYTES = 16;
const WORD_BYTES = 4;

function* decoded(rows: Buffer): Generator<FrozenRow> {
  const reader = new RowReader(rows);
  const word = () => {
    reader.offset += WORD_BYTES;
    return rows.readUInt32LE(reader.offset - WORD_BYTES);
  };
  const list = <Item>(read: () => Item) => Array.from({ length: reader.length() }, read);
  while (!reader.isAtEnd) {
    const id = uuidAt(rows, reader.offset);
    reader.offset += UUID_BYTES;
    const position = word();
    // The first hour, which is among the hours again.
    word();
    const seconds = list(word);
    const quantities = list(() => reader.text());
    yield { id, position, seconds, quantities, amounts: list(() => reader.text()) };
  }
}

/** ClickHouse has either half of it with its last byte first. */
function uuidAt(rows: Buffer, start: number): string {
  const bytes = Buffer.from(rows.subarray(start, start + UUID_BYTES));
  bytes.subarray(0, UUID_BYTES / 2).reverse();
  bytes.subarray(UUID_BYTES / 2).reverse();
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
