/** The Prometheus metrics of ingest, the repeat log and the jobs. */

import type { Registry } from 'prom-client';
import type { UnmatchedTotals } from '../../billing/events/unmatched-events.ts';
import type { InvoiceAlarms } from '../../billing/invoice-log/invoice-alarms.ts';
import { type InvoiceLogStats, unixSeconds } from '../../billing/invoice-log/invoice-log.ts';
import { FINALIZATION_JOB } from '../../billing/invoice-queue/finalization.ts';
import { SCHEDULED_JOB } from '../../billing/invoice-queue/scheduled-jobs.ts';
import { CONSOLIDATION_JOB } from '../../billing/invoices/consolidated/issue.ts';
import type { Clock } from '../../core/clock.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import type { RetentionStats } from '../../jobs/event-retention.ts';
import type { JobStats } from '../../jobs/job-runner.ts';
import type { JobCounts } from '../../jobs/run-batch.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { PoolFigures } from '../../metering/client/connection-pool.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import type { SpanIngest } from '../../metering/otlp/ingest-spans.ts';
import { type Figure, figureByMechanism } from '../../runtime/figures.ts';
import { registerCounter, registerGauge, registerTimes } from './metrics.ts';

/** Counters and gauges of ingest. */
export function ingestMeasures(registry: Registry, stats: () => ReturnType<Ingest['stats']>): void {
  registerCounter(registry, {
    name: 'tallyhouse_events_accepted_total',
    help: 'Events stored since the start.',
    value: () => stats().acceptedTotal,
  });
  registerCounter(registry, {
    name: 'tallyhouse_events_duplicate_total',
    help: 'Events that were known already.',
    value: () => stats().duplicatesTotal,
  });
  registerCounter(registry, {
    name: 'tallyhouse_ingest_batches_failed_total',
    help: 'Batches that failed to be written.',
    value: () => stats().failedBatches,
  });
  registerCounter(registry, {
    name: 'tallyhouse_conflicting_copies_removed_total',
    help: 'Stored events that were removed because another process had accepted their id before.',
    value: () => stats().conflictsRemoved,
  });
  registerCounter(registry, {
    name: 'tallyhouse_tail_rows_total',
    help: 'Ids read from the inserts of other processes.',
    value: () => stats().tailedRows,
  });
  registerCounter(registry, {
    name: 'tallyhouse_tail_failed_total',
    help: 'Failed reads of the inserts of other processes; each is retried.',
    value: () => stats().failedTails,
  });
  registerGauge(registry, {
    name: 'tallyhouse_ingest_waiting_bytes',
    help: 'Encoded events on their way to disk.',
    value: () => stats().waitingBytes,
  });
  registerGauge(registry, {
    name: 'tallyhouse_ingest_logged_bytes',
    help: 'Acknowledged events in the log that ClickHouse does not have yet.',
    value: () => stats().loggedBytes,
  });
  registerCounter(registry, {
    name: 'tallyhouse_ingest_log_inserts_failed_total',
    help: 'Failed inserts of logged events into ClickHouse; each is retried.',
    value: () => stats().failedLogInserts,
  });
}

/** The index of known ids: memory holds the newest, `recent`, and a filter of the others. */
export function knownIdMeasures(registry: Registry, ingest: Pick<Ingest, 'stats' | 'observeLookups'>): void {
  const figures = () => ingest.stats().knownIds;
  registerGauge(registry, {
    name: 'tallyhouse_known_transaction_ids',
    help: 'Ids in the index of known events, by tier: exact in memory, or in files with filters.',
    label: 'tier',
    values: () =>
      new Map([
        ['recent', figures().recent.ids],
        ['filtered', figures().filtered.ids],
      ]),
  });
  registerGauge(registry, {
    name: 'tallyhouse_known_transaction_ids_bytes',
    help: 'Memory of that index.',
    label: 'tier',
    values: () =>
      new Map([
        ['recent', figures().recent.bytes],
        ['filtered', figures().filtered.bytes],
      ]),
  });
  registerGauge(registry, {
    name: 'tallyhouse_known_id_files',
    help: 'Files of known ids. Each new id is compared with the filter of each file.',
    value: () => figures().runs,
  });
  registerCounter(registry, {
    name: 'tallyhouse_known_id_lookups_total',
    help: 'Ids that a filter did not exclude, by the result of the lookup in the file: known or new.',
    label: 'result',
    values: () => new Map(Object.entries(figures().lookups)),
  });
  const observe = registerTimes(registry, {
    name: 'tallyhouse_known_id_lookup_seconds',
    help: 'How long requests waited for such lookups.',
  });
  ingest.observeLookups(observe);
}

