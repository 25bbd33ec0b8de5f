/**
 * Wires the application: clock, jobs, ingest, use cases and routes over two open stores. `service.ts` opens the
 * stores and listens; tests pass their own stores.
 */

import { createAudit } from '../access/audit.ts';
import { createIdempotency } from '../access/idempotency.ts';
import { ensureFirstToken } from '../access/manage-tokens.ts';
import { createRateLimits } from '../access/rate-limits.ts';
import { createRequestRecords } from '../access/request-records.ts';
import { createAuthenticator } from '../access/tokens.ts';
import { createInvoicePdf, type InvoicePdf } from '../api/documents/invoice-pdf.ts';
import { evaluationMeasures } from '../api/http/evaluation-measures.ts';
import {
  ingestMeasures,
  invoiceLifeMeasures,
  invoiceMeasures,
  jobMeasures,
  laneMeasures,
  lossMeasures,
  repeatMeasures,
  retentionMeasures,
  spanMeasures,
} from '../api/http/service-measures.ts';
import { webhookMeasures } from '../api/http/webhook-measures.ts';
import { notificationRoutes } from '../api/routes/notifications/routes.ts';
import { sandboxRoutes } from '../api/routes/sandbox/routes.ts';
import { networkServicesRoute } from '../api/routes/service/network-services-route.ts';
import { tokenRoutes } from '../api/routes/tokens/routes.ts';
import { webhookRoutes } from '../api/routes/webhooks/routes.ts';
import { createInvoiceAlarms } from '../billing/invoices/invoice-alarms.ts';
import { createInvoiceLog } from '../billing/invoices/invoice-log.ts';
import { type Config, ConfigError } from '../config.ts';
import { DEFAULT_NUMBER_PATTERN } from '../core/invoice-number.ts';
import { NO_SELLER } from '../core/seller.ts';
import { SPAN_CUSTOMER_ATTRIBUTE } from '../core/token-billing.ts';
import { NO_TRACER, type Tracer } from '../core/tracing.ts';
import { recurringGrantsJobKind } from '../jobs/create-recurring-grants.ts';
import { eraseEventsJobKind } from '../jobs/erase-events.ts';
import { alertEvaluator } from '../jobs/evaluate-alerts.ts';
import { thresholdEvaluator } from '../jobs/evaluate-thresholds.ts';
import { createEvaluations, type Evaluations } from '../jobs/evaluations.ts';
import { createEventRetention, type RetentionTimes } from '../jobs/event-retention.ts';
import { finalizationJobKind } from '../jobs/finalize-invoices.ts';
import { consolidatedInvoicesJobKind } from '../jobs/issue-consolidated-invoices.ts';
import { scheduledInvoicesJobKind } from '../jobs/issue-scheduled-invoices.ts';
import { createJobRunner } from '../jobs/job-runner.ts';
import { numberingJobKind } from '../jobs/number-invoices.ts';
import { createServiceClock, type SandboxClock } from '../jobs/service-clock.ts';
import { tokenPricesJobKind } from '../jobs/sync-token-prices.ts';
import { createScheduledTelling, withTelling } from '../jobs/tell-scheduled.ts';
import type { Logger } from '../log.ts';
import type { ClickHouse } from '../metering/client/clickhouse.ts';
import { inLane } from '../metering/client/clickhouse-client.ts';
import { withTracedQueries } from '../metering/client/traced-queries.ts';
import { createRepeatLog } from '../metering/events/repeat-log.ts';
import type { EventBlocks } from '../metering/ingest/event-blocks.ts';
import { createIngest, type Ingest } from '../metering/ingest/ingest.ts';
import { withKeptEvents } from '../metering/kept-events.ts';
import { createSpanIngest } from '../metering/otlp/ingest-spans.ts';
import { closeMetricReader } from '../metering/sql-metric/sql-metric.ts';
import { closeReportReader } from '../metering/sql-views/run-report.ts';
import { type DamagedPart, guardParts, requireNoLoss } from '../metering/stored-parts/guard-parts.ts';
import { tellScheduled } from '../notifications/tell-scheduled.ts';
import { createDeliverer } from '../notifications/webhooks/deliverer.ts';
import type { Database } from '../store/database.ts';
import type { Listen } from '../store/notifications.ts';
import { TOKENS_CHANNEL } from '../store/tokens.ts';
import { VERSION } from '../version.ts';
import { type App, createApp } from './http-app.ts';
import { createPartsWatch, type PartsWatch } from './parts-watch.ts';
import { type Pings, readiness } from './readiness.ts';
import { applicationRoutes } from './routes.ts';
import { fillTokenCatalogue } from './token-catalogue.ts';

