/** The context of billing as `app/` makes it, with the settings that a service starts with. */
import { pino } from 'pino';
import { type BillingConfig, createBillingContext } from '../../src/app/billing/billing-context.ts';
import type { BillingContext } from '../../src/billing/billing-context.ts';
import { upcomingCommits } from '../../src/billing/contracts/grants/upcoming-grants.ts';
import { systemClock } from '../../src/core/clock.ts';
import { NO_TRACER } from '../../src/core/tracing.ts';
import type { JobsContext } from '../../src/jobs/jobs-context.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createRemoteClickHouse } from '../../src/metering/client/clickhouse-remote.ts';
import { createRepeatLog } from '../../src/metering/events/repeat-log.ts';
import { factsWithoutIngest } from '../../src/metering/ingest/event-facts.ts';

/** Nobody listens on the discard port. */
const NO_CLICKHOUSE_URL = 'http://127.0.0.1:9/tallyhouse';
export const WINDOW_DAYS = 34;
const CONFIG = { gracePeriodHours: 24, ingestWindowDays: WINDOW_DAYS };

/** For what never asks it. */
export function noClickHouse(): ClickHouse {
  return createRemoteClickHouse({ url: NO_CLICKHOUSE_URL });
}

/** With the given members instead of the usual ones. */
export function billingContext(
  given: Pick<BillingContext, 'db'> & Partial<BillingContext>,
  config: BillingConfig = CONFIG,
): BillingContext {
  const clickhouse = given.clickhouse ?? noClickHouse();
  const context = createBillingContext({
    config,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    tracer: NO_TRACER,
    repeats: createRepeatLog({ clickhouse }),
    eventFacts: factsWithoutIngest(),
    ...given,
    clickhouse,
  });
  // Readers of events see the applied corrections.
  return { ...context, ...given, clickhouse: context.clickhouse };
}

/** The same with what jobs and notifications need. Nothing is paused, and the stores answer. */
export function jobsContext(
  given: Pick<BillingContext, 'db'> & Partial<JobsContext>,
  config: BillingConfig = CONFIG,
): JobsContext {
  return {
    ...billingContext(given, config),
    upcoming: upcomingCommits,
    allowPrivate: true,
    ping: async () => undefined,
    isPaused: () => false,
    giveWay: async () => undefined,
    ...given,
  };
}
