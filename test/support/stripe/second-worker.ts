/** The workers of another process, on the stores of a service: they take deliveries as its own ones do. */
import type { ApplicationParts } from '../../../src/app/application/application-parts.ts';
import { createPayments } from '../../../src/app/billing/payments.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { STAND_IN_KEY, type StripeStandIn } from '../../../src/demo/stripe/stand-in.ts';
import { jobsContext, WINDOW_DAYS } from '../billing-context.ts';
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
  const { clock, timeoutMs, hooks } = options;
  const config = {
    gracePeriodHours: 24,
    ingestWindowDays: WINDOW_DAYS,
    stripe: {
      apiKey: STAND_IN_KEY,
      webhookSecret: stripe.webhookSecret,
      apiBase: stripe.url,
      leavesInDraft: false,
    },
    stripeRates: { account: 100_000, endpoint: 100_000 },
    stripeTimeoutMs: timeoutMs,
  };
  const deliveries = await createPayments(jobsContext({ db, clickhouse, clock }, config), config, hooks);
  deliveries.start();
  return deliveries;
}
