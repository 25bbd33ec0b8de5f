/**
 * The cost of thresholds, and their delay: the time from the answer to the event that crosses a line until its commit
 * is stored, without other load and beside 20,000 events a second of 1,000 customers that have a level of their balance
 * and a limit of their spend each; and the CPU time of the service and the latency of ingest for that load, without
 * thresholds and with them.
 *
 * Two kinds of crossings: by an event as large as those before, and by a single one a thousand times as large.
 */
import type { Database } from '../src/store/base/database.ts';
import { loadThresholdCharges } from '../src/store/thresholds/threshold-charges.ts';
import { machine, table } from './report.ts';
import { startServiceWithDatabase } from './service-with-database.ts';
import type { TemporaryService } from './temporary-service.ts';
import {
  createCatalogue,
  createCustomer,
  delayText,
  each,
  evaluated,
  type Load,
  load,
  loadText,
  pause,
  use,
  type WatchedCatalogue,
} from './watched-customers.ts';

/** `BENCH_CUSTOMERS`: fewer, to try it. */
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 1_000);
const KINDS = ['spend', 'balance', 'jump'] as const;
const CROSSINGS = 40 * KINDS.length;
/** A customer crosses each time, whether those before were charged or not. */
const CROSSING_INTERVAL_MS = 500;
const CROSSINGS_SECONDS = (CROSSINGS * CROSSING_INTERVAL_MS) / 1_000;
const LINE = 9_500;
const EVENTS_BEFORE = 10;
/** The usage of the load is far below it. */
const FAR = 1_000_000_000_000;
const LOOK_INTERVAL_MS = 10;

export async function benchThresholds(seconds: number): Promise<string> {
  const { service, db, close } = await startServiceWithDatabase({ RATE_LIMIT_WRITE: '0' });
  try {
    return await measured(service, db, seconds);
  } finally {
    await close();
  }
}

async function measured(service: TemporaryService, db: Database, seconds: number): Promise<string> {
  const catalogue = await createCatalogue(service);
  const contracts: { customer_id: string; contract_id: string }[] = [];
  await each(CUSTOMERS, async (number) => {
    const { customerId, contractId } = await createCustomer(service, catalogue, `customer-${number}`);
    contracts.push({ customer_id: customerId, contract_id: contractId });
  });
  // Their latencies are compared, of which the slowest ones differ much in short runs.
  const compared = { customers: CUSTOMERS, seconds: 3 * seconds };
  const without = await load(service, { ...compared, run: 'without' });
  await each(CUSTOMERS, async (number) => {
    await service.post('/v2/contracts/edit', {
      ...contracts[number],
      add_commits: [commitOf(catalogue, FAR)],
      add_spend_threshold_configuration: spendThreshold(catalogue, FAR),
      add_prepaid_balance_threshold_configuration: balanceThreshold(catalogue, 1_000),
    });
  });
  const [quiet, busy] = [
    await prepare(service, catalogue, 'quiet'),
    await prepare(service, catalogue, 'busy'),
  ];
  await evaluated(service, CUSTOMERS);
  const idle = await crossings(service, db, quiet);
  // The effect of their usage is found out first, as after a start.
  await load(service, { customers: CUSTOMERS, seconds, run: 'first' });
  await evaluated(service, CUSTOMERS);
  const withThresholds = await load(service, { ...compared, run: 'with' });
  await evaluated(service, CUSTOMERS);
  // Long enough for all crossings.
  const under = load(service, { customers: CUSTOMERS, seconds: CROSSINGS_SECONDS + seconds, run: 'crossed' });
  await pause(5_000);
  const beside = await crossings(service, db, busy);
  return report({ idle, beside, without, withThresholds, crossed: await under });
}

const gate = { payment_gate_config: { payment_gate_type: 'NONE' } };

function spendThreshold({ fee }: WatchedCatalogue, amount: number) {
  return { is_enabled: true, threshold_amount: amount, commit: { product_id: fee }, ...gate };
}

function balanceThreshold({ fee }: WatchedCatalogue, amount: number) {
  const commit = { product_id: fee };
  return { is_enabled: true, threshold_amount: amount, recharge_to_amount: 2 * LINE, commit, ...gate };
}

/** Usable from yesterday on. */
function commitOf({ fee }: WatchedCatalogue, amount: number) {
  const starting_at = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
  const schedule_items = [{ amount, starting_at, ending_before: '2100-01-01T00:00:00Z' }];
  return { product_id: fee, type: 'PREPAID', priority: 1, access_schedule: { schedule_items } };
}

