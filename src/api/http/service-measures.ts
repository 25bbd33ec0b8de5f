/** The figures of the parts of the service under their Prometheus names. */

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
