/** The background work of the service: jobs, evaluations of customers, messages of a set time, balances. */
import { upcomingCommits } from '../billing/contracts/grants/upcoming-grants.ts';
import type { InvoiceLog } from '../billing/invoice-log/invoice-log.ts';
import type { FinalizationDeps } from '../billing/invoices/finalize.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../core/clock.ts';
import { DEFAULT_NUMBER_PATTERN } from '../core/invoice-number.ts';
import type { Tracer } from '../core/tracing.ts';
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
import type { Logger } from '../log.ts';
import type { ClickHouse } from '../metering/client/clickhouse.ts';
import { inLane } from '../metering/client/clickhouse-client.ts';
import { tellScheduled } from '../notifications/tell-scheduled.ts';
import type { Database } from '../store/base/database.ts';

interface WorkDeps {
  readonly config: Partial<Pick<Config, 'clickhouseCluster' | 'invoiceNumberPattern' | 'paymentProvider'>>;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  /** The dependencies of computing invoices. */
  readonly invoicing: Omit<FinalizationDeps, 'db' | 'invoiceLog'> & { readonly invoiceLog: InvoiceLog };
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
export function createBackgroundWork(deps: WorkDeps): BackgroundWork {
  const { config, log, tracer, db, clickhouse, clock, invoicing, ping, isPaused, giveWay } = deps;
  const { invoiceNumberPattern: numberPattern = DEFAULT_NUMBER_PATTERN } = config;
  const jobs = createJobRunner({
    db,
    clock,
    log,
    tracer,
    kinds: [
      // Invoices of an instant are computed with the rates and the balances that begin at it.
      tokenPricesJobKind({ clock }),
      recurringGrantsJobKind({ clock }),
      scheduledInvoicesJobKind({ ...invoicing, paymentProvider: config.paymentProvider }),
      finalizationJobKind({ ...invoicing, db, clickhouse: inLane(clickhouse, 'finalization'), giveWay }),
      consolidatedInvoicesJobKind(invoicing),
      numberingJobKind({ numberPattern, invoiceLog: invoicing.invoiceLog }),
      eraseEventsJobKind({
        db,
        clickhouse: inLane(clickhouse, 'ingest'),
        cluster: config.clickhouseCluster,
      }),
    ],
    ping,
    isPaused,
  });
  const evaluations = createEvaluations({
    db,
    log,
    // A low balance is reported before it is recharged.
    evaluators: [alertEvaluator, thresholdEvaluator].map((of) =>
      of({ ...invoicing, db, clickhouse: inLane(clickhouse, 'evaluation') }),
    ),
    isPaused,
  });
  const telling = createScheduledTelling({
    db,
    clock,
    log,
    tell: (dueAt, isClosed) => tellScheduled({ db, upcoming: upcomingCommits }, dueAt, isClosed),
  });
  const all = [jobs, evaluations, telling, createBalancePublishing({ db, clock, log })];
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
