/** The aggregate of a metric over the events of one row of the result, in SQL. Its column is exact text. */

import { unreachable } from '../../core/errors.ts';
import type { Aggregation } from '../../core/metric.ts';

/**
 * Sorts events by timestamp, then ingestion, then transaction id. It is (timestamp, ingested_at,
 * transaction_id) as bytes, the numbers big-endian: argMax takes less than half the time that it needs
 * for a tuple, because a customer's events are stored in order of time and each one replaces the last.
 */
export const ORDER_OF_EVENTS = `concat(
    reverse(reinterpretAsFixedString(
      bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64) + toUnixTimestamp64Micro(ingested_at)
    )),
    transaction_id
  )`;

/**
 * LATEST: the greatest timestamp wins, then the last ingested, then the greatest transaction id. It
 * gives back the text as it was sent; the others give plain decimal text.
 */
export function aggregateSql(aggregation: Aggregation): string {
  switch (aggregation) {
    case 'COUNT':
      return 'toString(count())';
    case 'SUM':
      return 'toString(sum(value_number))';
    case 'MAX':
      return 'toString(max(value_number))';
    case 'UNIQUE':
      return 'toString(uniqExact(value_text))';
    case 'LATEST':
      return `argMax(value_text, ${ORDER_OF_EVENTS})`;
    default:
      return unreachable(aggregation);
  }
}