export interface ApplicationParts {
  readonly config: Pick<Config, 'apiToken' | 'gracePeriodHours' | 'ingestWindowDays' | 'sandboxNow'> &
    Partial<
      Pick<
        Config,
        | 'clickhouseUrl'
        | 'clickhouseCluster'
        | 'invoiceLinesMax'
        | 'subscriptionSeatsMax'
        | 'eventRetentionMonths'
        | 'invoiceNumberPattern'
        | 'seller'
        | 'invoiceFont'
        | 'paymentProvider'
        | 'dataDir'
        | 'databaseUrl'
        | 'networkServices'
        | 'requestRates'
        | 'webhookAllowPrivate'
        | 'alertLimits'
        | 'otlpCustomerAttribute'
      >
    >;
  readonly log: Logger;
  readonly tracer?: Tracer;
  readonly stores: {
    readonly db: Database;
    readonly clickhouse: ClickHouse;
    /** Without it, what another process revokes can send events for a few seconds. */
    readonly listen?: Listen;
    /** Where an event is acknowledged when it is in a log in front of ClickHouse. */
    readonly blocks?: EventBlocks | undefined;
  } & Pings;
  /** How often old events are looked for. */
  readonly retentionTimes?: Partial<RetentionTimes> | undefined;
  /** Makes the token of the first start and keeps it for the operator, or finds the kept one. */
  firstToken(): Promise<{ readonly token: string }>;
}

export interface Application {
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  readonly routes: App['routes'];
  readonly refuseUnreadable: App['refuseUnreadable'];
  /** The first token, where it was stored just now and the operator has not seen it yet. */
  readonly newToken: string | null;
  /** What is wrong with the stored data and what to do, a line each; empty when the service is ready. */
  problems(): readonly string[];
  /** Takes no further job and resolves when the work in progress has ended. */
  endJobs(): Promise<void>;
  /** Called when no request is running any more: ends the jobs, writes the last batch. */
  close(): Promise<void>;
}

/** How often to learn which events other processes have stored: the time in which a repeat can slip through. */
const TAIL_INTERVAL_MS = 1_000;

