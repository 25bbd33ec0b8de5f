/** The aggregate of a metric over the events of one row of the result, in SQL. Its column is exact text. */

import { unreachable } from '../../core/errors.ts';
import type { Aggregation } from '../../core/metric.ts';

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
      return 'argMax(value_text, (timestamp, ingested_at, transaction_id))';
    default:
      return unreachable(aggregation);
  }
}
