/** Cells of the views of queries across customers, and parts of their rows. */
import { type Decimal, roundDecimal } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { ViewRow } from '../../metering/sql/generate/view-sql.ts';
import type { Transaction } from '../../store/base/database.ts';

export interface ViewSnapshot {
  /** One snapshot for all views of a query. */
  readonly db: Transaction;
  readonly clickhouse: ClickHouse;
  readonly now: Instant;
}

/** Rows of a view, and where the next part begins; null: there is none. */
export interface RowsPart {
  readonly rows: ViewRow[];
  readonly next: string | null;
}

/** Epoch milliseconds. */
export function time<Value extends Instant | null>(at: Value): string | null {
  return at === null ? null : String(at);
}

/** As many places as a number of a query has. */
const PLACES = 30;

export function exact(value: Decimal): string {
  return roundDecimal(value, 'ROUND_HALF_UP', PLACES).toFixed();
}