/** Resolves when requests can be answered: the index of known events is built, jobs are running. */
export async function createApplication(given: ApplicationParts): Promise<Application> {
  const { config, log, tracer = NO_TRACER } = given;
  const stores = { ...given.stores, clickhouse: withTracedQueries(given.stores.clickhouse, tracer) };
  const clock = await createServiceClock(stores.db, config.sandboxNow ?? null);
  const watch = createPartsWatch({
    db: stores.db,
    clickhouse: stores.clickhouse,
    log,
    cluster: config.clickhouseCluster,
    isEmbedded: config.clickhouseUrl === undefined,
  });
  const parts = {
    problem: () => watch.problems()[0] ?? null,
    damaged: (part: DamagedPart) => watch.damaged(part),
  };
  const retention = createEventRetention({
    db: stores.db,
    clickhouse: inLane(guardParts(stores.clickhouse, parts), 'ingest'),
    clock,
    log,
    months: config.eventRetentionMonths ?? null,
    windowDays: config.ingestWindowDays,
    cluster: config.clickhouseCluster,
    isPaused: () => parts.problem() !== null,
    ...given.retentionTimes,
  });
  await retention.read();
  const clickhouse = withKeptEvents(guardParts(stores.clickhouse, parts), retention.keptFrom);
  const { gracePeriodHours, ingestWindowDays: windowDays } = config;
  const { invoiceNumberPattern: numberPattern = DEFAULT_NUMBER_PATTERN } = config;
  const alarms = createInvoiceAlarms(log);
  const invoiceLog = createInvoiceLog(log);
  const invoicing = {
    clickhouse,
    clock,
    gracePeriodHours,
    alarms,
    invoiceLog,
    tracer,
    ...(config.invoiceLinesMax === undefined ? {} : { invoiceLinesMax: config.invoiceLinesMax }),
  };
  const finalization = {
    ...invoicing,
    db: stores.db,
    clickhouse: inLane(clickhouse, 'finalization'),
  };
  const jobs = createJobRunner({
    db: stores.db,
    clock,
    log,
    tracer,
    kinds: [
      // Invoices of an instant are computed with the rates and the balances that begin at it.
      tokenPricesJobKind({ clock }),
      recurringGrantsJobKind({ clock }),
      scheduledInvoicesJobKind({ ...invoicing, paymentProvider: config.paymentProvider }),
      finalizationJobKind(finalization),
      consolidatedInvoicesJobKind(invoicing),
      numberingJobKind({ numberPattern, invoiceLog }),
      eraseEventsJobKind({
        db: stores.db,
        clickhouse: inLane(clickhouse, 'ingest'),
        cluster: config.clickhouseCluster,
      }),
    ],
    ping: () => Promise.all([stores.pingPostgres(), stores.clickhouse.ping()]),
    isPaused: () => parts.problem() !== null,
  });
  const evaluations = createEvaluations({
    db: stores.db,
    log,
    // A low balance is told before it is recharged.
    evaluators: [alertEvaluator, thresholdEvaluator].map((of) =>
      of({ ...invoicing, db: stores.db, clickhouse: inLane(clickhouse, 'evaluation') }),
    ),
    isPaused: () => parts.problem() !== null,
  });
  const telling = createScheduledTelling({
    db: stores.db,
    clock,
    log,
    tell: (dueAt, isClosed) => tellScheduled(stores.db, dueAt, isClosed),
  });
  const allowPrivate = config.webhookAllowPrivate ?? false;
  const deliverer = createDeliverer({ db: stores.db, log, tracer, allowPrivate });
  const invoicePdf = await invoicePdfWith(config.invoiceFont);
  const repeats = createRepeatLog({ clickhouse });
  const ingest = createIngest({
    clickhouse: inLane(clickhouse, 'ingest'),
    blocks: stores.blocks,
    clock,
    windowDays,
    log,
    tracer,
    // An embedded ClickHouse belongs to this process; a server may be shared with others.
    tailIntervalMs: config.clickhouseUrl === undefined ? undefined : TAIL_INTERVAL_MS,
    cluster: config.clickhouseCluster,
    onRepeat: (read, now) => repeats.note(read, now),
    onStored: (customerRefs) => evaluations.used(customerRefs),
  });
  const ingestEvents = async (body: Buffer) => {
    requireNoLoss(parts);
    return await ingest.ingest(body);
  };
  const spans = createSpanIngest({
    ingestEvents,
    customerAttribute: config.otlpCustomerAttribute ?? SPAN_CUSTOMER_ATTRIBUTE,
  });
  const newToken = await ensureFirstToken({
    db: stores.db,
    clock,
    apiToken: config.apiToken,
    firstToken: given.firstToken,
  });
  await fillTokenCatalogue({ db: stores.db, clock });
  await watch.check();
  const index = createIndexBuilder({ ingest, watch, log });
  await index.build();
  const authenticator = createAuthenticator({ db: stores.db, clock });
  const subscription = stores.listen?.(TOKENS_CHANNEL, {
    onMessage: authenticator.forget,
    onConnected: authenticator.distrustAll,
  });
  const app = createApp({
    version: VERSION,
    log,
    tracer,
    authenticate: authenticator.authenticate,
    ...(config.requestRates === undefined
      ? {}
      : { takeRequest: createRateLimits(config.requestRates, () => performance.now()) }),
    records: createRequestRecords({
      db: stores.db,
      idempotency: createIdempotency({ db: stores.db, clock }),
      audit: createAudit({ clock }),
      onLost: (err) => log.warn({ err }, 'the record of a failed request could not be written'),
    }),
    routes: [
      ...applicationRoutes({
        ...invoicing,
        db: stores.db,
        paymentProvider: config.paymentProvider,
        seatsMax: config.subscriptionSeatsMax,
        windowDays,
        repeats,
        seller: config.seller ?? NO_SELLER,
        invoicePdf,
        alertLimits: config.alertLimits,
      }),
      networkServicesRoute(config.networkServices ?? []),
      ...tokenRoutes({
        db: stores.db,
        clock,
        flushTokenUses: authenticator.flushUses,
        onRevoked: authenticator.forget,
      }),
      ...notificationRoutes({ db: stores.db, clock }),
      ...webhookRoutes({ db: stores.db, clock, allowPrivate }),
      ...(clock.sandbox === null
        ? []
        : sandboxRoutes({
            clock,
            sandbox: withEvaluations(clock.sandbox, evaluations),
            jobs: withTelling(jobs, telling),
          })),
    ],
    ingest: ingestEvents,
    ingestSpans: spans.ingest,
    readiness: () => readiness({ stores, watch, dataDir: embeddedDirectory(config) }),
    measures: (registry) => {
      ingestMeasures(registry, () => ingest.stats());
      spanMeasures(registry, () => spans.stats());
      repeatMeasures(registry, () => repeats.stats());
      jobMeasures(registry, () => jobs.stats(), clock);
      invoiceMeasures(registry, () => alarms.stats());
      evaluationMeasures(registry, () => evaluations.figures());
      invoiceLifeMeasures(registry, { life: () => invoiceLog.stats(), jobs: () => jobs.stats() });
      laneMeasures(registry, () => stores.clickhouse.laneFigures());
      retentionMeasures(registry, () => retention.stats());
      webhookMeasures(registry, () => deliverer.stats());
      lossMeasures(registry, () => watch.problems().length);
    },
  });
  jobs.start();
  evaluations.start();
  telling.start();
  deliverer.start();
  retention.start();
  watch.start(index.build);
  return {
    fetch: app.hono.fetch,
    routes: app.routes,
    refuseUnreadable: app.refuseUnreadable,
    newToken,
    problems: () => watch.problems(),
    async endJobs() {
      await Promise.all([jobs.close(), evaluations.close(), telling.close(), retention.close()]);
    },
    async close() {
      await Promise.all([jobs.close(), evaluations.close(), telling.close(), retention.close()]);
      await deliverer.close();
      await ingest.close();
      await repeats.close();
      await watch.close();
      await subscription?.close();
      await authenticator.close();
      await closeMetricReader();
      await closeReportReader();
    },
  };
}

