/** The figures of the parts of the service under their Prometheus names. */
import { type Instant, SECOND_MS } from '../../core/time.ts';
import type { JobStats } from '../../jobs/job-runner.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import type { Ingest } from '../../metering/ingest/ingest.ts';
import type { Measure } from './metrics.ts';

/** What the ingest path counts, for `/metrics`. */
export function ingestMeasures(stats: ReturnType<Ingest['stats']>): Measure[] {
  return [
    {
      name: 'tallyhouse_events_accepted_total',
      help: 'Events stored since the start.',
      type: 'counter',
      value: stats.acceptedTotal,
    },
    {
      name: 'tallyhouse_events_duplicate_total',
      help: 'Events that were known already.',
      type: 'counter',
      value: stats.duplicatesTotal,
    },
    {
      name: 'tallyhouse_ingest_batches_failed_total',
      help: 'Batches that could not be written.',
      type: 'counter',
      value: stats.failedBatches,
    },
    {
      name: 'tallyhouse_conflicting_copies_removed_total',
      help: 'Stored events that were removed because another process had accepted their id before.',
      type: 'counter',
      value: stats.conflictsRemoved,
    },
    {
      name: 'tallyhouse_tail_rows_total',
      help: 'Ids read to learn what other processes have stored.',
      type: 'counter',
      value: stats.tailedRows,
    },
    {
      name: 'tallyhouse_tail_failed_total',
      help: 'Times that could not be learned; it is tried again.',
      type: 'counter',
      value: stats.failedTails,
    },
    {
      name: 'tallyhouse_ingest_waiting_bytes',
      help: 'Encoded events on their way to disk.',
      type: 'gauge',
      value: stats.waitingBytes,
    },
    {
      name: 'tallyhouse_known_transaction_ids',
      help: 'Ids in the index of known events.',
      type: 'gauge',
      value: stats.ids,
    },
    {
      name: 'tallyhouse_known_transaction_ids_bytes',
      help: 'Memory of that index.',
      type: 'gauge',
      value: stats.indexBytes,
    },
  ];
}

/** What became of repeats that event search shows, for `/metrics`. */
export function repeatMeasures(stats: ReturnType<RepeatLog['stats']>): Measure[] {
  return [
    {
      name: 'tallyhouse_event_repeats_kept_total',
      help: 'Dropped repeats that event search can show.',
      type: 'counter',
      value: stats.written,
    },
    {
      name: 'tallyhouse_event_repeats_forgotten_total',
      help: 'Dropped repeats beyond what is kept, or lost to a failed write. Usage is not concerned.',
      type: 'counter',
      value: stats.lost,
    },
  ];
}

/** How far the jobs are, for `/metrics`. The queue is read every few seconds; the counters are of this process. */
export function jobMeasures(stats: JobStats, now: Instant): Measure[] {
  const kinds = [...stats.counts].map(([kind, counts]) => {
    const queued = stats.queue.find((one) => one.kind === kind);
    return { kind, ...counts, due: queued?.due ?? 0, failing: queued?.failing ?? 0 };
  });
  const perKind = (head: Omit<Measure, 'labels' | 'value'>, of: (one: (typeof kinds)[number]) => number) =>
    kinds.map((one) => ({ ...head, labels: { kind: one.kind }, value: of(one) }));
  const failing = stats.queue.flatMap(({ oldestFailing }) => oldestFailing ?? []);
  const age = (at: Instant | null) => (at === null ? 0 : Math.max(0, now - at) / SECOND_MS);
  return [
    ...perKind(
      { name: 'tallyhouse_jobs_done_total', help: 'Jobs that were done.', type: 'counter' },
      ({ done }) => done,
    ),
    ...perKind(
      { name: 'tallyhouse_jobs_failed_total', help: 'Times that a job failed.', type: 'counter' },
      ({ failed }) => failed,
    ),
    ...perKind(
      {
        name: 'tallyhouse_jobs_due',
        help: 'Jobs whose instant has come, those included that fail and those that wait for them.',
        type: 'gauge',
      },
      ({ due }) => due,
    ),
    ...perKind(
      {
        name: 'tallyhouse_jobs_failing',
        help: 'Jobs that have failed and are tried again; the later jobs of their contracts wait.',
        type: 'gauge',
      },
      ({ failing: count }) => count,
    ),
    {
      name: 'tallyhouse_jobs_lag_seconds',
      help: 'How long the oldest job has been due that neither fails nor waits for one that does.',
      type: 'gauge',
      value: age(stats.oldestDue),
    },
    {
      name: 'tallyhouse_jobs_oldest_failing_seconds',
      help: 'How long the oldest failing job has been due.',
      type: 'gauge',
      value: age(failing.length === 0 ? null : Math.min(...failing)),
    },
  ];
}
