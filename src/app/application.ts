/**
 * Wires the application: clock, jobs, ingest, use cases and routes over two open stores. `service.ts` opens the
 * stores and listens; tests pass their own stores.
 */

import { createAuthenticator, ensureFirstToken } from '../access/tokens.ts';
import {
  ingestMeasures,
  invoiceMeasures,
  jobMeasures,
  repeatMeasures,
} from '../api/http/service-measures.ts';
import { sandboxRoutes } from '../api/routes/sandbox/routes.ts';
import { createInvoiceAlarms } from '../billing/invoices/invoice-alarms.ts';
import type { Config } from '../config.ts';
import { finalizationJobKind } from '../jobs/finalize-invoices.ts';
import { createJobRunner } from '../jobs/job-runner.ts';
import { createServiceClock } from '../jobs/service-clock.ts';
import type { Logger } from '../log.ts';
import type { ClickHouse } from '../metering/client/clickhouse.ts';
import { createRepeatLog } from '../metering/events/repeat-log.ts';
import { createIngest } from '../metering/ingest/ingest.ts';
import { closeMetricReader } from '../metering/sql-metric/sql-metric.ts';
import type { Database } from '../store/database.ts';
import { VERSION } from '../version.ts';
import { type App, createApp } from './http-app.ts';
import { applicationRoutes } from './routes.ts';

export interface ApplicationParts {
  readonly config: Pick<Config, 'apiToken' | 'gracePeriodHours' | 'ingestWindowDays' | 'sandboxNow'> &
    Partial<Pick<Config, 'clickhouseUrl' | 'clickhouseCluster' | 'invoiceLinesMax'>>;
  readonly log: Logger;
  readonly stores: { readonly db: Database; readonly clickhouse: ClickHouse; ping(): Promise<void> };
  /** Makes the token of the first start and keeps it for the operator, or finds the kept one. */
  firstToken(): Promise<{ readonly token: string }>;
}

export interface Application {
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  readonly routes: App['routes'];
  readonly refuseUnreadable: App['refuseUnreadable'];
  /** The first token, where it was stored just now and the operator has not seen it yet. */
  readonly newToken: string | null;
  /** Called when no request is running any more: ends the jobs, writes the last batch. */
  close(): Promise<void>;
}

/** How often to learn which events other processes have stored: the time in which a repeat can slip through. */
const TAIL_INTERVAL_MS = 1_000;

/** Resolves when requests can be answered: the index of known events is built, jobs are running. */
export async function createApplication(parts: ApplicationParts): Promise<Application> {
  const { config, log, stores } = parts;
  const clock = await createServiceClock(stores.db, config.sandboxNow ?? null);
  const { gracePeriodHours, ingestWindowDays: windowDays } = config;
  const alarms = createInvoiceAlarms(log);
  const invoicing = {
    clickhouse: stores.clickhouse,
    clock,
    gracePeriodHours,
    alarms,
    ...(config.invoiceLinesMax === undefined ? {} : { invoiceLinesMax: config.invoiceLinesMax }),
  };
  const jobs = createJobRunner({
    db: stores.db,
    clock,
    log,
    kinds: [finalizationJobKind({ ...invoicing, db: stores.db })],
    ping: stores.ping,
  });
  const repeats = createRepeatLog({ clickhouse: stores.clickhouse });
  const ingest = createIngest({
    clickhouse: stores.clickhouse,
    clock,
    windowDays,
    log,
    // An embedded ClickHouse belongs to this process; a server may be shared with others.
    tailIntervalMs: config.clickhouseUrl === undefined ? undefined : TAIL_INTERVAL_MS,
    cluster: config.clickhouseCluster,
    onRepeat: (event, now) => repeats.note(event, now),
  });
  const newToken = await ensureFirstToken({
    db: stores.db,
    clock,
    apiToken: config.apiToken,
    firstToken: parts.firstToken,
  });
  const { ids } = await ingest.rebuild();
  log.info({ ids }, 'the index of known events is built');
  const app = createApp({
    version: VERSION,
    log,
    authenticate: createAuthenticator({ db: stores.db, clock }),
    routes: [
      ...applicationRoutes({ ...invoicing, db: stores.db, windowDays, repeats }),
      ...(clock.sandbox === null ? [] : sandboxRoutes({ clock, sandbox: clock.sandbox, jobs })),
    ],
    ingest: ingest.ingest,
    readiness: () => readiness(stores),
    measures: (registry) => {
      ingestMeasures(registry, () => ingest.stats());
      repeatMeasures(registry, () => repeats.stats());
      jobMeasures(registry, () => jobs.stats(), clock);
      invoiceMeasures(registry, () => alarms.stats());
    },
  });
  jobs.start();
  return {
    fetch: app.hono.fetch,
    routes: app.routes,
    refuseUnreadable: app.refuseUnreadable,
    newToken,
    async close() {
      await jobs.close();
      await ingest.close();
      await repeats.close();
      await closeMetricReader();
    },
  };
}

/** The index is built before anything is served, so only the stores can be missing. */
async function readiness(stores: ApplicationParts['stores']) {
  const ready = await stores.ping().then(
    () => true,
    () => false,
  );
  return { ready, checks: { stores: ready } };
}
