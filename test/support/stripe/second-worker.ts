/** The workers of another process, on the stores of a service: they take deliveries as its own ones do. */
import { pino } from 'pino';
import type { ApplicationParts } from '../../../src/app/application.ts';
import { createPayments } from '../../../src/app/payments.ts';
import { createInvoiceLog } from '../../../src/billing/invoice-log/invoice-log.ts';
import { createInvoiceAlarms } from '../../../src/billing/invoices/invoice-alarms.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { NO_TRACER } from '../../../src/core/tracing.ts';
import { STAND_IN_KEY, type StripeStandIn } from '../../../src/demo/stripe/stand-in.ts';
import type { TestService } from '../service.ts';

export async function startSecondWorker(
  { db, clickhouse }: Pick<TestService, 'db' | 'clickhouse'>,
  stripe: StripeStandIn,
  options: {
    readonly clock: Clock;
    readonly timeoutMs: number;
    readonly hooks: NonNullable<ApplicationParts['deliveryHooks']>;
  },
): Promise<{ close(): Promise<void> }> {
  const log = pino({ level: 'silent' });
  const { clock, timeoutMs, hooks } = options;
  const { deliveries } = await createPayments({
    config: {
      stripe: {
        apiKey: STAND_IN_KEY,
        webhookSecret: stripe.webhookSecret,
        apiBase: stripe.url,
        leavesInDraft: false,
      },
      stripeRates: { account: 100_000, endpoint: 100_000 },
      stripeTimeoutMs: timeoutMs,
    },
    log,
    tracer: NO_TRACER,
    invoicing: {
      ...{ db, clickhouse, clock, gracePeriodHours: 24, tracer: NO_TRACER },
      alarms: createInvoiceAlarms(log),
      invoiceLog: createInvoiceLog(log),
    },
    hooks,
    isPaused: () => false,
  });
  deliveries.start();
  return deliveries;
}
