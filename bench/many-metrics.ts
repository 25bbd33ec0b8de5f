/**
 * The draft invoice and the daily breakdowns of a customer with few events whose card has many metrics. Prints a
 * Markdown table with how many times the cost grows.
 */
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { quantile, table } from './report.ts';

const EVENTS = 2_000;
const EVENTS_PER_REQUEST = 100;
const METRICS = [3, 10, 100, 1_000] as const;
const AT_ONCE = 8;
const RUNS = 7;
const START = '2026-11-01T00:00:00Z';

export async function benchManyMetrics(): Promise<string> {
  const service = await startInProcessService({ SANDBOX_NOW: '2026-11-20T00:00:00Z', RATE_LIMIT_WRITE: '0' });
  try {
    const rows: string[][] = [];
    let first: number | undefined;
    for (const metrics of METRICS) {
      const customer = await createCustomer(service, metrics);
      const path = `/v1/customers/${customer}/invoices`;
      const days = `${path}/breakdowns?window_size=DAY&starting_on=${START}&ending_before=2026-11-20T00:00:00Z`;
      const change = () => service.newEvent(`of-${metrics}`);
      const draft = await measured(() => service.call('GET', `${path}?status=DRAFT`), change);
      const unchanged = await measured(() => service.call('GET', `${path}?status=DRAFT`));
      const breakdown = await measured(() => service.call('GET', days), change);
      first ??= draft.passed;
      rows.push([
        metrics.toLocaleString('en'),
        draft.passed.toFixed(0),
        draft.cpu.toFixed(0),
        unchanged.passed.toFixed(0),
        unchanged.cpu.toFixed(0),
        breakdown.passed.toFixed(0),
        (metrics / METRICS[0]).toFixed(1),
        (draft.passed / first).toFixed(1),
      ]);
    }
    return `${EVENTS.toLocaleString('en')} events of one customer (targets of the draft: 8, 15, 50 and 300 ms)\n\n${table(
      [
        'metrics',
        'draft, p50 ms',
        'CPU of all threads, ms',
        'draft without a new event, p50 ms',
        'CPU of all threads, ms',
        'breakdown, p50 ms',
        'times the metrics',
        'times the cost',
      ],
      rows,
    )}`;
  } finally {
    await service.close();
  }
}

/** Each metric counts events of one type and adds up one of their properties. */
async function createCustomer(service: InProcessService, metrics: number): Promise<string> {
  const products: string[] = [];
  const indexes = Array.from({ length: metrics }, (_, index) => index);
  for (let from = 0; from < metrics; from += AT_ONCE) {
    const part = indexes.slice(from, from + AT_ONCE);
    products.push(...(await Promise.all(part.map((index) => createProduct(service, metrics, index)))));
  }
  const rate_card_id = await service.create('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  await service.call('POST', '/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: products.map((product_id) => ({
      ...{ product_id, starting_at: START, entitled: true, rate_type: 'FLAT', price: 2 },
    })),
  });
  const alias = `of-${metrics}`;
  const customer_id = await service.create('/v1/customers', { name: alias, ingest_aliases: [alias] });
  await service.create('/v1/contracts/create', { customer_id, rate_card_id, starting_at: START });
  for (let from = 0; from < EVENTS; from += EVENTS_PER_REQUEST) {
    const events = Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => ({
      transaction_id: `${alias} ${from + index}`,
      customer_id: alias,
      event_type: `type-${(from + index) % metrics}`,
      timestamp: new Date(Date.parse(START) + ((from + index) % 400) * 3_600_000).toISOString(),
      properties: { amount: String(from + index) },
    }));
    await service.call('POST', '/v1/ingest', events).catch(ignoreEmpty);
  }
  return customer_id;
}

/** The answer to events is empty, which is no JSON. */
function ignoreEmpty(error: unknown): void {
  if (!(error instanceof SyntaxError)) throw error;
}

async function createProduct(service: InProcessService, metrics: number, index: number): Promise<string> {
  const billable_metric_id = await service.create('/v1/billable-metrics/create', {
    name: `Metric ${index} of ${metrics}`,
    aggregation_type: 'SUM',
    aggregation_key: 'amount',
    event_type_filter: { in_values: [`type-${index}`] },
    property_filters: [{ name: 'amount', exists: true }],
  });
  const body = { name: `Product ${index}`, type: 'USAGE', billable_metric_id };
  return await service.create('/v1/contract-pricing/products/create', body);
}

async function measured(
  call: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<{ passed: number; cpu: number }> {
  const passed: number[] = [];
  const cpu: number[] = [];
  await call();
  for (let run = 0; run < RUNS; run += 1) {
    await before();
    const [start, used] = [performance.now(), process.cpuUsage()];
    await call();
    passed.push(performance.now() - start);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1_000);
  }
  return { passed: quantile(passed, 0.5), cpu: quantile(cpu, 0.5) };
}
