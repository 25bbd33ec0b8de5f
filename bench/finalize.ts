/**
 * How many usage invoices a second the end of a month takes: 10,000 customers, three products each, 20
 * million events spread over its hours. The service's clock stands in the month and is moved past the
 * grace time of its end. Also who takes the CPU time, which tells what more threads could save.
 */
import { type CpuSplit, measureCpu } from './cpu-split.ts';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { table } from './report.ts';

/** `BENCH_CUSTOMERS`: fewer, to try it. */
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 10_000);
const EVENTS_PER_CUSTOMER = 2_000;
const CUSTOMERS_PER_INSERT = 500;
const CALLS_AT_ONCE = 8;

const NOW = '2026-11-10T00:00:00Z';
export const START = '2026-11-01T00:00:00Z';
const START_SECONDS = Date.parse(START) / 1000;
const MONTH_SECONDS = 30 * 86_400;
/** After the month and the grace time of a day. */
const CLOSING = '2026-12-02T00:00:00Z';

export async function benchFinalize(): Promise<string> {
  const { seconds, cpu } = await invoiceRun(CUSTOMERS);
  const speed = table(
    ['what', 'target', 'seconds', 'invoices a second'],
    [
      [
        `finalize ${CUSTOMERS} customers, ${(CUSTOMERS * EVENTS_PER_CUSTOMER) / 1_000_000} million events, 3 products each`,
        '200 invoices/s, aim 500/s',
        seconds.toFixed(1),
        (CUSTOMERS / seconds).toFixed(0),
      ],
    ],
  );
  return `${speed}\n\n${splitOf(cpu, seconds)}`;
}

/** Threads with less than this of an invoice, in milliseconds, are told together. */
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
  return (await invoiceRun(customers, termsOf)).seconds;
}

async function invoiceRun(
  customers: number,
  termsOf: (productId: string) => object = () => ({}),
): Promise<{ readonly seconds: number; readonly cpu: CpuSplit }> {
  const service = await startInProcessService({ SANDBOX_NOW: NOW });
  try {
    const rateCardId = await createCard(service);
    const fee = await service.create('/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
    const terms = termsOf(fee);
    await inParallel(customers, (index) => createCustomer(service, rateCardId, index, terms));
    for (let from = 0; from < customers; from += CUSTOMERS_PER_INSERT) await storeEvents(service, from);
    const usedCpu = await measureCpu();
    const begin = performance.now();
    await service.call('POST', '/v1/sandbox/clock', { now: CLOSING });
    const seconds = (performance.now() - begin) / 1000;
    return { seconds, cpu: await usedCpu() };
  } finally {
    await service.close();
  }
}

/** Each product counts its own kind of event. */
const METRICS = [['COUNT'], ['SUM', 'tokens'], ['MAX', 'tokens']] as const;

async function createCard(service: InProcessService): Promise<string> {
  const rates: object[] = [];
  for (const [index, [aggregation_type, aggregation_key]] of METRICS.entries()) {
    const billable_metric_id = await service.create('/v1/billable-metrics/create', {
      name: aggregation_type,
      aggregation_type,
      ...(aggregation_key === undefined ? {} : { aggregation_key }),
      event_type_filter: { in_values: [`kind-${index}`] },
      property_filters: [{ name: 'tokens', exists: true }],
    });
    const product_id = await service.create('/v1/contract-pricing/products/create', {
      name: aggregation_type,
      type: 'USAGE',
      billable_metric_id,
    });
    rates.push({ product_id, starting_at: START, entitled: true, rate_type: 'FLAT', price: 0.25 });
  }
  const rate_card_id = await service.create('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  await service.call('POST', '/v1/contract-pricing/rate-cards/addRates', { rate_card_id, rates });
  return rate_card_id;
}

async function createCustomer(
  service: InProcessService,
  rate_card_id: string,
  index: number,
  terms: object,
): Promise<void> {
  const name = `customer-${index}`;
  const customer_id = await service.create('/v1/customers', { name, ingest_aliases: [name] });
  await service.create('/v1/contracts/create', { customer_id, rate_card_id, starting_at: START, ...terms });
}

/** The events of the next customers, spread over the month; of three kinds in turn. */
async function storeEvents({ clickhouse }: InProcessService, from: number): Promise<void> {
  await clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at,
                              version, id_hash_a, id_hash_b, id_hash_c)
    SELECT concat('${from}-', toString(number)),
           concat('customer-', toString(${from} + number % ${CUSTOMERS_PER_INSERT})),
           concat('kind-', toString(intDiv(number, ${CUSTOMERS_PER_INSERT}) % 3)),
           toDateTime64(${START_SECONDS} + (number * 7919) % ${MONTH_SECONDS}, 3, 'UTC'),
           map('tokens', toString(cityHash64(number) % 4000)),
           now64(6), 1000000000 - number, rand(1), rand(2), rand(3)
    FROM numbers(${CUSTOMERS_PER_INSERT * EVENTS_PER_CUSTOMER})`);
}

/** Calls with 0, 1, … below `count`, a few of them at once. */
async function inParallel(count: number, call: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: CALLS_AT_ONCE }, async () => {
    for (let index = next++; index < count; index = next++) await call(index);
  });
  await Promise.all(workers);
}
