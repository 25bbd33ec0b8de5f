/** The job that erases the events of a customer. Its work is in `billing/erasure/erase-events.ts`. */
import type { BillingContext } from '../billing/billing-context.ts';
import { ERASE_EVENTS_JOB, erasedChange, eraseEvents } from '../billing/erasure/erase-events.ts';
import type { Job } from '../store/jobs/jobs.ts';
import type { JobKind } from './job-kind.ts';

/** Each takes as long as ClickHouse needs to rewrite parts. */
const BATCH_MAX = 1;

export function eraseEventsJobKind(context: BillingContext): JobKind {
  return {
    kind: ERASE_EVENTS_JOB,
    batchMax: BATCH_MAX,
    async prepare(batch) {
      await eraseEvents(context, batch);
      let done: readonly Job[] = [];
      return {
        stillValid: async (_tx, jobs) => jobs,
        async write(_tx, jobs) {
          done = jobs;
        },
        changes: () => done.map(erasedChange),
      };
    },
  };
}
