/** The background work of the service: jobs, evaluations of customers, messages of a set time, balances. */
import type { BillingContext } from '../billing/billing-context.ts';
import { upcomingCommits } from '../billing/contracts/grants/upcoming-grants.ts';
import { recurringGrantsJobKind } from '../jobs/create-recurring-grants.ts';
import type { Deliveries } from '../jobs/deliveries/deliveries.ts';
import { eraseEventsJobKind } from '../jobs/erase-events.ts';
import { alertEvaluator } from '../jobs/evaluations/evaluate-alerts.ts';
import { thresholdEvaluator } from '../jobs/evaluations/evaluate-thresholds.ts';
import { createEvaluations, type Evaluations } from '../jobs/evaluations/evaluations.ts';
import { finalizationJobKind } from '../jobs/finalize-invoices.ts';
import { consolidatedInvoicesJobKind } from '../jobs/issue-consolidated-invoices.ts';
import { scheduledInvoicesJobKind } from '../jobs/issue-scheduled-invoices.ts';
import { createJobRunner, type JobRunner } from '../jobs/job-runner.ts';
import { numberingJobKind } from '../jobs/number-invoices.ts';
import { createBalancePublishing } from '../jobs/publish-balances.ts';
import type { SandboxClock } from '../jobs/service-clock.ts';
import { tokenPricesJobKind } from '../jobs/sync-token-prices.ts';
import { createScheduledTelling, type ScheduledTelling } from '../jobs/tell-scheduled.ts';
import { inLane } from '../metering/client/clickhouse-client.ts';
import { tellScheduled } from '../notifications/tell-scheduled.ts';

interface WorkOptions {
  /** Rejects when a store does not answer. */
  ping(): Promise<unknown>;
  /** While true, nothing is billed. */
  isPaused(): boolean;
  /** Invoice runs wait for it between groups. */
  giveWay(): Promise<void>;
}

interface BackgroundWork {
  readonly jobs: JobRunner;
  readonly evaluations: Evaluations;
  readonly telling: ScheduledTelling;
  start(): void;
  /** Takes nothing further, and waits for the work in progress. */
  close(): Promise<void>;
}

/** None of it has started. */
export function createBackgroundWork(context: BillingContext, options: WorkOptions): BackgroundWork {
  const { db, log, tracer, clock, clickhouse } = context;
  const { ping, isPaused, giveWay } = options;
  const jobs = createJobRunner({
    db,
    clock,
    log,
    tracer,
    kinds: [
      // Invoices of an instant are computed with the rates and the balances that begin at it.
      tokenPricesJobKind(context),
      recurringGrantsJobKind(context),
      scheduledInvoicesJobKind(context),
      finalizationJobKind({ ...context, clickhouse: inLane(clickhouse, 'finalization'), giveWay }),
      consolidatedInvoicesJobKind(context),
      numberingJobKind(context),
      eraseEventsJobKind({ ...context, clickhouse: inLane(clickhouse, 'ingest') }),
    ],
    ping,
    isPaused,
  });
  const evaluations = createEvaluations({
    db,
    log,
    // A low balance is reported before it is recharged.
    evaluators: [alertEvaluator, thresholdEvaluator].map((of) =>
      of({ ...context, clickhouse: inLane(clickhouse, 'evaluation') }),
    ),
    isPaused,
  });
  const telling = createScheduledTelling({
    db,
    clock,
    log,
    tell: (dueAt, isClosed) => tellScheduled({ db, upcoming: upcomingCommits }, dueAt, isClosed),
  });
  const all = [jobs, evaluations, telling, createBalancePublishing(context)];
  return {
    ...{ jobs, evaluations, telling },
    start() {
      for (const work of all) work.start();
    },
    async close() {
      await Promise.all(all.map((work) => work.close()));
    },
  };
}

/** Usage is evaluated as of the time in which it was sent, and everything again as of the new time. */
export function withEvaluations(sandbox: SandboxClock, evaluations: Evaluations): SandboxClock {
  return {
    async advance(to, jobs) {
      await evaluations.settled();
      const now = await sandbox.advance(to, jobs);
      evaluations.markAll();
      await evaluations.settled();
      return now;
    },
  };
}

/** Invoices that a move of the clock issues have their first delivery attempt before the move is answered. */
export function withDeliveries(sandbox: SandboxClock, deliveries: Pick<Deliveries, 'settled'>): SandboxClock {
  return {
    async advance(to, jobs) {
      const now = await sandbox.advance(to, jobs);
      await deliveries.settled();
      return now;
    },
  };
}
