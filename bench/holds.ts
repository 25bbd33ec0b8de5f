/**
 * How fast holds are granted and settled: latencies at 2,000 requests a second, without other load and beside 20,000
 * events a second, each beside the same number of the cheapest requests in the same minute; grants a second with every
 * connection busy, for one customer and for all; the first requests of all customers after a start; and what was granted
 * beyond the balances, counted in the database.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import type { Database } from '../src/store/base/database.ts';
import type {
  HoldLoadOptions,
  HoldLoadResult,
  HoldRequestKind,
  HoldWork,
  Latencies,
} from './hold-generator.ts';
import { machine, table } from './report.ts';
import { startServiceWithDatabase } from './service-with-database.ts';
import type { TemporaryService } from './temporary-service.ts';
import { copyCustomer, createCatalogue, createCustomer, load } from './watched-customers.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** `BENCH_CUSTOMERS`: fewer, to try it. */
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 10_000);
const HOLDING = Math.min(1_000, CUSTOMERS);
/** `BENCH_REQUESTS`: fewer, on a machine that cannot answer so many of the cheapest ones. */
const REQUESTS_PER_SECOND = Number(process.env.BENCH_REQUESTS ?? 2_000);
const TOKENS = 10;
/** No run uses so much. */
const FAR = 1_000_000_000_000;
/** The credit of customers that are to run out: many times what is held of it at once. */
const SCARCE = 20_000;
const SCARCE_CUSTOMERS = 10;

interface Customers {
  readonly aliases: readonly string[];
  readonly ids: readonly string[];
}

export async function benchHolds(seconds: number): Promise<string> {
  const { service, db, close } = await startServiceWithDatabase({ RATE_LIMIT_WRITE: '0' });
  try {
    return await measured(service, db, seconds);
  } finally {
    await close();
  }
}

async function measured(service: TemporaryService, db: Database, seconds: number): Promise<string> {
  const all = await createCustomers(service, db, { prefix: 'holder', count: CUSTOMERS, amount: FAR });
  const scarce = await createCustomers(service, db, {
    ...{ prefix: 'scarce', count: SCARCE_CUSTOMERS, amount: SCARCE },
  });
  const holding = { aliases: all.aliases.slice(0, HOLDING), ids: all.ids.slice(0, HOLDING) };
  const run = (options: Partial<HoldLoadOptions> & { readonly work: HoldWork }) =>
    runHolds(service, {
      aliases: holding.aliases,
      customerIds: holding.ids,
      requestsPerSecond: REQUESTS_PER_SECOND,
      connections: 256,
      warmUpMs: 2_000,
      measureMs: seconds * 1_000,
      ...options,
    });
  const first = await run({ work: 'reserve', ...saturated(all.aliases), rounds: 1, connections: 64 });
  const alone = await sideBySide(run);
  // Long enough for all that is measured beside it.
  const other = load(service, { customers: 1_000, seconds: 4 * (seconds + 4), run: 'beside' });
  const beside = await sideBySide(run);
  await other;
  const hot = await run({ work: 'reserve', ...saturated(all.aliases.slice(0, 1)) });
  const many = await run({ work: 'reserve', ...saturated(all.aliases) });
  const runOut = await run({ work: 'pairs', ...saturated(scarce.aliases) });
  return report({ first, alone, beside, hot, many, runOut, over: await grantedBeyond(db, scarce.ids) });
}

function saturated(aliases: readonly string[]) {
  return { aliases, requestsPerSecond: 0, connections: 128 };
}

type Run = (options: Partial<HoldLoadOptions> & { readonly work: HoldWork }) => Promise<HoldLoadResult>;

interface Beside {
  readonly holds: HoldLoadResult;
  readonly check: HoldLoadResult;
  readonly ingest: HoldLoadResult;
  readonly healthz: HoldLoadResult;
}

async function sideBySide(run: Run): Promise<Beside> {
  return {
    holds: await run({ work: 'pairs' }),
    check: await run({ work: 'check' }),
    ingest: await run({ work: 'ingest' }),
    healthz: await run({ work: 'healthz' }),
  };
}

/** One by the API, and its copies. */
async function createCustomers(
  service: TemporaryService,
  db: Database,
  { prefix, count, amount }: { readonly prefix: string; readonly count: number; readonly amount: number },
): Promise<Customers> {
  const { card, fee } = await createCatalogue(service);
  const starting_at = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
  const schedule_items = [{ amount, starting_at, ending_before: '2100-01-01T00:00:00Z' }];
  const credits = [{ product_id: fee, priority: 1, access_schedule: { schedule_items } }];
  const first = await createCustomer(service, { card, fee }, `${prefix}-0`, { credits });
  await copyCustomer(db, first, { prefix: `${prefix}-`, count });
  const rows = await db.execute<{ alias: string; id: string }>(sql`
    select alias, customer_id as id from ingest_aliases where starts_with(alias, ${`${prefix}-`}) order by alias`);
  return { aliases: rows.map(({ alias }) => alias), ids: rows.map(({ id }) => id) };
}

