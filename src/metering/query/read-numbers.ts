/**
 * Selects the reader for the numbers of a metric. Parsing every text exactly costs a sixth of a statement, and most
 * metrics have integers only. So the integer reader is tried first, and if there is any other text the statement is run
 * again with the exact reader: the result is the same.
 */
import { ClickHouseError } from '@clickhouse/client';
import type { StreamingMetric } from '../../core/metric.ts';
import { AGGREGATES } from './aggregate-sql.ts';
import type { NumberReader } from './number-sql.ts';

/** The code of `throwIf`, which no other part of these statements uses. */
const OTHER_TEXT = '395';

/** Metrics, or sets of metrics of one statement, with other texts. Losing an entry costs a failed statement. */
const withOtherTexts = new Set<string>();
const METRICS_MAX = 10_000;

/**
 * Calls `read` with the reader that fits the metrics of a statement, and again if it was not the right one. `read`
 * aggregates `value_number`, unless the metric needs no number. If the text of a number is aggregated, it has to be
 * checked separately.
 */
export async function readNumbers<Answer>(
  metrics: readonly StreamingMetric[],
  read: (numbers: NumberReader) => Promise<Answer>,
): Promise<Answer> {
  const ids = metrics.map(({ id }) => id);
  // The engine does not report which of several metrics it was.
  const together = ids.join(' ');
  const isKnown = [together, ...ids].some((known) => withOtherTexts.has(known));
  if (isKnown || metrics.some(({ aggregation }) => AGGREGATES[aggregation].takesNumberAsText))
    return await read('exact');
  try {
    return await read('whole');
  } catch (error) {
    if (!(error instanceof ClickHouseError) || error.code !== OTHER_TEXT) throw error;
  }
  const [oldest] = withOtherTexts;
  if (oldest !== undefined && withOtherTexts.size >= METRICS_MAX) withOtherTexts.delete(oldest);
  withOtherTexts.add(together);
  return await read('exact');
}
