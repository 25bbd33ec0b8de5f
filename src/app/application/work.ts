/** The work that runs beside requests: jobs, evaluations, deliveries of invoices and of webhooks. */
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { createDeliverer } from '../../notifications/webhooks/deliverer.ts';
import { createBackgroundWork } from '../billing/background-work.ts';
import { createPayments } from '../billing/payments.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { StoredData } from './stored-data.ts';

export type Work = Awaited<ReturnType<typeof createWork>>;

/** None of it has started. */
export async function createWork(
  context: JobsContext,
  { config, deliveryHooks, unmatchedEveryMs }: ApplicationParts,
  { retention, isHeld }: StoredData,
) {
  const { start, close, ...background } = createBackgroundWork(context, unmatchedEveryMs);
  const deliveries = await createPayments(context, config, deliveryHooks);
  const deliverer = createDeliverer({ ...context, isPaused: isHeld });
  return {
    ...{ ...background, deliveries, deliverer },
    start() {
      start();
      deliverer.start();
      deliveries.start();
      retention.start();
    },
    /** Takes no further job and waits for the work in progress; webhooks are still sent. */
    endJobs: () => Promise.all([close(), retention.close(), deliveries.close()]),
  };
}
