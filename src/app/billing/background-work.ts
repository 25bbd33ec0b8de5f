/** The background work of the service: jobs, evaluations of customers, scheduled messages, balances. */
import { contextInLane } from '../../billing/billing-context.ts';
import { createUnmatchedEventsCount, type UnmatchedEventsCount } from '../../jobs/count-unmatched-events.ts';
import { recurringGrantsJobKind } from '../../jobs/create-recurring-grants.ts';
import type { Deliveries } from '../../jobs/deliveries/deliveries.ts';
import { eraseEventsJobKind } from '../../jobs/erase-events.ts';
import { createEvaluations, type Evaluations } from '../../jobs/evaluations/evaluations.ts';
import { alertEvaluator, thresholdEvaluator } from '../../jobs/evaluations/evaluators.ts';
import {
  consolidatedInvoicesJobKind,
  finalizationJobKind,
  numberingJobKind,
  scheduledInvoicesJobKind,
} from '../../jobs/invoice-jobs.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { createBalancePublishing } from '../../jobs/publish-balances.ts';
import type { SandboxClock } from '../../jobs/service-clock.ts';
import { tokenPricesJobKind } from '../../jobs/sync-token-prices.ts';
import { createScheduledTelling, type ScheduledTelling } from '../../jobs/tell-scheduled.ts';

interface BackgroundWork {
  readonly jobs: JobRunner;
  readonly evaluations: Evaluations;
  readonly telling: ScheduledTelling;
  readonly unmatched: UnmatchedEventsCount;
  start(): void;
  /** Stops taking work, and waits for running work. */
  close(): Promise<void>;
}

/** None of it has started. */
export function createBackgroundWork(context: JobsContext, unmatchedEveryMs?: number): BackgroundWork {
  const jobs = createJobRunner(context, [
    // Invoices of an instant are computed with the rates and the balances that begin at it.
    tokenPricesJobKind(context),
    recurringGrantsJobKind(context),
    scheduledInvoicesJobKind(context),
    finalizationJobKind(contextInLane(context, 'finalization')),
    consolidatedInvoicesJobKind(context),
    numberingJobKind(context),
    eraseEventsJobKind(contextInLane(context, 'ingest')),
  ]);
  // A low balance is reported before it is recharged.
  const evaluators = [alertEvaluator, thresholdEvaluator].map((of) =>
    of(contextInLane(context, 'evaluation')),
  );
  const evaluations = createEvaluations(context, evaluators);
  const telling = createScheduledTelling(context);
  const unmatched = createUnmatchedEventsCount({
    ...contextInLane(context, 'evaluation'),
    everyMs: unmatchedEveryMs,
  });
  const all = [jobs, evaluations, telling, unmatched, createBalancePublishing(context)];
  return {
    ...{ jobs, evaluations, telling, unmatched },
    start() {
      for (const work of all) work.start();
    },
    async close() {
      await Promise.all(all.map((work) => work.close()));
    },
  };
}

/** Usage is evaluated as of the time when it was sent, and everything again as of the new time. */
export function withEvaluations(sandbox: SandboxClock, evaluations: Evaluations): SandboxClock {
  return {
    async advance(to, jobs) {
      await evaluations.caughtUp();
      const now = await sandbox.advance(to, jobs);
      evaluations.markAll();
      await evaluations.caughtUp();
      return now;
    },
  };
}

/** Invoices issued by a move of the clock have their first delivery attempt before the move returns. */
export function withDeliveries(
  sandbox: SandboxClock,
  deliveries: Pick<Deliveries, 'caughtUp'>,
): SandboxClock {
  return {
    async advance(to, jobs) {
      const now = await sandbox.advance(to, jobs);
      await deliveries.caughtUp();
      return now;
    },
  };
}
