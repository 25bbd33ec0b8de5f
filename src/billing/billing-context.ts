/**
 * The stores, the clock and the settings of the use cases of billing. `app/` creates one when the service starts, and
 * every layer above passes it on. Values for one piece of work only are set in a copy: `{ ...context, clock: fixed }`.
 */
import type { Logger } from 'pino';
import type { AlertLimits } from '../core/alerts.ts';
import type { Clock } from '../core/clock.ts';
import type { Secrets } from '../core/secrets.ts';
import type { BalanceDeduction } from '../core/terms/ledger.ts';
import type { PaymentProvider } from '../core/terms/payment-gate.ts';
import type { Tracer } from '../core/tracing.ts';
import type { ClickHouse, QueryLane } from '../metering/client/clickhouse.ts';
import { inLane } from '../metering/client/clickhouse-client.ts';
import type { Corrections } from '../metering/corrections/corrections.ts';
import type { RepeatLog } from '../metering/events/repeat-log.ts';
import type { EventFacts } from '../metering/ingest/event-facts.ts';
import type { UsageSource } from '../metering/usage/usage-source.ts';
import type { StripeAccounts } from '../payments/accounts.ts';
import type { PaymentsProvider } from '../payments/provider.ts';
import type { Database, Transaction } from '../store/base/database.ts';
import type { Delivery } from '../store/invoices/invoice-deliveries.ts';
import type { InvoiceAlarms } from './invoice-log/invoice-alarms.ts';
import type { InvoiceLog } from './invoice-log/invoice-log.ts';

export interface BillingContext {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly eventFacts: EventFacts;
  /** The corrections of events that readers know. */
  readonly corrections: Corrections;
  /** The only way in which usage is read. */
  readonly usageSource: UsageSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  /** From the end of a billing period to the finalization of its invoice. */
  readonly gracePeriodHours: number;
  /** The maximum age of accepted events, and how long their ids are kept, in days. */
  readonly windowDays: number;
  /** Recorded repeats must be readable before they are searched. */
  readonly repeats: Pick<RepeatLog, 'flush'>;
  /** The provider that collects payments for gated balances; undefined: none. */
  readonly paymentProvider: PaymentProvider | undefined;
  /** Maximum seats of one subscription; undefined: the default. */
  readonly seatsMax: number | undefined;
  /** Maximum lines of one invoice; undefined: the default. */
  readonly invoiceLinesMax: number | undefined;
  /** Limits for the number of alerts; undefined: the default. */
  readonly alertLimits: AlertLimits | undefined;
  /** Such as `INV-{year}-{number:6}` (core/invoice-number.ts). */
  readonly numberPattern: string;
  /** Such as `CN-{year}-{number:6}`. */
  readonly creditNotePattern: string;
  /** Called with every invoice that is computed with warnings. */
  readonly alarms: InvoiceAlarms;
  readonly invoiceLog: InvoiceLog;
  /** The name of the cluster of ClickHouse; undefined: a single server. */
  readonly cluster: string | undefined;
  /** The public address of the service; null: unknown. */
  readonly publicUrl: string | null;
  /** Whether messages may be sent over http, and into private networks. */
  readonly allowPrivate: boolean;
  /** Seals and opens the secrets of receivers. */
  readonly secrets: Secrets;
  readonly accounts: StripeAccounts;
  /** The provider of a delivery. Throws `ProviderProblem` if it is no longer available. */
  providerOf(delivery: Delivery): Promise<PaymentsProvider>;
  /** The limit of usage in memory; absent: the default. Set for one run, and by tests. */
  readonly usageRoom?: UsageRoom | undefined;
  /** Set if an answer has many pages: the same drafts are computed once for all of them. */
  readonly keptDeductions?: KeptDeductions | undefined;
}

/** The same context; its reads of ClickHouse use this lane by default. */
export function contextInLane<Context extends Pick<BillingContext, 'clickhouse' | 'usageSource'>>(
  context: Context,
  lane: QueryLane,
): Context {
  const { clickhouse, usageSource } = context;
  return { ...context, clickhouse: inLane(clickhouse, lane), usageSource: usageSource.inLane(lane) };
}

/** For operations that read and write rows only. */
export type RowContext = Pick<BillingContext, 'db' | 'clock'>;

/** On one snapshot of PostgreSQL, or within one transaction. */
export interface SnapshotContext extends Omit<BillingContext, 'db'> {
  readonly db: Transaction;
}

/** Limits for the values of usage in memory. */
export interface UsageRoom {
  /** Divided among the queries evenly. */
  readonly valuesMax?: number;
  /** The minimum per query, for an invoice with very many metrics. */
  readonly valuesOfQuestionMin?: number;
}

/** The deductions of drafts, by draft. */
export type KeptDeductions = Map<string, readonly BalanceDeduction[]>;
