/**
 * How many usage invoices a second the end of a month takes: 10,000 customers, three products each, 20 million events
 * spread over its hours. The built service is started on these data; its clock stands in the month before and is moved
 * past the grace time of each month's end. Some customers have been there for that month before: their invoices are the
 * first work of the process, which V8 interprets before it compiles it, and are reported separately. The report also
 * says which threads take the CPU time, which shows how much more threads could save.
 */
import { join } from 'node:path';
import { createEmbeddedClickHouse } from '../src/app/stores/stores.ts';
import { type CpuSplit, measureCpu } from './cpu-split.ts';
import { table } from './report.ts';
import { mergeStoredEvents } from './stored-events.ts';
import { startTemporaryService, type TemporaryService, withTemporaryDirectory } from './temporary-service.ts';
import { created } from './watched-customers.ts';

/** `BENCH_CUSTOMERS`: fewer, to try it. */
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 10_000);
/** Those with invoices of the month before. */
const EARLIER_CUSTOMERS = 1_000;
const EVENTS_PER_CUSTOMER = 2_000;
const CUSTOMERS_PER_INSERT = 500;
const CALLS_AT_ONCE = 8;

const DAY_SECONDS = 86_400;
/** Where the clock of the service stands at first. */
const NOW = '2026-10-10T00:00:00Z';
const EARLIER_START = '2026-10-01T00:00:00Z';
export const START = '2026-11-01T00:00:00Z';
/** After each month and the grace time of a day. */
const EARLIER_CLOSING = '2026-11-02T01:00:00Z';
const CLOSING = '2026-12-02T01:00:00Z';

/** Invoices of a month, and how long they took. */
export interface MonthsEnd {
  readonly invoices: number;
  readonly seconds: number;
}

interface InvoiceRun {
  /** The first work of the process. */
  readonly earlier: MonthsEnd;
  readonly measured: MonthsEnd;
  readonly cpu: CpuSplit;
  readonly memoryMb: number;
}

export async function benchFinalize(): Promise<string> {
  const { earlier, measured, cpu, memoryMb } = await invoiceRun(CUSTOMERS);
  const row = (what: string, target: string, { invoices, seconds }: MonthsEnd) => [
    what,
    target,
    seconds.toFixed(1),
    (invoices / seconds).toFixed(0),
  ];
  const speed = table(
    ['what', 'target', 'seconds', 'invoices a second'],
    [
      row(
        `finalize ${CUSTOMERS} customers, ${(CUSTOMERS * EVENTS_PER_CUSTOMER) / 1_000_000} million events, 3 products each`,
        '200 invoices/s, aim 500/s',
        measured,
      ),
      row(`before it: the first ${earlier.invoices} invoices of the process`, '–', earlier),
    ],
  );
  return `${speed}\n\n${splitOf(cpu, measured.seconds)}\n\nMemory of the process at the end: ${memoryMb.toFixed(0)} MB.`;
}

/** Threads with less than this of an invoice, in milliseconds, are reported together. */
const NAMED_MIN = 0.05;

function splitOf({ main, threads, children, mainWaited }: CpuSplit, seconds: number): string {
  const perInvoice = (milliseconds: number) => milliseconds / CUSTOMERS;
  const share = (milliseconds: number) => `${(milliseconds / seconds / 10).toFixed(0)} %`;
  const row = (name: string, milliseconds: number) => [
    name,
    perInvoice(milliseconds).toFixed(2),
    share(milliseconds),
  ];
  const named = [...threads]
    .filter(([, time]) => perInvoice(time) >= NAMED_MIN)
    .sort(([, a], [, b]) => b - a);
  const sum = (times: Iterable<number>) => [...times].reduce((total, time) => total + time, 0);
  const others = sum(threads.values()) - sum(named.map(([, time]) => time));
  const all = main + sum(threads.values()) + children;
  return table(
    ['CPU time', 'ms an invoice', 'of one core'],
    [
      row('main thread', main),
      ...named.map(([name, time]) => row(`threads \`${name}\``, time)),
      row('other threads', others),
      row('PostgreSQL', children),
      row('all', all),
      row('main thread, waiting for a core', mainWaited),
    ],
  );
}

/** How long the end of a month takes. `termsOf`: terms of each contract, from the id of a product for commits. */
export async function invoiceRunSeconds(
  customers: number,
  termsOf?: (productId: string) => object,
): Promise<number> {
  return (await invoiceRun(customers, termsOf)).measured.seconds;
}

async function invoiceRun(
  customers: number,
  termsOf: (productId: string) => object = () => ({}),
): Promise<InvoiceRun> {
  return await withMonths(customers, termsOf, async (service, closeEarlier, close) => {
    const earlier = await closeEarlier();
    const usedCpu = await measureCpu(service.pid);
    const measured = await close();
    return { earlier, measured, cpu: await usedCpu(), memoryMb: await service.memoryMb() };
  });
}

type Close = () => Promise<MonthsEnd>;

