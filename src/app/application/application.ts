/**
 * Wires the application: clock, jobs, ingest, use cases and routes over two open stores. `service.ts` opens the
 * stores and listens; tests pass their own stores.
 */
import { createAudit } from '../../access/audit.ts';
import { createConsoleSessions } from '../../access/console-sessions.ts';
import { createDashboardLinks } from '../../access/dashboard-links.ts';
import { createIdempotency } from '../../access/idempotency.ts';
import { ensureFirstToken } from '../../access/manage-tokens.ts';
import { createRateLimits } from '../../access/rate-limits.ts';
import { createRequestRecords } from '../../access/request-records.ts';
import { createAuthenticator } from '../../access/tokens.ts';
import { createInvoicePdf, type InvoicePdf } from '../../api/pdf/invoice-pdf.ts';
import { upcomingCommits } from '../../billing/contracts/grants/upcoming-grants.ts';
import { createHolds } from '../../billing/holds/holds.ts';
import { type Config, ConfigError } from '../../config.ts';
import { NO_SELLER } from '../../core/seller.ts';
import { NO_TRACER, type Tracer } from '../../core/tracing.ts';
import type { DeliveryHooks } from '../../jobs/deliveries/deliveries.ts';
import { createEventRetention, type RetentionTimes } from '../../jobs/event-retention.ts';
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { createServiceClock, leftSandboxLine } from '../../jobs/service-clock.ts';
import { withTelling } from '../../jobs/tell-scheduled.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import { withKeptEvents } from '../../metering/client/kept-events.ts';
import { withTracedQueries } from '../../metering/client/traced-queries.ts';
import { createRepeatLog } from '../../metering/events/repeat-log.ts';
import type { EventBlocks } from '../../metering/ingest/event-blocks.ts';
import { createIngest } from '../../metering/ingest/ingest.ts';
import { createOlderCloudEventIds } from '../../metering/ingest/older-cloud-event-ids.ts';
import { createCloudEventReader, type EventReader } from '../../metering/ingest/validate-events.ts';
import { closeReportReader } from '../../metering/sql/reports/run-report.ts';
import { closeMetricReader } from '../../metering/sql/run/sql-metric.ts';
import { type DamagedPart, guardParts, requireNoLoss } from '../../metering/stored-parts/guard-parts.ts';
import { createDeliverer } from '../../notifications/webhooks/deliverer.ts';
import { createRightOfWay } from '../../runtime/right-of-way.ts';
import { TOKENS_CHANNEL } from '../../store/access/tokens.ts';
import type { Database } from '../../store/base/database.ts';
import type { Listen } from '../../store/base/notifications.ts';
import { findSlashesApartFrom } from '../../store/events/cloud-event-identities.ts';
import { VERSION } from '../../version.ts';
import type { Backups } from '../backups/backups.ts';
import { createBackgroundWork, withDeliveries, withEvaluations } from '../billing/background-work.ts';
import { createBillingContext } from '../billing/billing-context.ts';
import { createPayments, type PaymentsConfig } from '../billing/payments.ts';
import { createServiceSecrets } from '../billing/service-secrets.ts';
import { fillTokenCatalogue } from '../billing/token-catalogue.ts';
import { createIndexBuilder } from '../events/index-builder.ts';
import { withKnownEvents } from '../events/known-events.ts';
import { createOlderIds } from '../events/older-ids.ts';
import { createServiceSpans } from '../events/span-ingest.ts';
import { type App, createApp } from '../http/http-app.ts';
import { everyRoute } from '../http/routes.ts';
import { createRunningRequests } from '../http/running-requests.ts';
import type { WriteGate } from '../move/write-gate.ts';
import { UNLIMITED_ROOM, watchDiskRoom } from '../readiness/disk-room.ts';
import { createPartsWatch } from '../readiness/parts-watch.ts';
import { identifiedReadiness, type Pings } from '../readiness/readiness.ts';
import type { LostEvents } from '../stores/logged-clickhouse.ts';
import { serviceFigures } from './service-figures.ts';

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
        | 'invoiceDecimals'
        | 'paymentProvider'
        | 'dataDir'
        | 'knownIdsRecent'
        | 'databaseUrl'
        | 'networkServices'
        | 'requestRates'
        | 'strictFields'
        | 'webhookAllowPrivate'
        | 'alertLimits'
        | 'otlpCustomerAttributes'
        | 'stripe'
        | 'secretsKey'
        | 'publicUrl'
        | 'dashboardOrigins'
        | 'otlpCachedBesideInput'
        | 'cloudEventsIdentity'
      >
    > &
    PaymentsConfig;
  readonly log: Logger;
  readonly tracer?: Tracer;
  readonly stores: {
    readonly db: Database;
    readonly clickhouse: ClickHouse;
    /** Without it, what another process revokes can send events for a few seconds. */
    readonly listen?: Listen;
    /** Where an event is acknowledged when it is in a log in front of ClickHouse. */
    readonly blocks?: EventBlocks | undefined;
    readonly lostEvents?: LostEvents | undefined;
  } & Pings;
  /** For tests: what happens between two steps of a delivery, and how long a lease lasts. */
  readonly deliveryHooks?: DeliveryHooks | undefined;
  /** Absent where nothing is known of backups. */
  readonly backups?: Pick<Backups, 'figures'> | undefined;
  /** Closed while nothing may be changed. */
  readonly gate?: Pick<WriteGate, 'enter' | 'isClosed'> | undefined;
  /** How often old events are looked for, and those of nobody are counted. */
  readonly retentionTimes?: Partial<RetentionTimes> | undefined;
  readonly unmatchedEveryMs?: number | undefined;
  /** Makes the token of the first start and keeps it for the operator, or finds the kept one. */
  firstToken(): Promise<{ readonly token: string }>;
  /** Keeps `text` instead, where the kept token is the former one. */
  replaceFirstToken?(isFormer: (text: string) => boolean, text: string): void;
}

