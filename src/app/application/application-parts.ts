/** The dependencies that the program passes to the application, and its interface. */
import type { Config } from '../../config.ts';
import type { Tracer } from '../../core/tracing.ts';
import type { DeliveryHooks } from '../../jobs/deliveries/deliveries.ts';
import type { RetentionTimes } from '../../jobs/event-retention.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { EventBlocks } from '../../metering/ingest/event-blocks.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';
import type { Database } from '../../store/base/database.ts';
import type { Listen } from '../../store/base/notifications.ts';
import type { Backups } from '../backups/backups.ts';
import type { PaymentsConfig } from '../billing/payments.ts';
import type { App } from '../http/http-app.ts';
import type { WriteGate } from '../move/write-gate.ts';
import type { Pings } from '../readiness/readiness.ts';
import type { LostEvents } from '../stores/logged-clickhouse.ts';

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
        | 'creditNoteNumberPattern'
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
        | 'sessionLimits'
        | 'identityProvider'
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
    /** Without it, a token revoked by another process can send events for a few seconds. */
    readonly listen?: Listen;
    /** Set if an event is acknowledged when it is in a log in front of ClickHouse. */
    readonly blocks?: EventBlocks | undefined;
    /** Absent: usage is read from ClickHouse. Set by tests whose guarantee is not SQL. */
    readonly usageSource?: UsageSource | undefined;
    readonly lostEvents?: LostEvents | undefined;
  } & Pings;
  /** For tests: hooks between two steps of a delivery, and the duration of a lease. */
  readonly deliveryHooks?: DeliveryHooks | undefined;
  /** Absent if backups are not monitored. */
  readonly backups?: Pick<Backups, 'figures'> | undefined;
  /** Closed while changes are not allowed. */
  readonly gate?: Pick<WriteGate, 'enter' | 'isClosed'> | undefined;
  /** How often old events are removed, and events without a customer are counted. */
  readonly retentionTimes?: Partial<RetentionTimes> | undefined;
  readonly unmatchedEveryMs?: number | undefined;
  /** Creates the token of the first start and saves it for the operator, or reads the saved one. */
  firstToken(): Promise<{ readonly token: string }>;
  /** Saves `text` instead, if the saved token is the former one. */
  replaceFirstToken?(isFormer: (text: string) => boolean, text: string): void;
}

export interface Application {
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  readonly routes: App['routes'];
  readonly refuseUnreadable: App['refuseUnreadable'];
  /** The first token, if this start stored it and it has not been shown to the operator yet. */
  readonly newToken: string | null;
  /** Set with `newToken`: opens the console once, without entering the token. */
  readonly consoleLink: string | null;
  /** Notes for the operator on a start that is otherwise fine, a line each. */
  readonly notes: readonly string[];
  /** Saves the questions of a new installation, once. */
  giveQuestions(): Promise<void>;
  /** The faults of the stored data and their remedies, a line each; empty when the service is ready. */
  problems(): readonly string[];
  /** Resolves when no request is being answered, including requests whose client has gone. */
  requestsEnded(): Promise<void>;
  /** Takes no further job and resolves when running work has ended. */
  endJobs(): Promise<void>;
  /** Call it when no request is running: ends the jobs, writes the last batch. */
  close(): Promise<void>;
}