/** The service on the events of customers, and what ends both months. */
export async function withMonths<Result>(
  customers: number,
  termsOf: (productId: string) => object,
  work: (service: TemporaryService, closeEarlier: Close, close: Close) => Promise<Result>,
): Promise<Result> {
  return await withTemporaryDirectory(async (directory) => {
    await withService(directory, (service) => createCustomers(service, customers, termsOf));
    await storeMonths(join(directory, 'clickhouse'), customers);
    return await withService(directory, (service) =>
      work(
        service,
        () => closeMonth(service, EARLIER_CLOSING, earlierOf(customers)),
        () => closeMonth(service, CLOSING, customers),
      ),
    );
  });
}

function earlierOf(customers: number): number {
  return Math.min(EARLIER_CUSTOMERS, customers);
}

async function withService<Result>(
  directory: string,
  work: (service: TemporaryService) => Promise<Result>,
): Promise<Result> {
  const service = await startTemporaryService(directory, { SANDBOX_NOW: NOW });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** Moves the clock, and answers when the invoices that are due then are issued. Throws if they are not so many. */
async function closeMonth(service: TemporaryService, now: string, invoices: number): Promise<MonthsEnd> {
  const before = await finalizedBy(service);
  const { milliseconds } = await service.post('/v1/sandbox/clock', { now });
  const issued = (await finalizedBy(service)) - before;
  if (issued !== invoices) throw new Error(`${issued} invoices were issued instead of ${invoices}`);
  return { invoices, seconds: milliseconds / 1000 };
}

/** How many invoices the process has finalized. */
async function finalizedBy({ host, port }: TemporaryService): Promise<number> {
  const metrics = await (await fetch(`http://${host}:${port}/metrics`)).text();
  return Number(/^tallyhouse_invoices_total\{event="finalized"\} (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}

/** Each product counts its own kind of event. */
const METRICS = [['COUNT'], ['SUM', 'tokens'], ['MAX', 'tokens']] as const;

async function createCustomers(
  service: TemporaryService,
  customers: number,
  termsOf: (productId: string) => object,
): Promise<void> {
  const rateCardId = await createCard(service);
  const fee = await created(service, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  const terms = termsOf(fee);
  await inParallel(customers, async (index) => {
    const name = `customer-${index}`;
    const customer_id = await created(service, '/v1/customers', { name, ingest_aliases: [name] });
    await created(service, '/v1/contracts/create', {
      customer_id,
      rate_card_id: rateCardId,
      starting_at: index < earlierOf(customers) ? EARLIER_START : START,
      ...terms,
    });
  });
}

async function createCard(service: TemporaryService): Promise<string> {
  const rates: object[] = [];
  for (const [index, [aggregation_type, aggregation_key]] of METRICS.entries()) {
    const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
      name: aggregation_type,
      aggregation_type,
      ...(aggregation_key === undefined ? {} : { aggregation_key }),
      event_type_filter: { in_values: [`kind-${index}`] },
      property_filters: [{ name: 'tokens', exists: true }],
    });
    const product_id = await created(service, '/v1/contract-pricing/products/create', {
      name: aggregation_type,
      type: 'USAGE',
      billable_metric_id,
    });
    rates.push({ product_id, starting_at: EARLIER_START, entitled: true, rate_type: 'FLAT', price: 0.25 });
  }
  const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  await service.post('/v1/contract-pricing/rate-cards/addRates', { rate_card_id, rates });
  return rate_card_id;
}

/** All events of both months, merged as far as ClickHouse does it by itself: those of a month are when it ends. */
async function storeMonths(directory: string, customers: number): Promise<void> {
  await storeMonth(directory, EARLIER_START, earlierOf(customers));
  await storeMonth(directory, START, customers);
  await mergeStoredEvents(directory);
}

/** The events of a month, spread over it; of three kinds in turn. */
async function storeMonth(directory: string, start: string, customers: number): Promise<void> {
  const startSeconds = Date.parse(start) / 1000;
  const month = start.slice(0, 7);
  const clickhouse = await createEmbeddedClickHouse({ directory });
  try {
    for (let from = 0; from < customers; from += CUSTOMERS_PER_INSERT) {
      await clickhouse.command(`
        INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at,
                                  version, id_hash_a, id_hash_b, id_hash_c)
        SELECT concat('${month}-${from}-', toString(number)),
               concat('customer-', toString(${from} + number % ${CUSTOMERS_PER_INSERT})),
               concat('kind-', toString(intDiv(number, ${CUSTOMERS_PER_INSERT}) % 3)),
               toDateTime64(${startSeconds} + (number * 7919) % ${30 * DAY_SECONDS}, 3, 'UTC'),
               map('tokens', toString(cityHash64(number) % 4000)),
               now64(6), 1000000000 - number, rand(1), rand(2), rand(3)
        FROM numbers(${CUSTOMERS_PER_INSERT * EVENTS_PER_CUSTOMER})`);
    }
  } finally {
    await clickhouse.close();
  }
}

/** Calls with 0, 1, … below `count`, a few of them at once. */
async function inParallel(count: number, call: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: CALLS_AT_ONCE }, async () => {
    for (let index = next++; index < count; index = next++) await call(index);
  });
  await Promise.all(workers);
}