export interface Application {
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  readonly routes: App['routes'];
  readonly refuseUnreadable: App['refuseUnreadable'];
  /** The first token, where it was stored just now and the operator has not seen it yet. */
  readonly newToken: string | null;
  /** With it: what opens the console once, without entering the token. */
  readonly consoleLink: string | null;
  /** Notes for the operator on a start that is otherwise fine, a line each. */
  readonly notes: readonly string[];
  /** The faults of the stored data and their remedies, a line each; empty when the service is ready. */
  problems(): readonly string[];
  /** Resolves when no request is being answered, also none whose client has gone. */
  requestsEnded(): Promise<void>;
  /** Takes no further job and resolves when the work in progress has ended. */
  endJobs(): Promise<void>;
  /** Called when no request is running any more: ends the jobs, writes the last batch. */
  close(): Promise<void>;
}

/** How often to learn which events other processes have stored: the time in which a repeat can slip through. */
const TAIL_INTERVAL_MS = 1_000;

/** Resolves when requests can be answered: the index of known events is built, jobs are running. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the composition: each part is created once, after its input.
export async function createApplication(given: ApplicationParts): Promise<Application> {
  const { config, log, tracer = NO_TRACER } = given;
  const stores = { ...given.stores, clickhouse: withTracedQueries(given.stores.clickhouse, tracer) };
  const clock = await createServiceClock(stores.db, config.sandboxNow ?? null);
  const leftSandbox = await leftSandboxLine(stores.db, clock);
  if (leftSandbox !== null) log.warn(leftSandbox);
  const watch = createPartsWatch({
    db: stores.db,
    clickhouse: stores.clickhouse,
    log,
    cluster: config.clickhouseCluster,
    isEmbedded: config.clickhouseUrl === undefined,
    lostEvents: stores.lostEvents,
  });
  const parts = {
    problem: () => watch.problems()[0] ?? null,
    damaged: (part: DamagedPart) => watch.damaged(part),
  };
  const isHeld = () => given.gate?.isClosed() === true;
  const isPaused = () => parts.problem() !== null || isHeld();
  const retention = createEventRetention({
    db: stores.db,
    clickhouse: inLane(guardParts(stores.clickhouse, parts), 'ingest'),
    clock,
    log,
    months: config.eventRetentionMonths ?? null,
    windowDays: config.ingestWindowDays,
    cluster: config.clickhouseCluster,
    isPaused,
    ...given.retentionTimes,
  });
  await retention.read();
  const kept = withKeptEvents(guardParts(stores.clickhouse, parts), retention.keptFrom);
  const isShared = config.clickhouseUrl !== undefined;
  const clickhouse: ClickHouse = withKnownEvents(kept, () => ingest, { isShared });
  const repeats = createRepeatLog({ clickhouse });
  const secrets = await createServiceSecrets({ config, db: stores.db, log });
  const context = {
    ...createBillingContext({
      ...{ config, clickhouse, clock, log, tracer, repeats, secrets },
      db: stores.db,
    }),
    upcoming: upcomingCommits,
  };
  const { windowDays, alarms, invoiceLog, accounts } = context;
  const rightOfWay = createRightOfWay();
  const jobsContext: JobsContext = {
    ...context,
    ping: () => Promise.all([stores.pingPostgres(), stores.clickhouse.ping()]),
    giveWay: rightOfWay.giveWay,
    isPaused,
  };
  const work = createBackgroundWork(jobsContext, given.unmatchedEveryMs);
  const { jobs, evaluations, telling } = work;
  const deliveries = await createPayments(jobsContext, config, given.deliveryHooks);
  const deliverer = createDeliverer({ ...context, isPaused: isHeld });
  const invoicePdf = await invoicePdfWith(config.invoiceFont, log);
  const holds = createHolds({
    ...context,
    clickhouse: inLane(clickhouse, 'evaluation'),
    isShared,
    ingest: (body) => ingestEvents(body),
    ingestSettled: () => ingest.settled(),
    storedAmong: (ids) => ingest.storedAmong(ids),
    granted: (all) => evaluations.granted(all),
  });
  const ingest = createIngest({
    clickhouse: inLane(clickhouse, 'ingest'),
    blocks: stores.blocks,
    clock,
    windowDays,
    olderIds: createOlderIds({
      db: stores.db,
      clickhouse: stores.clickhouse,
      dataDir: config.dataDir,
      recentMax: config.knownIdsRecent,
      isEmbedded: config.clickhouseUrl === undefined,
    }),
    log,
    tracer,
    // An embedded ClickHouse belongs to this process; a server may be shared with others.
    tailIntervalMs: config.clickhouseUrl === undefined ? undefined : TAIL_INTERVAL_MS,
    cluster: config.clickhouseCluster,
    onRepeat: (read, now) => repeats.note(read, now),
    usageWatch: evaluations.usage,
    eventWatch: holds.watch,
  });
  const admitEvents = () => {
    requireNoLoss(parts);
    room.require();
    ingest.admit();
  };
  const ingestEvents = async (body: Buffer, reader?: EventReader) => {
    admitEvents();
    return await ingest.ingest(body, reader);
  };
  const identity = config.cloudEventsIdentity ?? 'source-and-id';
  const cloudEvents = createCloudEventReader(identity);
  const olderCloudEventIds = createOlderCloudEventIds({
    ...{ identity, clock, windowDays, clickhouse: inLane(clickhouse, 'ingest') },
    apartFrom: await findSlashesApartFrom(stores.db),
    storedAmong: (ids) => ingest.storedAmong(ids),
  });
  const ingestCloudEvents = async (body: Buffer) => {
    const older = await olderCloudEventIds(body);
    return await ingestEvents(body, older.size === 0 ? cloudEvents : createCloudEventReader(identity, older));
  };
  const spans = await createServiceSpans({ config, db: stores.db, clickhouse, log, ingest, ingestEvents });
  const newToken = await ensureFirstToken({
    db: stores.db,
    clock,
    apiToken: config.apiToken,
    firstToken: given.firstToken,
  });
  await fillTokenCatalogue({ db: stores.db, clock });
  await watch.check();
  const directory = embeddedDirectory(config);
  const room = directory === undefined ? UNLIMITED_ROOM : watchDiskRoom(directory);
  const index = createIndexBuilder({ ingest, watch, log });
  await index.build();
  const authenticator = createAuthenticator({ db: stores.db, clock });
  const sessions = createConsoleSessions({ db: stores.db, clock, onUse: authenticator.noteUse });
  const subscription = stores.listen?.(TOKENS_CHANNEL, {
    onMessage: authenticator.forget,
    onConnected: authenticator.distrustAll,
  });
  const links = createDashboardLinks({ db: stores.db, clock });
  const takeRequest =
    config.requestRates === undefined
      ? undefined
      : createRateLimits(config.requestRates, () => performance.now());
  const app = createApp({
    version: VERSION,
    log,
    tracer,
    authenticate: authenticator.authenticate,
    sessions,
    ...(config.strictFields === undefined ? {} : { strictFields: config.strictFields }),
    dashboards: { links, origins: config.dashboardOrigins ?? [] },
    ...(takeRequest === undefined ? {} : { takeRequest }),
    changes: given.gate,
    records: createRequestRecords({
      db: stores.db,
      idempotency: createIdempotency({ db: stores.db, clock }),
      audit: createAudit({ clock }),
      rightOfWay,
      onLost: (err) => log.warn({ err }, 'the record of a failed request could not be written'),
    }),
    routes: everyRoute({
      ...context,
      holds,
      seller: config.seller ?? NO_SELLER,
      invoicePdf,
      invoiceDecimals: config.invoiceDecimals,
      sessions,
      networkServices: config.networkServices ?? [],
      ...{ links, takeRequest },
      flushTokenUses: authenticator.flushUses,
      onRevoked: authenticator.forget,
      onReplaced: (isFormer, text) => given.replaceFirstToken?.(isFormer, text),
      sandbox:
        clock.sandbox === null
          ? null
          : {
              clock: withDeliveries(withEvaluations(clock.sandbox, evaluations), deliveries),
              jobs: withTelling(jobs, telling),
            },
    }),
    ingest: (body) => ingestEvents(body),
    admitEvents,
    ingestSpans: spans.ingest,
    ingestCloudEvents,
    readiness: await identifiedReadiness({ stores, watch, index, room }),
    shortage: room.shortage,
    measures: serviceFigures({
      ingest,
      spans,
      repeats,
      jobs,
      alarms,
      evaluations,
      invoiceLog,
      ...{ retention, unmatched: work.unmatched },
      deliverer,
      deliveries,
      holds,
      accounts,
      watch,
      clock,
      clickhouse: stores.clickhouse,
      backups: given.backups,
    }),
  });
  const consoleLink = newToken === null ? null : await sessions.newLink(newToken);
  const endJobs = async () => {
    holds.close();
    await Promise.all([work.close(), retention.close(), deliveries.close()]);
  };
  const requests = createRunningRequests((request, bindings) => app.hono.fetch(request, bindings));
  work.start();
  holds.start();
  deliverer.start();
  deliveries.start();
  retention.start();
  watch.start(index.build);
  return {
    fetch: requests.fetch,
    routes: app.routes,
    refuseUnreadable: app.refuseUnreadable,
    newToken,
    notes: leftSandbox === null ? [] : [leftSandbox],
    consoleLink,
    problems: () => watch.problems(),
    requestsEnded: requests.ended,
    endJobs,
    async close() {
      room.close();
      await endJobs();
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

/** A font of the operator is read at once, so that a wrong path refuses the start. */
async function invoicePdfWith(fontFile: string | undefined, log: Logger): Promise<InvoicePdf> {
  const invoicePdf = createInvoicePdf(fontFile, {
    onMissing: (invoice, characters) =>
      log.warn(
        { invoice, characters: characters.slice(0, 20).join('') },
        'a PDF has characters that no font has: set INVOICE_FONT, or install a package of fonts (docs/reference/exports.md)',
      ),
  });
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
