/** Collects the usage that metering could not count for an invoice, by metric. */
import type { Refusal } from '../../../core/errors.ts';
import type { BilledPeriod, InvoiceWarning } from '../../../core/invoice.ts';
import type { InvoiceContext } from '../terms/invoice-context.ts';
import type { SlicedAnswer } from './usage-slices.ts';

export interface UsageNotes {
  add(answers: readonly SlicedAnswer[]): void;
  /** Metrics that could not be evaluated at all. */
  failedMetrics(): ReadonlySet<string>;
  problems(): readonly Refusal[];
  warnings(): readonly InvoiceWarning[];
}

interface Uncounted {
  count: number;
  readonly transactionIds: Set<string>;
}

/** The number of events that are listed, by their ids, among those that are not counted. */
const NAMED_EVENTS_MAX = 100;

export function createUsageNotes(
  { metrics }: Pick<InvoiceContext, 'metrics'>,
  { countedFrom, end }: BilledPeriod,
): UsageNotes {
  const uncounted = new Map<string, Uncounted>();
  const problems = new Map<string, Refusal>();
  const interval = { start: countedFrom, end };
  const named = (billableMetricId: string) => {
    const metricName = metrics.get(billableMetricId)?.name ?? billableMetricId;
    return { billableMetricId, metricName, interval };
  };
  return {
    add(answers) {
      for (const { need, answer } of answers) {
        const { billableMetricId: id } = need;
        if (answer.problem !== null) problems.set(id, answer.problem);
        if (answer.uncounted === null) continue;
        const { count, transactionIds } = answer.uncounted;
        const before = uncounted.get(id) ?? { count: 0, transactionIds: new Set() };
        for (const transactionId of transactionIds) before.transactionIds.add(transactionId);
        // A metric may be asked for several times, and mostly leaves out the same events.
        before.count = Math.max(before.count, count, before.transactionIds.size);
        uncounted.set(id, before);
      }
    },
    failedMetrics: () => new Set(problems.keys()),
    problems: () => [...problems.values()],
    warnings: () => [
      ...[...uncounted].map(
        ([id, { count, transactionIds }]): InvoiceWarning => ({
          kind: 'uncounted_events',
          ...named(id),
          eventCount: count,
          transactionIds: [...transactionIds].slice(0, NAMED_EVENTS_MAX),
        }),
      ),
      ...[...problems].map(
        ([id, { message }]): InvoiceWarning => ({
          kind: 'metric_not_evaluated',
          ...named(id),
          reason: message,
        }),
      ),
    ],
  };
}
