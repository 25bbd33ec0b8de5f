/** Creates the context of billing, which is passed through the whole service above the stores. */

import type { Logger } from 'pino';
import type { BillingContext } from '../../billing/billing-context.ts';
import { createInvoiceAlarms } from '../../billing/invoice-log/invoice-alarms.ts';
import { createInvoiceLog } from '../../billing/invoice-log/invoice-log.ts';
import type { Config } from '../../config.ts';
import type { Clock } from '../../core/clock.ts';
import { DEFAULT_CREDIT_NOTE_PATTERN } from '../../core/credit-note.ts';
import { DEFAULT_NUMBER_PATTERN } from '../../core/invoice-number.ts';
import { createSecrets, type Secrets } from '../../core/secrets.ts';
import type { Tracer } from '../../core/tracing.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { type Corrections, createCorrections } from '../../metering/corrections/corrections.ts';
import { withCorrections } from '../../metering/corrections/with-corrections.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import type { EventFacts } from '../../metering/ingest/event-facts.ts';
import type { RecentUsage } from '../../metering/usage/recent-usage.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';
import { createUsageSource } from '../../metering/usage/usage-source.ts';
import { providerOf } from '../../payments/providers.ts';
import type { Database } from '../../store/base/database.ts';
import { readAppliedCorrections } from '../../store/events/event-corrections.ts';
import { createAccounts, type PaymentsConfig, providerParts } from './payments.ts';

export type BillingConfig = PaymentsConfig &
  Pick<Config, 'gracePeriodHours' | 'ingestWindowDays'> &
  Partial<
    Pick<
      Config,
      | 'alertLimits'
      | 'clickhouseCluster'
      | 'invoiceLinesMax'
      | 'invoiceNumberPattern'
      | 'creditNoteNumberPattern'
      | 'paymentProvider'
      | 'subscriptionSeatsMax'
    >
  >;

interface BillingParts {
  readonly config: BillingConfig;
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly eventFacts: EventFacts;
  /** Absent: PostgreSQL is asked before each statement over events. */
  readonly corrections?: Corrections;
  /** Absent: usage is read from ClickHouse. */
  readonly usageSource?: UsageSource | undefined;
  /** Absent: usage is always read. */
  readonly recentUsage?: RecentUsage;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly repeats: Pick<RepeatLog, 'flush'>;
  /** Absent: stored secrets are opened, and none is sealed. */
  readonly secrets?: Secrets;
}

function readCorrections(db: Database): Corrections {
  return createCorrections({ read: () => readAppliedCorrections(db), isOnlyReader: false });
}

export function createBillingContext({ config, ...parts }: BillingParts): BillingContext {
  const { corrections = readCorrections(parts.db) } = parts;
  // Everything that reads events does so through this context.
  const clickhouse = withCorrections(parts.clickhouse, corrections);
  const context: BillingContext = {
    ...parts,
    ...{ corrections, clickhouse },
    usageSource: parts.usageSource ?? createUsageSource(clickhouse, parts.eventFacts, parts.recentUsage),
    gracePeriodHours: config.gracePeriodHours,
    windowDays: config.ingestWindowDays,
    paymentProvider: config.paymentProvider,
    seatsMax: config.subscriptionSeatsMax,
    invoiceLinesMax: config.invoiceLinesMax,
    alertLimits: config.alertLimits,
    numberPattern: config.invoiceNumberPattern ?? DEFAULT_NUMBER_PATTERN,
    creditNotePattern: config.creditNoteNumberPattern ?? DEFAULT_CREDIT_NOTE_PATTERN,
    alarms: createInvoiceAlarms(parts.log),
    invoiceLog: createInvoiceLog(parts.log),
    cluster: config.clickhouseCluster,
    publicUrl: config.publicUrl ?? null,
    allowPrivate: config.webhookAllowPrivate ?? false,
    secrets: parts.secrets ?? createSecrets(config.secretsKey, { seals: false }),
    accounts: createAccounts(config),
    providerOf: (delivery) => providerOf(providers, delivery),
  };
  const providers = providerParts(context, config);
  return context;
}