/** The outcomes of the spans of `POST /v1/ingest/otlp`. */
export function spanMeasures(registry: Registry, stats: () => ReturnType<SpanIngest['stats']>): void {
  registerCounter(registry, {
    name: 'tallyhouse_otlp_spans_total',
    help: 'Spans by outcome: their events were stored or known, or they were ignored or refused.',
    label: 'outcome',
    values: () => {
      const { accepted, duplicates, ignored, refused } = stats();
      return new Map([
        ['accepted', accepted],
        ['duplicate', duplicates],
        ['ignored', ignored],
        ['refused', refused],
      ]);
    },
  });
  registerCounter(registry, {
    name: 'tallyhouse_otlp_span_warnings_total',
    help: 'Warnings about spans with suspicious counts, billed or not.',
    value: () => stats().warned,
  });
}

/** Counters of the repeats that event search shows. */
export function repeatMeasures(registry: Registry, stats: () => ReturnType<RepeatLog['stats']>): void {
  registerCounter(registry, {
    name: 'tallyhouse_event_repeats_kept_total',
    help: 'Dropped repeats that event search can show.',
    value: () => stats().written,
  });
  registerCounter(registry, {
    name: 'tallyhouse_event_repeats_forgotten_total',
    help: 'Dropped repeats that event search cannot show: beyond the limit, or lost to a failed write. Usage is not affected.',
    value: () => stats().lost,
  });
}

/** Usage that invoices leave out although no setting excludes it. */
export function invoiceMeasures(registry: Registry, stats: () => ReturnType<InvoiceAlarms['stats']>): void {
  registerCounter(registry, {
    name: 'tallyhouse_invoice_warnings_total',
    help: 'Warnings of drafts and issued invoices, each counted once for its invoice.',
    label: 'code',
    values: stats,
  });
}

/** Steps of invoices. Counters and times are of this process. */
export function invoiceLifeMeasures(
  registry: Registry,
  { life, jobs }: { readonly life: () => InvoiceLogStats; readonly jobs: () => JobStats },
): void {
  registerCounter(registry, {
    name: 'tallyhouse_invoices_total',
    help: 'Invoices that were finalized, regenerated, voided or numbered.',
    label: 'event',
    values: () => life().counts,
  });
  registerGauge(registry, {
    name: 'tallyhouse_invoices_last_finalized_timestamp_seconds',
    help: 'When this process last finalized an invoice; 0 if not since its start.',
    value: () => unixSeconds(life().lastFinalizedAt),
  });
  registerGauge(registry, {
    name: 'tallyhouse_invoices_overdue',
    help: 'Invoices that should have been issued 10 minutes ago, the oldest of each contract and type.',
    value: () =>
      jobs()
        .queue.filter(({ kind }) => INVOICE_JOBS.includes(kind))
        .reduce((total, { overdue }) => total + overdue, 0),
  });
}

const INVOICE_JOBS: readonly string[] = [FINALIZATION_JOB, SCHEDULED_JOB, CONSOLIDATION_JOB];

/** Losses of stored events (docs/how-to/operations.md). */
export function lossMeasures(registry: Registry, open: () => number): void {
  registerGauge(registry, {
    name: 'tallyhouse_event_store_losses_open',
    help: 'Damaged or missing parts of ClickHouse that are neither restored nor accepted; the service is not ready.',
    value: open,
  });
}

/** Queries to ClickHouse by lane (docs/explanation/scaling.md). */
export function laneMeasures(registry: Registry, figures: ClickHouse['laneFigures']): void {
  const byLane = (of: (figures: PoolFigures) => number) => ({
    label: 'lane',
    values: () => new Map([...figures()].map(([lane, one]) => [lane, of(one)])),
  });
  registerGauge(registry, {
    name: 'tallyhouse_clickhouse_queries_running',
    help: 'Queries to ClickHouse that run.',
    ...byLane(({ running }) => running),
  });
  registerGauge(registry, {
    name: 'tallyhouse_clickhouse_queries_waiting',
    help: 'Queries that wait for a connection of their lane, or for the share of their customer.',
    ...byLane(({ waiting }) => waiting),
  });
}

/** Progress of the jobs. Figures of the queue are read every few seconds; counters are of this process. */
export function jobMeasures(registry: Registry, stats: () => JobStats, clock: Clock): void {
  const counted = (of: (counts: JobCounts) => number) => ({
    label: 'kind',
    values: () => new Map([...stats().counts].map(([kind, counts]) => [kind, of(counts)])),
  });
  const queued = (of: (queue: JobStats['queue'][number]) => number) => ({
    label: 'kind',
    values() {
      const { counts, queue } = stats();
      const byKind = new Map(queue.map((one) => [one.kind, of(one)]));
      return new Map([...counts.keys()].map((kind) => [kind, byKind.get(kind) ?? 0]));
    },
  });
  const age = (at: Instant | null) => (at === null ? 0 : Math.max(0, clock.now() - at) / SECOND_MS);
  registerCounter(registry, {
    name: 'tallyhouse_jobs_done_total',
    help: 'Jobs that were done.',
    ...counted(({ done }) => done),
  });
  registerCounter(registry, {
    name: 'tallyhouse_jobs_failed_total',
    help: 'Failed attempts of jobs.',
    ...counted(({ failed }) => failed),
  });
  registerGauge(registry, {
    name: 'tallyhouse_jobs_last_done_timestamp_seconds',
    help: 'When this process last completed a job; 0 if not since its start.',
    label: 'kind',
    values() {
      const { counts, lastDoneAt } = stats();
      return new Map([...counts.keys()].map((kind) => [kind, unixSeconds(lastDoneAt.get(kind) ?? null)]));
    },
  });
  registerGauge(registry, {
    name: 'tallyhouse_jobs_due',
    help: 'Due jobs, including failing jobs and jobs that wait for them.',
    ...queued(({ due }) => due),
  });
  registerGauge(registry, {
    name: 'tallyhouse_jobs_failing',
    help: 'Failed jobs that wait for a retry; later jobs of their contracts wait too.',
    ...queued(({ failing }) => failing),
  });
  registerGauge(registry, {
    name: 'tallyhouse_jobs_lag_seconds',
    help: 'How long the oldest job has been due that neither fails nor waits for a failing job.',
    value: () => age(stats().oldestDue),
  });
  registerGauge(registry, {
    name: 'tallyhouse_jobs_oldest_failing_seconds',
    help: 'How long the oldest failing job has been due.',
    value() {
      const failing = stats().queue.flatMap(({ oldestFailing }) => oldestFailing ?? []);
      return age(failing.length === 0 ? null : Math.min(...failing));
    },
  });
}

