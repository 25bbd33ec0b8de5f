/**
 * The frozen hourly lines of finalized invoices.
 *
 * They are written before the transaction that stores the invoice commits, under a fresh `breakdownId` that only that
 * invoice refers to: lines of a run that did not commit are never read. Quantities and totals are stored as text, so
 * that they keep all digits.
 */
import { z } from 'zod';
import { decimal } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { LineWindow } from '../../core/invoice.ts';
import { HOUR_MS, type Interval, SECOND_MS } from '../../core/time.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { FROZEN_LINES_INSERT, type FrozenLine, FrozenRows } from './frozen-rows.ts';

/** Writes hourly lines in inserts of bounded size, one at a time. */
export interface FrozenLinesWriter {
  /** Lines of one invoice, which may be added in parts. Waits while the buffer is full. */
  add(breakdownId: string, lines: readonly FrozenLine[]): Promise<void>;
  /** Resolves when all lines are on disk. */
  finish(): Promise<void>;
}

/** The bytes of rows in one insert; as many are buffered during the insert. */
const INSERT_BYTES_MAX = 4 * 1024 * 1024;

export function createFrozenLinesWriter(clickhouse: ClickHouse): FrozenLinesWriter {
  let rows = new FrozenRows();
  let written = new FrozenRows();
  let inserting: Promise<void> = Promise.resolve();
  async function flush(): Promise<void> {
    await inserting;
    [rows, written] = [written, rows];
    rows.clear();
    inserting = insertLines(clickhouse, written);
    // Its failure is thrown by the next flush, or at the end.
    inserting.catch(() => undefined);
  }
  return {
    async add(breakdownId, lines) {
      for (const line of lines) {
        rows.add(breakdownId, line);
        if (rows.byteLength >= INSERT_BYTES_MAX) await flush();
      }
    },
    async finish() {
      await flush();
      await inserting;
    },
  };
}

async function insertLines(clickhouse: ClickHouse, { bytes }: FrozenRows): Promise<void> {
  if (bytes.length === 0) return;
  await clickhouse.insertRows({ ...FROZEN_LINES_INSERT, rows: bytes });
}

const frozenRow = z.object({
  breakdown_id: z.string(),
  line_index: z.int(),
  hour_seconds: z.array(z.number()),
  hour_quantities: z.array(z.string()),
  hour_amounts: z.array(z.string()),
});

/** Positions of lines, from `first` up to but excluding `end`. */
export interface LineRange {
  readonly first: number;
  readonly end: number;
}

/** More lines than any invoice has. */
const ALL_LINES: LineRange = { first: 0, end: 2 ** 32 - 1 };

/**
 * The hourly lines of some invoices that start within `range`: line by line, ascending by hour. Only those in `lines`,
 * if given.
 */
export async function readFrozenLines(
  clickhouse: ClickHouse,
  breakdownIds: readonly string[],
  range: Interval,
  lines: LineRange = ALL_LINES,
): Promise<Map<string, LineWindow[]>> {
  if (breakdownIds.length === 0) return new Map();
  const rows = await clickhouse.query({
    eventsOf: NO_EVENTS,
    sql: `
      WITH
        arrayMap(hour -> toUnixTimestamp(hour), hours) AS all_seconds,
        arrayMap(at -> at >= {start:UInt32} AND at < {end:UInt32}, all_seconds) AS is_asked
      SELECT breakdown_id, line_index,
        arrayFilter((value, asked) -> asked, all_seconds, is_asked) AS hour_seconds,
        arrayFilter((value, asked) -> asked, quantities, is_asked) AS hour_quantities,
        arrayFilter((value, asked) -> asked, amounts, is_asked) AS hour_amounts
      FROM invoice_hourly_lines
      WHERE breakdown_id IN {breakdown_ids:Array(UUID)}
        AND line_index >= {first_line:UInt32} AND line_index < {end_line:UInt32}
      ORDER BY breakdown_id, line_index`,
    params: {
      breakdown_ids: breakdownIds,
      start: Math.ceil(range.start / SECOND_MS),
      end: Math.ceil(range.end / SECOND_MS),
      first_line: lines.first,
      end_line: lines.end,
    },
    schema: frozenRow,
  });
  return new Map(
    [...groupBy(rows, (row) => row.breakdown_id)].map(([id, own]) => [id, own.flatMap(windowsOf)]),
  );
}

function windowsOf(line: z.output<typeof frozenRow>): LineWindow[] {
  return line.hour_seconds.map((seconds, index) => {
    const start = seconds * SECOND_MS;
    return {
      position: line.line_index,
      window: { start, end: start + HOUR_MS },
      quantity: decimal(line.hour_quantities[index] ?? ''),
      total: decimal(line.hour_amounts[index] ?? ''),
    };
  });
}
