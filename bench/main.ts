/**
 * `npm run bench [-- PART…]`: the figures of the README, each beside its target. Without a part, all of them.
 *
 * Every part starts what it needs on temporary data and removes it. Run it on a machine that does nothing
 * else: load from elsewhere is in every figure.
 */
import { benchAlerts } from './alerts.ts';
import { benchAnswersAtOnce } from './answers-at-once.ts';
import { benchBackfill } from './backfill.ts';
import { benchBalances } from './balances.ts';
import { benchCloudEvents } from './cloud-events.ts';
import { benchColdStart } from './cold-start.ts';
import { benchContractRateSchedule } from './contract-rate-schedule.ts';
import { benchDelivery } from './delivery.ts';
import { benchFilledIngest } from './filled-ingest.ts';
import { benchFinalize } from './finalize.ts';
import { benchHolds } from './holds.ts';
import { benchIdle } from './idle.ts';
import { benchIngest } from './ingest.ts';
import { benchKnownIds } from './known-ids.ts';
import { benchLoop } from './loop.ts';
import { benchManyCustomersSql } from './many-customers-sql.ts';
import { benchManyMetrics } from './many-metrics.ts';
import { benchMixed } from './mixed.ts';
import { benchOverload } from './overload.ts';
import { benchOverrides } from './overrides.ts';
import { benchPages } from './pages.ts';
import { benchPeers } from './peers.ts';
import { machine } from './report.ts';
import { benchRestart } from './restart.ts';
import { benchSearch } from './search.ts';
import { benchSeats } from './seats.ts';
import { benchSmallCustomers } from './small-customers.ts';
import { benchSqlRecipes } from './sql-recipes.ts';
import { benchThresholds } from './thresholds.ts';
import { benchTokenCards } from './token-cards.ts';
import { benchUsage } from './usage.ts';
import { benchWrites } from './writes.ts';

/** Seconds of each load. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 15);

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  start: benchColdStart,
  idle: () => benchIdle(2 * SECONDS),
  ingest: () => benchIngest(SECONDS),
  cloudevents: () => benchCloudEvents(SECONDS),
  peers: () => benchPeers(SECONDS),
  overload: () => benchOverload(SECONDS),
  'filled-ingest': () => benchFilledIngest(SECONDS),
  'known-ids': () => benchKnownIds(SECONDS),
  backfill: benchBackfill,
  usage: benchUsage,
  'small-customers': benchSmallCustomers,
  'answers-at-once': benchAnswersAtOnce,
  'sql-recipes': benchSqlRecipes,
  'many-customers-sql': benchManyCustomersSql,
  'many-metrics': benchManyMetrics,
  pages: benchPages,
  writes: benchWrites,
  loop: benchLoop,
  mixed: benchMixed,
  finalize: benchFinalize,
  balances: benchBalances,
  restart: benchRestart,
  search: benchSearch,
  'rate-schedule': benchContractRateSchedule,
  overrides: benchOverrides,
  alerts: () => benchAlerts(SECONDS),
  seats: benchSeats,
  thresholds: () => benchThresholds(SECONDS),
  holds: () => benchHolds(SECONDS),
  'token-cards': benchTokenCards,
  delivery: benchDelivery,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}
process.stdout.write(`${machine()}\n`);
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) process.stdout.write(`\n## ${name}\n\n${await run()}\n`);
}
