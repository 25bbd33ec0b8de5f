/**
 * The frozen hourly lines of finalized invoices.
 *
 * They are written before the transaction that stores the invoice commits, under a fresh `breakdownId`
 * that only that invoice names: lines of a run that did not commit belong to nobody and are never read.
 * Quantities and totals are kept as text, so that no scale limits what an invoice can say.
 */
import { z } from 'zod';
import { decimal } from '../core/decimal.ts';
import { groupBy } from '../core/group-by.ts';
import type { LineWindow } from '../core/invoice.ts';
import { HOUR_MS, type Interval, SECOND_MS } from '../core/time.ts';
import type { ClickHouse } from './clickhouse.ts';

const COLUMNS = ['breakdown_id', 'line_index', 'window_start', 'quantity', 'amount'] as const;

export interface FrozenBreakdown {
  readonly breakdownId: string;
  /** One entry per line and hour in which something happened; every window is one hour of the UTC grid. */
  readonly windows: readonly LineWindow[];
}

/** Writes the hourly lines of many invoices in one insert; they are on disk when it resolves. */
export async function insertFrozenLines(
  clickhouse: ClickHouse,
  breakdowns: readonly FrozenBreakdown[],
): Promise<void> {
  const rows: string[] = [];
  for (const { breakdownId, windows } of breakdowns) {
    for (const { position, window, quantity, total } of windows) {
      const startSeconds = window.start / SECOND_MS;
      rows.push(
        `["${breakdownId}",${position},${startSeconds},"${quantity.toFixed()}","${total.toFixed()}"]\n`,
      );
    }
  }
  if (rows.length === 0) return;
  await clickhouse.insertRows({
    table: 'invoice_hourly_lines',
    columns: COLUMNS,
    rows: Buffer.from(rows.join('')),
  });
}

const frozenRow = z.object({
  breakdown_id: z.string(),
  line_index: z.int(),
  start_seconds: z.int(),
  quantity: z.string(),
  amount: z.string(),
});

/** The hourly lines of some invoices that start within `range`, ascending by hour. */
export async function readFrozenLines(
  clickhouse: ClickHouse,
  breakdownIds: readonly string[],
  range: Interval,
): Promise<Map<string, LineWindow[]>> {
  if (breakdownIds.length === 0) return new Map();
  const rows = await clickhouse.query({
    sql: `
      SELECT breakdown_id, line_index, toUnixTimestamp(window_start) AS start_seconds, quantity, amount
      FROM invoice_hourly_lines
      WHERE breakdown_id IN {breakdown_ids:Array(UUID)}
        AND window_start >= toDateTime({start:UInt32}, 'UTC')
        AND window_start < toDateTime({end:UInt32}, 'UTC')
      ORDER BY breakdown_id, window_start, line_index`,
    params: {
      breakdown_ids: breakdownIds,
      start: Math.ceil(range.start / SECOND_MS),
      end: Math.ceil(range.end / SECOND_MS),
    },
    schema: frozenRow,
  });
  const windows = rows.map((row) => ({
    breakdownId: row.breakdown_id,
    position: row.line_index,
    window: { start: row.start_seconds * SECOND_MS, end: row.start_seconds * SECOND_MS + HOUR_MS },
    quantity: decimal(row.quantity),
    total: decimal(row.amount),
  }));
  return groupBy(windows, (window) => window.breakdownId);
}
