/** The work that runs beside requests: jobs, evaluations, deliveries of invoices and of webhooks. */
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { createDeliverer } from '../../notifications/webhooks/deliverer.ts';
import { createDueWatch } from '../../store/base/due-watch.ts';
import { createBackgroundWork } from '../billing/background-work.ts';
import { createPayments } from '../billing/payments.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { RunningList } from './running-list.ts';
import type { StoredData } from './stored-data.ts';

export type Work = Awaited<ReturnType<typeof createWork>>;

/** None of it has started. */
export async function createWork(
  given: JobsContext,
  { config, deliveryHooks, unmatchedEveryMs }: ApplicationParts,
  { retention, isHeld }: StoredData,
  running: RunningList,
) {
  const dueWatch = running.add('jobs', createDueWatch(given.db));
  const context = { ...given, dueWatch };
  const background = running.add('jobs', createBackgroundWork(context, unmatchedEveryMs));
  const deliveries = running.add('jobs', await createPayments(context, config, deliveryHooks));
  // Webhooks are still sent while the jobs end.
  const deliverer = running.add('messages', createDeliverer({ ...context, isPaused: isHeld }));
  return {
    ...{ ...background, deliveries, deliverer },
    start() {
      dueWatch.start();
      background.start();
      deliverer.start();
      deliveries.start();
      retention.start();
    },
  };
}
