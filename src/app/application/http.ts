/** The HTTP side of the running service: its routes, and their answers about the service. */
import { createAudit } from '../../access/audit.ts';
import { createIdempotency } from '../../access/idempotency.ts';
import { createRequestRecords } from '../../access/request-records.ts';
import type { InvoicePdf } from '../../api/pdf/invoice-pdf.ts';
import type { RouteContext } from '../../api/routes/route-context.ts';
import type { Readiness } from '../../api/routes/service/routes.ts';
import type { Holds } from '../../billing/holds/holds.ts';
import { NO_SELLER } from '../../core/seller.ts';
import type { JobsContext } from '../../jobs/jobs-context.ts';
import type { ServiceClock } from '../../jobs/service-clock.ts';
import { withTelling } from '../../jobs/tell-scheduled.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import type { RightOfWay } from '../../runtime/right-of-way.ts';
import { VERSION } from '../../version.ts';
import { withDeliveries, withEvaluations } from '../billing/background-work.ts';
import { type App, createApp } from '../http/http-app.ts';
import { everyRoute } from '../http/routes.ts';
import type { Access } from './access.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { Ingestion } from './ingestion.ts';
import { serviceFigures } from './service-figures.ts';
import type { StoredData } from './stored-data.ts';
import type { Work } from './work.ts';

export interface RunningParts {
  readonly given: ApplicationParts;
  readonly data: StoredData;
  readonly context: JobsContext & { readonly clock: ServiceClock };
  readonly rightOfWay: RightOfWay;
  readonly repeats: RepeatLog;
  readonly work: Work;
  readonly holds: Holds;
  readonly ingestion: Ingestion;
  readonly access: Access;
  readonly invoicePdf: InvoicePdf;
  readiness(): Promise<Readiness>;
}

export function createHttp(parts: RunningParts): App {
  const { given, context, rightOfWay, ingestion, access } = parts;
  const { config, log } = given;
  const { db, clock, tracer } = context;
  const { sessions, signIns, providerSignIn, links, takeRequest } = access;
  const publicUrl = config.publicUrl ?? null;
  return createApp({
    ...{ version: VERSION, log, tracer, sessions },
    authenticate: access.authenticator.authenticate,
    ...(config.strictFields === undefined ? {} : { strictFields: config.strictFields }),
    ...(providerSignIn === null
      ? {}
      : { provider: { signIn: providerSignIn, sessions, signIns, clock, publicUrl } }),
    dashboards: { links, origins: config.dashboardOrigins ?? [] },
    ...(takeRequest === undefined ? {} : { takeRequest }),
    changes: given.gate,
    records: createRequestRecords({
      db,
      idempotency: createIdempotency({ db, clock }),
      audit: createAudit({ clock }),
      rightOfWay,
      onLost: (err) => log.warn({ err }, 'the record of a failed request could not be written'),
    }),
    routes: everyRoute(routeContext(parts)),
    ingest: (body) => ingestion.ingestEvents(body),
    admitEvents: ingestion.admitEvents,
    ingestSpans: ingestion.spans.ingest,
    ingestCloudEvents: ingestion.ingestCloudEvents,
    readiness: parts.readiness,
    shortage: ingestion.room.shortage,
    measures: measures(parts),
  });
}

function routeContext({ given, context, access, holds, invoicePdf, work }: RunningParts): RouteContext {
  const { config } = given;
  const { authenticator, sessions, passkeys, signIns, providerSignIn, links, takeRequest } = access;
  const { sandbox } = context.clock;
  return {
    ...context,
    ...{ holds, invoicePdf, sessions, passkeys, signIns, providerSignIn, links, takeRequest },
    seller: config.seller ?? NO_SELLER,
    invoiceDecimals: config.invoiceDecimals,
    networkServices: config.networkServices ?? [],
    flushTokenUses: authenticator.flushUses,
    onRevoked: authenticator.forget,
    onReplaced: (isFormer, text) => given.replaceFirstToken?.(isFormer, text),
    sandbox:
      sandbox === null
        ? null
        : {
            clock: withDeliveries(withEvaluations(sandbox, work.evaluations), work.deliveries),
            jobs: withTelling(work.jobs, work.telling),
          },
  };
}

function measures({ given, data, context, repeats, work, holds, ingestion }: RunningParts) {
  const { alarms, invoiceLog, accounts, clock } = context;
  const { ingest, spans } = ingestion;
  const { jobs, evaluations, unmatched, deliverer, deliveries } = work;
  const { watch, retention, stores } = data;
  return serviceFigures({
    ...{ ingest, spans, repeats, jobs, alarms, evaluations, invoiceLog, retention, unmatched },
    ...{ deliverer, deliveries, holds, accounts, watch, clock },
    clickhouse: stores.clickhouse,
    backups: given.backups,
  });
}
