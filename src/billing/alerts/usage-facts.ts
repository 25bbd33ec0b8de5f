/** The usage that alerts are compared with: metrics over the time of the open usage invoices of a customer. */
import type { Alert } from '../../core/alerts.ts';
import { ZERO } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageFact } from '../../rating/alerts/facts.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import { loadMetrics } from '../../store/metrics/billable-metrics.ts';
import type { SnapshotContext } from '../billing-context.ts';
import { openPeriods } from '../invoice-queue/usage-periods.ts';
import { measureRuns } from '../usage/measure-batch.ts';

interface WatchedUsage {
  readonly customerId: string;
  readonly metricId: string;
  /** From the earliest start to the latest end of open invoices. */
  readonly interval: Interval;
}

/** Metrics that take longer are measured at the next evaluation. */
const MEASURED_WITHIN_MS = 10_000;

/** By customer and metric. Usage that cannot be measured is absent; null: no usage invoice is open. */
export async function loadUsageFacts(
  context: SnapshotContext,
  customers: readonly { readonly customerId: string; readonly alerts: readonly Alert[] }[],
  contracts: readonly Contract[],
  now: Instant,
): Promise<Map<string, Map<string, UsageFact | null>>> {
  const facts = new Map<string, Map<string, UsageFact | null>>();
  const wanted = customers.flatMap(({ customerId, alerts }) =>
    [...new Set(alerts.flatMap(({ billableMetricId }) => billableMetricId ?? []))].map((metricId) => ({
      customerId,
      metricId,
    })),
  );
  if (wanted.length === 0) return facts;
  const times = await openTimes(context, contracts, now);
  const keep = (customerId: string, metricId: string, fact: UsageFact | null) => {
    const own = facts.get(customerId) ?? new Map<string, UsageFact | null>();
    facts.set(customerId, own.set(metricId, fact));
  };
  const open = wanted.flatMap((one): WatchedUsage[] => {
    const interval = times.get(one.customerId);
    if (interval === undefined) keep(one.customerId, one.metricId, null);
    return interval === undefined ? [] : [{ ...one, interval }];
  });
  // Customers whose invoices are open for the same time share the queries.
  for (const runs of groupBy(open, ({ interval }) => `${interval.start} ${interval.end}`).values()) {
    for (const { customerId, metricId, value } of await measured(context, runs)) {
      keep(customerId, metricId, value);
    }
  }
  return facts;
}

async function openTimes(
  { db }: SnapshotContext,
  contracts: readonly Contract[],
  now: Instant,
): Promise<Map<string, Interval>> {
  const issuedUntil = await lastIssuedPeriodEnds(
    db,
    contracts.map(({ id }) => id),
  );
  const periods = contracts.flatMap((contract) =>
    openPeriods(contract, issuedUntil.get(contract.id), now).map((period) => ({
      customerId: contract.customerId,
      period,
    })),
  );
  return new Map(
    [...groupBy(periods, ({ customerId }) => customerId)].map(([id, own]) => [
      id,
      {
        start: Math.min(...own.map(({ period }) => period.countedFrom)),
        end: Math.max(...own.map(({ period }) => period.end)),
      },
    ]),
  );
}

/** A metric without matching events is 0: there was no usage. */
async function measured(
  { db, usageSource }: SnapshotContext,
  runs: readonly WatchedUsage[],
): Promise<{ readonly customerId: string; readonly metricId: string; readonly value: UsageFact }[]> {
  const [first] = runs;
  if (first === undefined) return [];
  const { interval: range } = first;
  const metrics = await loadMetrics(db, [...new Set(runs.map(({ metricId }) => metricId))]);
  const request = {
    metrics: new Map([...metrics].map(([id, metric]) => [id, { metric, groupBy: null }])),
    refs: await customerRefs(db, [...new Set(runs.map(({ customerId }) => customerId))]),
    windows: { range, lengthMs: range.end - range.start },
    windowSize: 'NONE' as const,
    ingestedUpTo: null,
  };
  try {
    const { rows } = await measureRuns(usageSource, request, runs, MEASURED_WITHIN_MS);
    return rows.map(({ customerId, metric, value }) => ({
      customerId,
      metricId: metric.id,
      value: { value: value ?? ZERO, since: range.start },
    }));
  } catch (error) {
    // The metric cannot be measured, or its events have been removed.
    if (error instanceof Refusal) return [];
    throw error;
  }
}
