/**
 * The stores, the clock and the settings of the use cases of billing. `app/` creates one when the service starts, and
 * every floor above passes it on.
 * A member that holds for one piece of work only is set in a copy of it: `{ ...context, clock: fixed }`.
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
  /** The only way in which usage is read. */
  readonly usageSource: UsageSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  /** From the end of a billing period to the finalization of its invoice. */
  readonly gracePeriodHours: number;
  /** How far back events are accepted, and how long their ids are remembered, in days. */
  readonly windowDays: number;
  /** Recorded repeats must be readable before they are searched. */
  readonly repeats: Pick<RepeatLog, 'flush'>;
  /** Who collects payments that balances wait for; undefined: nobody does. */
  readonly paymentProvider: PaymentProvider | undefined;
  /** Of one subscription; undefined: the default. */
  readonly seatsMax: number | undefined;
  /** Of one invoice; undefined: the default. */
  readonly invoiceLinesMax: number | undefined;
  /** How many alerts there may be; undefined: the default. */
  readonly alertLimits: AlertLimits | undefined;
  /** Such as `INV-{year}-{number:6}` (core/invoice-number.ts). */
  readonly numberPattern: string;
  /** Called with every invoice that is computed with warnings. */
  readonly alarms: InvoiceAlarms;
  readonly invoiceLog: InvoiceLog;
  /** The name of the cluster of ClickHouse; undefined: a single server. */
  readonly cluster: string | undefined;
  /** Where clients reach the service; null: it does not know. */
  readonly publicUrl: string | null;
  /** Whether messages may be sent over http, and into private networks. */
  readonly allowPrivate: boolean;
  /** Seals and opens the secrets of receivers. */
  readonly secrets: Secrets;
  readonly accounts: StripeAccounts;
  /** The provider that a delivery goes to. Throws `ProviderProblem` where it cannot be reached any more. */
  providerOf(delivery: Delivery): Promise<PaymentsProvider>;
  /** How much usage is held in memory; absent: the usual amount. Set for one run, and by tests. */
  readonly usageRoom?: UsageRoom | undefined;
  /** Set where an answer has many pages: the same drafts are computed once for all of them. */
  readonly keptDeductions?: KeptDeductions | undefined;
}

/** The same context, whose reads of ClickHouse take the connections of a lane unless they name another. */
export function contextInLane<Context extends Pick<BillingContext, 'clickhouse' | 'usageSource'>>(
  context: Context,
  lane: QueryLane,
): Context {
  const { clickhouse, usageSource } = context;
  return { ...context, clickhouse: inLane(clickhouse, lane), usageSource: usageSource.inLane(lane) };
}

/** Of operations that read and write rows only. */
export type RowContext = Pick<BillingContext, 'db' | 'clock'>;

/** On one snapshot of PostgreSQL, or within one transaction. */
export interface SnapshotContext extends Omit<BillingContext, 'db'> {
  readonly db: Transaction;
}

/** How many values of usage are in memory at once. */
export interface UsageRoom {
  /** Shared out to the questions evenly. */
  readonly valuesMax?: number;
  /** An invoice with very many metrics has this room for each of them nevertheless. */
  readonly valuesOfQuestionMin?: number;
}

/** The deductions of drafts, by draft. */
export type KeptDeductions = Map<string, readonly BalanceDeduction[]>;