/** A customer that one more event brings across its line. */
interface Crossing {
  readonly kind: (typeof KINDS)[number];
  readonly alias: string;
  readonly contractId: string;
  readonly tokens: number;
}

async function prepare(
  service: TemporaryService,
  catalogue: WatchedCatalogue,
  name: string,
): Promise<Crossing[]> {
  const prepared: Crossing[] = [];
  await each(CROSSINGS, async (number) => {
    const kind = KINDS[number % KINDS.length] ?? 'spend';
    const alias = `${name}-${number}`;
    const terms =
      kind === 'balance'
        ? {
            prepaid_balance_threshold_configuration: balanceThreshold(catalogue, 1_000),
            commits: [commitOf(catalogue, 1_000 + LINE)],
          }
        : { spend_threshold_configuration: spendThreshold(catalogue, LINE) };
    const { contractId } = await createCustomer(service, catalogue, alias, terms);
    // Its first evaluation comes before its first usage.
    await pause(2_000);
    const usual = kind === 'jump' ? 10 : LINE / (EVENTS_BEFORE + 0.5);
    for (let sent = 0; sent < EVENTS_BEFORE; sent += 1) {
      await use(service, alias, Math.ceil(usual), `${alias}-${sent}`);
    }
    prepared.push({ kind, alias, contractId, tokens: kind === 'jump' ? LINE : Math.ceil(usual) });
  });
  return prepared;
}

interface Delays {
  /** Milliseconds of events as large as those before. */
  readonly usual: readonly number[];
  readonly jumps: readonly number[];
}

/** From the answer to the event to the stored commit. */
async function crossings(
  service: TemporaryService,
  db: Database,
  prepared: readonly Crossing[],
): Promise<Delays> {
  const acknowledged = new Map<string, number>();
  const delays = { usual: [] as number[], jumps: [] as number[] };
  const sent: Promise<unknown>[] = [];
  const watching = watchCharges(db, prepared, ({ contractId, kind }, at) => {
    const delay = Math.max(0, at - (acknowledged.get(contractId) ?? at));
    (kind === 'jump' ? delays.jumps : delays.usual).push(delay);
  });
  for (const { alias, contractId, tokens } of prepared) {
    const crossed = use(service, alias, tokens, `${alias}-crosses`);
    sent.push(crossed.then(() => acknowledged.set(contractId, performance.now())));
    await pause(CROSSING_INTERVAL_MS);
  }
  await Promise.all([...sent, watching]);
  return delays;
}

/** Resolves when every contract has been charged. */
async function watchCharges(
  db: Database,
  prepared: readonly Crossing[],
  onCharged: (crossing: Crossing, at: number) => void,
): Promise<void> {
  const waiting = new Map(prepared.map((one) => [one.contractId, one]));
  while (waiting.size > 0) {
    for (const { contractId } of await loadThresholdCharges(db, [...waiting.keys()])) {
      const crossing = waiting.get(contractId);
      if (crossing !== undefined && waiting.delete(contractId)) onCharged(crossing, performance.now());
    }
    await pause(LOOK_INTERVAL_MS);
  }
}

interface Measured {
  readonly idle: Delays;
  readonly beside: Delays;
  readonly without: Load;
  readonly withThresholds: Load;
  readonly crossed: Load;
}

function report({ idle, beside, without, withThresholds, crossed }: Measured): string {
  const rows = [
    ['acknowledged event to stored commit, without other load', '2 s', delayText(idle.usual)],
    ['the same beside 20,000 events/s', '2 s', delayText(beside.usual)],
    ['by one event a thousand times as large, without other load', '2 s', delayText(idle.jumps)],
    ['the same beside 20,000 events/s', '2 s', delayText(beside.jumps)],
    ['20,000 events/s without thresholds', '', loadText(without)],
    ['with two thresholds for each customer', '0.1 cores more', loadText(withThresholds)],
    ['with two charges a second besides', '', loadText(crossed)],
  ];
  const about = `${machine()}, load generator on the same cores. ${CUSTOMERS.toLocaleString('en-US')} customers; ${CROSSINGS} crossings, one every ${CROSSING_INTERVAL_MS} ms.`;
  return `${about}\n\n${table(['thresholds', 'target', 'measured'], rows)}`;
}
