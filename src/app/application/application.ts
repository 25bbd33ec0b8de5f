/**
 * Wires the application: clock, jobs, ingest, use cases and routes over two open stores. `service.ts` opens the
 * stores and listens; tests pass their own stores.
 */
import { ensureFirstToken } from '../../access/manage-tokens.ts';
import { createInvoicePdf, type InvoicePdf } from '../../api/pdf/invoice-pdf.ts';
import { contextInLane } from '../../billing/billing-context.ts';
import { upcomingCommits } from '../../billing/contracts/grants/upcoming-grants.ts';
import { createHolds } from '../../billing/holds/holds.ts';
import { giveQuestions } from '../../billing/sql/questions.ts';
import { ConfigError } from '../../config.ts';
import { NO_TRACER } from '../../core/tracing.ts';
import { createServiceClock, leftSandboxLine, type ServiceClock } from '../../jobs/service-clock.ts';
import type { Logger } from '../../log.ts';
import { type Corrections, createCorrections } from '../../metering/corrections/corrections.ts';
import { createRepeatLog, type RepeatLog } from '../../metering/events/repeat-log.ts';
import { createEventFacts, type EventFacts } from '../../metering/ingest/event-facts.ts';
import { closeReportReader } from '../../metering/sql/reports/run-report.ts';
import { closeMetricReader } from '../../metering/sql/run/sql-metric.ts';
import { createRecentUsage, type RecentUsage } from '../../metering/usage/recent-usage.ts';
import { createRightOfWay, type RightOfWay } from '../../runtime/right-of-way.ts';
import { readAppliedCorrections } from '../../store/events/event-corrections.ts';
import { createBillingContext } from '../billing/billing-context.ts';
import { createServiceSecrets } from '../billing/service-secrets.ts';
import { fillTokenCatalogue } from '../billing/token-catalogue.ts';
import { createIndexBuilder } from '../events/index-builder.ts';
import { createRunningRequests } from '../http/running-requests.ts';
import { identifiedReadiness } from '../readiness/readiness.ts';
import { createAccess } from './access.ts';
import type { Application, ApplicationParts } from './application-parts.ts';
import { createHttp, type RunningParts } from './http.ts';
import { createEventIngest, createIngestion } from './ingestion.ts';
import { createRunningList, type RunningList } from './running-list.ts';
import { type StoredData, watchStoredData } from './stored-data.ts';
import { createWork } from './work.ts';

/** Resolves when requests can be answered: the index of known events is built, jobs are running. */
export async function createApplication(given: ApplicationParts): Promise<Application> {
  const { config, log, stores } = given;
  const clock = await createServiceClock(stores.db, config.sandboxNow ?? null);
  const leftSandbox = await leftSandboxLine(stores.db, clock);
  if (leftSandbox !== null) log.warn(leftSandbox);
  const running = createRunningList();
  const parts = await createParts(given, clock, running);
  const { data, ingestion } = parts;
  const newToken = await ensureFirstToken({
    ...{ db: stores.db, clock, apiToken: config.apiToken },
    firstToken: given.firstToken,
  });
  await fillTokenCatalogue({ db: stores.db, clock });
  const { watch } = data;
  await watch.check();
  const index = createIndexBuilder({ ingest: ingestion.ingest, watch, log });
  await index.build();
  const access = createAccess(given, clock, running);
  const { room } = ingestion;
  const readiness = await identifiedReadiness({ stores: data.stores, watch, index, room });
  const app = createHttp({ ...parts, access, readiness });
  const consoleLink = newToken === null ? null : await access.sessions.newLink(newToken);
  const requests = createRunningRequests((request, bindings) => app.hono.fetch(request, bindings));
  parts.work.start();
  parts.holds.start();
  watch.start(index.build);
  return {
    fetch: requests.fetch,
    routes: app.routes,
    refuseUnreadable: app.refuseUnreadable,
    ...{ newToken, consoleLink },
    notes: leftSandbox === null ? [] : [leftSandbox],
    giveQuestions: () => giveQuestions({ db: stores.db, clock }),
    problems: () => watch.problems(),
    requestsEnded: requests.ended,
    endJobs: () => running.close('jobs'),
    close: () => running.close(),
  };
}

