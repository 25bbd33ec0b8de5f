/** The stored data for the rest of the service: traced, and monitored for losses. */
import { NO_TRACER } from '../../core/tracing.ts';
import { createEventRetention } from '../../jobs/event-retention.ts';
import type { ServiceClock } from '../../jobs/service-clock.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import { withTracedQueries } from '../../metering/client/traced-queries.ts';
import { type DamagedPart, guardParts, type PartsGuard } from '../../metering/stored-parts/guard-parts.ts';
import { createPartsWatch, type PartsWatch } from '../readiness/parts-watch.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { RunningList } from './running-list.ts';

export type StoredData = Awaited<ReturnType<typeof watchStoredData>>;

/** The start of retention is read when this resolves. Nothing is checked or removed yet. */
export async function watchStoredData(given: ApplicationParts, clock: ServiceClock, running: RunningList) {
  const { config, log, tracer = NO_TRACER } = given;
  const stores = { ...given.stores, clickhouse: withTracedQueries(given.stores.clickhouse, tracer) };
  const { db, lostEvents } = stores;
  const isShared = config.clickhouseUrl !== undefined;
  const cluster = config.clickhouseCluster;
  const watch = createPartsWatch({
    ...{ db, clickhouse: stores.clickhouse, log, cluster, lostEvents },
    isEmbedded: !isShared,
  });
  running.add('checks', watch);
  const guard = guardOf(watch);
  const isHeld = () => given.gate?.isClosed() === true;
  const isPaused = () => guard.problem() !== null || isHeld();
  const clickhouse = guardParts(stores.clickhouse, guard);
  const retention = createEventRetention({
    ...{ db, clickhouse: inLane(clickhouse, 'ingest'), clock, log, cluster, isPaused },
    months: config.eventRetentionMonths ?? null,
    windowDays: config.ingestWindowDays,
    ...given.retentionTimes,
  });
  running.add('jobs', retention);
  await retention.read();
  return { stores, clickhouse, isShared, watch, guard, retention, isHeld, isPaused };
}

function guardOf(watch: PartsWatch): PartsGuard {
  return {
    problem: () => watch.problems()[0] ?? null,
    damaged: (part: DamagedPart) => watch.damaged(part),
  };
}
