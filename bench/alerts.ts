/**
 * What alerts cost, and how soon they are told: the time from the acknowledged event that crosses a threshold to the
 * message at its receiver, without other load and beside 20,000 events a second of 10,000 customers with five alerts
 * each; and the CPU time of the service for that load, without alerts and with them.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runGenerator } from './ingest.ts';
import { machine, quantile, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

/** `BENCH_CUSTOMERS`: fewer, to try it. */
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 10_000);
const EVENTS_PER_SECOND = 20_000;
const CROSSINGS = 50;
const CROSSED_AT_ONCE = 4;
/** No usage of the load comes near. */
const FAR = 1_000_000_000_000;
const AT_ONCE = 16;
const RATE_CARDS = '/v1/contract-pricing/rate-cards';
const SPEND = 'spend_threshold_reached';

export async function benchAlerts(seconds: number): Promise<string> {
  const service = await startTemporaryService(undefined, {
    WEBHOOK_ALLOW_PRIVATE: '1',
    RATE_LIMIT_WRITE: '0',
  });
  const receiver = await startReceiver();
  try {
    await service.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
    const card = await createCard(service);
    await createCustomers(service, card, CUSTOMERS);
    const without = await load(service, seconds, 'without');
    for (const threshold of [FAR, 2 * FAR, 3 * FAR]) await createAlert(service, SPEND, threshold);
    await createAlert(service, 'invoice_total_reached', FAR);
    await createAlert(service, 'monthly_invoice_total_spend_threshold_reached', FAR);
    await evaluated(service);
    const idle = await crossings(service, receiver, card, 'idle');
    // Long enough for all crossings.
    const under = load(service, 3 * seconds, 'with');
    const beside = await crossings(service, receiver, card, 'beside');
    const withAlerts = await under;
    return report({ idle, beside, without, withAlerts });
  } finally {
    await service.close();
    await receiver.close();
  }
}

interface Load {
  /** Cores that the service has used. */
  readonly cores: number;
  readonly p50: number;
  readonly p99: number;
  readonly eventsPerSecond: number;
}

async function load(service: TemporaryService, seconds: number, run: string): Promise<Load> {
  const before = await service.cpuSeconds();
  const begun = performance.now();
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
    customers: CUSTOMERS,
  });
  const cores = ((await service.cpuSeconds()) - before) / ((performance.now() - begun) / 1_000);
  return { cores, p50: latencyMs.p50, p99: latencyMs.p99, eventsPerSecond: accepted / measured.seconds };
}

async function create(service: TemporaryService, path: string, body: unknown): Promise<string> {
  return ((await service.post(path, body)).body as { data: { id: string } }).data.id;
}

async function createCard(service: TemporaryService): Promise<string> {
  const billable_metric_id = await create(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'input_tokens',
    property_filters: [{ name: 'input_tokens', exists: true }],
    event_type_filter: { in_values: ['llm_request'] },
  });
  const product = { name: 'Tokens', type: 'USAGE', billable_metric_id };
  const product_id = await create(service, '/v1/contract-pricing/products/create', product);
  const card = await create(service, `${RATE_CARDS}/create`, { name: 'Card' });
  const rate = { starting_at: '2020-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await service.post(`${RATE_CARDS}/addRates`, { rate_card_id: card, rates: [{ ...rate, product_id }] });
  return card;
}

async function createCustomer(service: TemporaryService, card: string, alias: string): Promise<string> {
  const customer_id = await create(service, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const starting_at = `${day}T00:00:00Z`;
  await service.post('/v1/contracts/create', { customer_id, rate_card_id: card, starting_at });
  return customer_id;
}

async function createCustomers(service: TemporaryService, card: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const worker = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      await createCustomer(service, card, `customer-${number}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function createAlert(
  service: TemporaryService,
  alert_type: string,
  threshold: number,
  more: object = {},
): Promise<string> {
  return create(service, '/v1/alerts/create', { alert_type, name: alert_type, threshold, ...more });
}

/** Waits until all customers are evaluated. */
async function evaluated(service: TemporaryService): Promise<void> {
  for (;;) {
    await pause(1_000);
    const answer = await fetch(`http://${service.host}:${service.port}/metrics`);
    const text = await answer.text();
    const done = Number(/^tallyhouse_evaluations_total (\d+)$/m.exec(text)?.[1]);
    if (done >= CUSTOMERS && /^tallyhouse_evaluations_waiting 0$/m.test(text)) return;
  }
}

/** Milliseconds from the answer to the event that crosses a threshold to its message, of a few customers at a time. */
async function crossings(
  service: TemporaryService,
  receiver: Receiver,
  card: string,
  name: string,
): Promise<number[]> {
  const times: number[] = [];
  const cross = async (number: number) => {
    const alias = `${name}-${number}`;
    const customer_id = await createCustomer(service, card, alias);
    const alert = await createAlert(service, SPEND, 1_000, { customer_id });
    const use = (tokens: number) =>
      service.post('/v1/ingest', [
        {
          transaction_id: `${alias}-${tokens}`,
          customer_id: alias,
          event_type: 'llm_request',
          timestamp: new Date().toISOString(),
          properties: { input_tokens: tokens },
        },
      ]);
    await use(900);
    await pause(1_500);
    await use(101);
    const acknowledged = performance.now();
    times.push(Math.max(0, (await receiver.told(alert)) - acknowledged));
  };
  const numbers = Array.from({ length: CROSSINGS }, (_, number) => number);
  const worker = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) await cross(number);
  };
  await Promise.all(Array.from({ length: CROSSED_AT_ONCE }, worker));
  return times;
}

interface Receiver {
  readonly url: string;
  /** When the message of the alert came. */
  told(alertId: string): Promise<number>;
  close(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const came = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { properties } = JSON.parse(body) as { properties?: { alert_id?: string } };
    came.set(properties?.alert_id ?? '', performance.now());
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async told(alertId) {
      for (;;) {
        const at = came.get(alertId);
        if (at !== undefined) return at;
        await pause(1);
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function report(of: { idle: number[]; beside: number[]; without: Load; withAlerts: Load }): string {
  const delay = (times: readonly number[]) =>
    `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
  const cost = ({ cores, p50, p99, eventsPerSecond }: Load) =>
    `${cores.toFixed(2)} cores, ${Math.round(eventsPerSecond).toLocaleString('en-US')} events/s, ingest p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  const rows = [
    ['acknowledged event to delivered alert, without other load', '2 s', delay(of.idle)],
    ['the same beside 20,000 events/s', '2 s', delay(of.beside)],
    ['20,000 events/s without alerts', '', cost(of.without)],
    ['with five alerts for each customer', '0.1 cores more', cost(of.withAlerts)],
  ];
  const about = `${machine()}, load generator on the same cores. ${CUSTOMERS.toLocaleString('en-US')} customers; ${CROSSINGS} crossings, ${CROSSED_AT_ONCE} at a time.`;
  return `${about}\n\n${table(['alerts', 'target', 'measured'], rows)}`;
}