type Parts = Omit<RunningParts, 'access' | 'readiness'>;

/** The parts that read and write the stores. None of their work has started. */
async function createParts(
  given: ApplicationParts,
  clock: ServiceClock,
  running: RunningList,
): Promise<Parts> {
  const { config, log } = given;
  const data = await watchStoredData(given, clock, running);
  const { isShared } = data;
  const repeats = running.add('repeats', createRepeatLog({ clickhouse: data.clickhouse }));
  const rightOfWay = createRightOfWay();
  const ingest = running.add('events', createEventIngest({ given, data, clock, repeats }));
  const corrections = running.add('readers', await createCorrectionsOf(data));
  ingest.startAfter(corrections.lastTick());
  const { keptFrom } = data.retention;
  const eventFacts = createEventFacts({ ingest, corrections, keptFrom, isShared });
  const recentUsage = running.add('readers', createRecentUsage(eventFacts, data.guard.problem));
  data.watch.onLoss(() => recentUsage.forget());
  corrections.onChange(() => recentUsage.forget());
  const facts = { eventFacts, corrections, recentUsage };
  const context = await createContext({ given, data, clock, repeats, rightOfWay, ...facts });
  const ingestion = await createIngestion({ given, data, context, ingest, running });
  const work = await createWork(context, given, data, running);
  const invoicePdf = await invoicePdfWith(config.invoiceFont, log);
  const holds = createHolds({
    ...contextInLane(context, 'evaluation'),
    isShared,
    ingest: (body) => ingestion.ingestEvents(body),
    ingestDrained: () => ingest.drained(),
    granted: (all) => work.evaluations.granted(all),
  });
  running.add('jobs', holds);
  ingest.watch({ usage: work.evaluations.usage, events: holds.watch, reads: recentUsage.watch });
  running.add('readers', { close: closeMetricReader });
  running.add('readers', { close: closeReportReader });
  return { given, data, context, rightOfWay, repeats, work, holds, ingestion, invoicePdf };
}

/** With the log in front of an embedded ClickHouse this process is its only reader and writer. */
async function createCorrectionsOf({ stores }: StoredData): Promise<Corrections> {
  const corrections = createCorrections({
    read: () => readAppliedCorrections(stores.db),
    isOnlyReader: stores.blocks !== undefined,
  });
  await corrections.refresh();
  return corrections;
}

interface ContextParts {
  readonly given: ApplicationParts;
  readonly data: StoredData;
  readonly clock: ServiceClock;
  readonly eventFacts: EventFacts;
  readonly corrections: Corrections;
  readonly repeats: RepeatLog;
  readonly rightOfWay: RightOfWay;
  readonly recentUsage: RecentUsage;
}

async function createContext(parts: ContextParts): Promise<RunningParts['context']> {
  const { given, data, clock, eventFacts, corrections, repeats, rightOfWay, recentUsage } = parts;
  const { config, log, tracer = NO_TRACER } = given;
  const { stores, clickhouse, isPaused } = data;
  const secrets = await createServiceSecrets({ config, db: stores.db, log });
  return {
    ...createBillingContext({
      ...{ config, db: stores.db, clickhouse, eventFacts, clock, log, tracer, repeats, secrets },
      ...{ usageSource: stores.usageSource, corrections, recentUsage },
    }),
    ...{ clock, isPaused, upcoming: upcomingCommits, giveWay: rightOfWay.giveWay },
    ping: () => Promise.all([stores.pingPostgres(), stores.clickhouse.ping()]),
  };
}

/** A font of the operator is read at once, so that a wrong path fails the start. */
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