function runHolds(
  { host, port, token, pid }: TemporaryService,
  options: Omit<HoldLoadOptions, 'host' | 'port' | 'token' | 'servicePid' | 'run' | 'tokens'>,
): Promise<HoldLoadResult> {
  const run = `${options.work}-${Date.now().toString(36)}`;
  const given: HoldLoadOptions = { host, port, token, servicePid: pid, run, tokens: TOKENS, ...options };
  const script = fileURLToPath(new URL('hold-generator.ts', import.meta.url));
  const generator = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Thousands of customers are too much for an argument.
  generator.stdin.end(JSON.stringify(given));
  return new Promise((resolve, reject) => {
    let output = '';
    generator.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    generator.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`the load generator ended with code ${code}`));
    });
  });
}

/** The amount of active and settled holds of these customers beyond what each of them has. */
async function grantedBeyond(db: Database, customerIds: readonly string[]): Promise<number> {
  const [row] = await db.execute<{ beyond: string }>(sql`
    select coalesce(sum(greatest(0, taken - ${SCARCE})), 0)::text as beyond from (
      select sum(amount) as taken from holds
      where customer_id = any(${`{${customerIds.join(',')}}`}::uuid[]) and status in ('active', 'settled')
      group by customer_id
    ) of_customer`);
  return Number(row?.beyond);
}

interface Measured {
  readonly first: HoldLoadResult;
  readonly alone: Beside;
  readonly beside: Beside;
  readonly hot: HoldLoadResult;
  readonly many: HoldLoadResult;
  readonly runOut: HoldLoadResult;
  readonly over: number;
}

const PAIRS: readonly (readonly [name: string, kind: HoldRequestKind, of: keyof Beside])[] = [
  ['reserve', 'reserve', 'holds'],
  ['settle', 'settle', 'holds'],
  ['check', 'check', 'check'],
  ['for comparison: `/v1/ingest` of one event', 'ingest', 'ingest'],
  ['for comparison: `/healthz`', 'healthz', 'healthz'],
];

function report({ first, alone, beside, hot, many, runOut, over }: Measured): string {
  const rows = PAIRS.map(([name, kind, of]) => [
    name,
    kind === 'reserve' || kind === 'settle' || kind === 'check' ? 'p50 1 ms, p99 5 ms' : '',
    latencyText(alone[of].latencyMs[kind]),
    latencyText(beside[of].latencyMs[kind]),
  ]);
  const rates = [
    ['grants for one customer, every connection busy', rateText(hot)],
    [`grants for ${inWords(CUSTOMERS)} customers, every connection busy`, rateText(many)],
    [
      `first request of ${inWords(CUSTOMERS)} customers after a start`,
      `${Math.round(first.grantedInAll / first.secondsInAll)} customers/s, ${latencyText(first.latencyMs.reserve)}`,
    ],
    [
      `granted beyond the balances, ${inWords(runOut.grantedInAll)} granted and ${inWords(runOut.refusedInAll)} refused`,
      String(over),
    ],
    [
      'requests that failed',
      String(failuresOf([first, hot, many, runOut, alone.holds, alone.check, beside.holds, beside.check])),
    ],
  ];
  const about = `${machine()}, load generator on the same cores. ${inWords(REQUESTS_PER_SECOND)} requests a second of ${inWords(HOLDING)} customers, half of them reserve, half settle.`;
  const latencies = table(
    [`at ${inWords(REQUESTS_PER_SECOND)} requests/s`, 'target', 'alone', 'beside 20,000 events/s'],
    rows,
  );
  return `${about}\n\n${latencies}\n\n${table(['holds', 'measured'], rates)}`;
}

function failuresOf(results: readonly HoldLoadResult[]): number {
  return results.reduce((sum, { failures }) => sum + failures, 0);
}

function latencyText(latencies: Latencies | undefined): string {
  if (latencies === undefined) return 'none';
  return `p50 ${latencies.p50.toFixed(1)} ms, p99 ${latencies.p99.toFixed(1)} ms`;
}

function rateText({ granted, seconds, serviceCores, latencyMs }: HoldLoadResult): string {
  const rate = inWords(Math.round(granted / seconds));
  return `${rate}/s, ${serviceCores.toFixed(1)} cores, ${latencyText(latencyMs.reserve)}`;
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}
