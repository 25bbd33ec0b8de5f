/**
 * Customers with a contract at one cent a token, as alerts and thresholds watch them: setting them up, using their
 * tokens, and the load of many beside which a few cross a line.
 */
import { sql } from 'drizzle-orm';
import { mapConcurrently } from '../src/runtime/concurrently.ts';
import type { Database } from '../src/store/base/database.ts';
import { runGenerator } from './ingest.ts';
import { quantile } from './report.ts';
import type { TemporaryService } from './temporary-service.ts';

const EVENTS_PER_SECOND = 20_000;
const AT_ONCE = 16;
const RATE_CARDS = '/v1/contract-pricing/rate-cards';
const PRODUCTS = '/v1/contract-pricing/products/create';

export async function created(service: TemporaryService, path: string, body: unknown): Promise<string> {
  return ((await service.post(path, body)).body as { data: { id: string } }).data.id;
}

export interface WatchedCatalogue {
  readonly card: string;
  /** A fixed product, which commits are bought of. */
  readonly fee: string;
}

export async function createCatalogue(service: TemporaryService): Promise<WatchedCatalogue> {
  const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'input_tokens',
    property_filters: [{ name: 'input_tokens', exists: true }],
    event_type_filter: { in_values: ['llm_request'] },
  });
  const product_id = await created(service, PRODUCTS, { name: 'Tokens', type: 'USAGE', billable_metric_id });
  const fee = await created(service, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  const card = await created(service, `${RATE_CARDS}/create`, { name: 'Card' });
  const rate = { starting_at: '2020-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await service.post(`${RATE_CARDS}/addRates`, { rate_card_id: card, rates: [{ ...rate, product_id }] });
  return { card, fee };
}

/** From the beginning of yesterday on, with `terms`. Returns the ids. */
export async function createCustomer(
  service: TemporaryService,
  { card }: WatchedCatalogue,
  alias: string,
  terms: object = {},
): Promise<{ readonly customerId: string; readonly contractId: string }> {
  const customerId = await created(service, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const contractId = await created(service, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: card,
    starting_at: `${day}T00:00:00Z`,
    ...terms,
  });
  return { customerId, contractId };
}

/**
 * Copies a customer and its contract with its credits, whose finalization is not due before the benchmark has ended, under the ids of ingest
 * `prefix` and 1, 2, … up to below `count`: ten thousand in seconds, where requests would take minutes.
 */
export async function copyCustomer(
  db: Database,
  { customerId, contractId }: { readonly customerId: string; readonly contractId: string },
  { prefix, count }: { readonly prefix: string; readonly count: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`
      create temporary table copies on commit drop as
      select gen_random_uuid() as customer, gen_random_uuid() as contract, ${prefix} || number as alias
      from generate_series(1, ${count - 1}::int) as number`);
    await tx.execute(sql`
      insert into customers
      select (jsonb_populate_record(c, jsonb_build_object('id', copies.customer, 'name', copies.alias))).*
      from customers c, copies where c.id = ${customerId}`);
    await tx.execute(sql`
      insert into ingest_aliases (alias, customer_id, position) select alias, customer, 0 from copies`);
    await tx.execute(sql`
      insert into contracts
      select (jsonb_populate_record(c, jsonb_build_object('id', copies.contract, 'customer_id', copies.customer))).*
      from contracts c, copies where c.id = ${contractId}`);
    await tx.execute(sql`
      create temporary table credit_copies on commit drop as
      select c.id as original, gen_random_uuid() as id, copies.customer, copies.contract
      from commits c, copies where c.contract_id = ${contractId}`);
    await tx.execute(sql`
      insert into commits overriding user value
      select (jsonb_populate_record(c, jsonb_build_object('id', copy.id, 'customer_id', copy.customer, 'contract_id', copy.contract))).*
      from commits c join credit_copies copy on copy.original = c.id`);
    await tx.execute(sql`
      insert into access_segments overriding user value
      select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'commit_id', copy.id))).*
      from access_segments s join credit_copies copy on copy.original = s.commit_id`);
  });
  // The planner is to know of them at once, as it would of those that came in the course of weeks.
  await db.execute(sql`analyze customers, ingest_aliases, contracts, commits, access_segments`);
}

/** Calls `work` with 0, 1, … up to `count`, `atOnce` at a time. */
export async function each(
  count: number,
  work: (number: number) => Promise<unknown>,
  atOnce = AT_ONCE,
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  await mapConcurrently(numbers, atOnce, work);
}

/** One event of a customer, with a new id. */
export function use(
  service: TemporaryService,
  alias: string,
  tokens: number,
  id = `${alias}-${tokens}`,
): Promise<unknown> {
  return service.post('/v1/ingest', [
    {
      transaction_id: id,
      customer_id: alias,
      event_type: 'llm_request',
      timestamp: new Date().toISOString(),
      properties: { input_tokens: tokens },
    },
  ]);
}

/** The cost of the load of all customers for the service. */
export interface Load {
  /** Cores that the service has used. */
  readonly cores: number;
  readonly p50: number;
  readonly p99: number;
  readonly eventsPerSecond: number;
}

/** 20,000 events a second of `customer-0`, `customer-1`, … */
export async function load(
  service: TemporaryService,
  { customers, seconds, run }: { readonly customers: number; readonly seconds: number; readonly run: string },
): Promise<Load> {
  const { latencyMs, accepted, ...measured } = await runGenerator({
    host: service.host,
    port: service.port,
    token: service.token,
    connections: 128,
    eventsPerRequest: 100,
    eventsPerSecond: EVENTS_PER_SECOND,
    warmUpMs: 3_000,
    measureMs: seconds * 1_000,
    run: `${run}-${Date.now().toString(36)}`,
    spreadMinutes: 60,
    customers,
    servicePid: service.pid,
  });
  return {
    cores: measured.serviceCpuSeconds / measured.seconds,
    p50: latencyMs.p50,
    p99: latencyMs.p99,
    eventsPerSecond: accepted / measured.seconds,
  };
}

/** Waits until so many evaluations have taken place, and none waits. */
export async function evaluated(service: TemporaryService, count: number): Promise<void> {
  for (;;) {
    await pause(1_000);
    const answer = await fetch(`http://${service.host}:${service.port}/metrics`);
    const text = await answer.text();
    const done = Number(/^tallyhouse_evaluations_total (\d+)$/m.exec(text)?.[1]);
    if (done >= count && /^tallyhouse_evaluations_waiting 0$/m.test(text)) return;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** For a cell of a table. */
export function delayText(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
}

/** For a cell of a table. */
export function loadText({ cores, p50, p99, eventsPerSecond }: Load): string {
  const rate = Math.round(eventsPerSecond).toLocaleString('en-US');
  return `${cores.toFixed(2)} cores, ${rate} events/s, ingest p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}