/** Usage is evaluated as of the time in which it was sent, and everything again as of the new time. */
function withEvaluations(sandbox: SandboxClock, evaluations: Evaluations): SandboxClock {
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

/** A font of the operator is read at once, so that a wrong path refuses the start. */
async function invoicePdfWith(fontFile: string | undefined): Promise<InvoicePdf> {
  const invoicePdf = createInvoicePdf(fontFile);
  if (fontFile === undefined) return invoicePdf;
  await invoicePdf.loadFonts().catch((error: unknown) => {
    throw new ConfigError(`INVOICE_FONT ${fontFile} cannot be read as a font`, { cause: error });
  });
  return invoicePdf;
}

/** Where the embedded stores keep their data; undefined where both stores are servers. */
function embeddedDirectory({ dataDir, databaseUrl, clickhouseUrl }: ApplicationParts['config']) {
  return databaseUrl !== undefined && clickhouseUrl !== undefined ? undefined : dataDir;
}

/**
 * Builds the index of known events once. Where stored events cannot be read, it is built when they are restored or
 * their loss is accepted; until then no event is taken.
 */
function createIndexBuilder({ ingest, watch, log }: { ingest: Ingest; watch: PartsWatch; log: Logger }) {
  let isBuilt = false;
  return {
    build: async () => {
      if (isBuilt) return;
      try {
        const { ids } = await ingest.rebuild();
        isBuilt = true;
        log.info({ ids }, 'the index of known events is built');
      } catch (error) {
        await watch.check();
        if (watch.problems().length === 0) throw error;
      }
    },
  };
}