/** The backups that this process knows of. */
export function backupMeasures(
  registry: Registry,
  figures: () => {
    readonly lastSuccessAt: Instant | null;
    readonly bytes: number;
    readonly failures: number;
  },
): void {
  registerGauge(registry, {
    name: 'tallyhouse_backup_last_success_timestamp_seconds',
    help: 'Time of the last backup, in BACKUP_DIR or since the start; 0 if none is known.',
    value: () => unixSeconds(figures().lastSuccessAt),
  });
  registerGauge(registry, {
    name: 'tallyhouse_backup_bytes',
    help: 'Size of the last backup in bytes, including data shared with other backups.',
    value: () => figures().bytes,
  });
  registerCounter(registry, {
    name: 'tallyhouse_backup_failed_total',
    help: 'Backups that were started and failed.',
    value: () => figures().failures,
  });
}

/** Events of ids and aliases that no customer has. 0 until they are counted, a minute after the start. */
export function unmatchedMeasures(registry: Registry, totals: () => UnmatchedTotals | null): void {
  registerGauge(registry, {
    name: 'tallyhouse_unmatched_customers',
    help: 'Ids and aliases of events of the last 35 days that no customer has.',
    value: () => totals()?.customers ?? 0,
  });
  registerGauge(registry, {
    name: 'tallyhouse_unmatched_events',
    help: 'Stored events of the last 35 days that belong to nobody; GET /v1/events/unmatched lists them.',
    value: () => totals()?.events ?? 0,
  });
}

/** The events that retention has removed, and the work that it waits for. */
export function retentionMeasures(registry: Registry, stats: () => RetentionStats): void {
  registerGauge(registry, {
    name: 'tallyhouse_events_kept_from_timestamp_seconds',
    help: 'Start of the time for which events are kept; 0 if all are kept.',
    value: () => unixSeconds(stats().keptFrom),
  });
  registerGauge(registry, {
    name: 'tallyhouse_events_retention_held',
    help: '1 while months are old enough to be removed but an invoice still needs their events.',
    value: () => (stats().isHeld ? 1 : 0),
  });
  registerCounter(registry, {
    name: 'tallyhouse_events_removed_total',
    help: 'Stored events that retention has removed.',
    value: () => stats().removedRows,
  });
  registerCounter(registry, {
    name: 'tallyhouse_events_retention_failed_total',
    help: 'Failed attempts to find or remove old events; each is retried.',
    value: () => stats().failures,
  });
}

const MECHANISM_COUNTERS: Readonly<Partial<Record<Figure, string>>> = {
  runs: 'Work that a mechanism of this process was given: runs of a poll, work of a queue, batches, retried operations.',
  failures: 'Work of a mechanism that failed; for a retry, each failed attempt.',
  retries: 'Further attempts of operations that are retried.',
  hits: 'Reads of a cache that found the value.',
  misses: 'Reads of a cache that did not find the value.',
};

const MECHANISM_GAUGES: Readonly<Partial<Record<Figure, string>>> = {
  waiting: 'Work that waits for a mechanism, for a queue with the work in progress.',
  size: 'Values in a cache; characters for SQL texts.',
};

/** The mechanisms of src/runtime/, those of this process together. */
export function mechanismMeasures(registry: Registry): void {
  const of = (figure: string) => ({
    label: 'mechanism',
    values: () => figureByMechanism(figure as Figure),
  });
  for (const [figure, help] of Object.entries(MECHANISM_COUNTERS))
    registerCounter(registry, { name: `tallyhouse_mechanism_${figure}_total`, help, ...of(figure) });
  for (const [figure, help] of Object.entries(MECHANISM_GAUGES))
    registerGauge(registry, { name: `tallyhouse_mechanism_${figure}`, help, ...of(figure) });
}
