/**
 * The cost of alerts, and their delay: the time from the acknowledged event that crosses a threshold to the message at
 * its receiver, without other load and beside 20,000 events a second of 10,000 customers with five alerts each; and the
 * CPU time of the service for that load, without alerts and with them.
 *
 * Two kinds of crossings: by the second event of a new customer, and by one a hundred times as large as those before.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { machine, table } from './report.ts';
import { startServiceWithDatabase } from './service-with-database.ts';
import type { TemporaryService } from './temporary-service.ts';
import {
  copyCustomer,
  createCatalogue,
  createCustomer,
  created,
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
const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 10_000);
const CROSSINGS = 50;
const CROSSED_AT_ONCE = 4;
/** The usage of the load is far below it. */
const FAR = 1_000_000_000_000;
const SPEND = 'spend_threshold_reached';

export async function benchAlerts(seconds: number): Promise<string> {
  const { service, db, close } = await startServiceWithDatabase({
    WEBHOOK_ALLOW_PRIVATE: '1',
    RATE_LIMIT_WRITE: '0',
  });
  const receiver = await startReceiver();
  try {
    await service.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
    const catalogue = await createCatalogue(service);
    const first = await createCustomer(service, catalogue, 'customer-0');
    await copyCustomer(db, first, { prefix: 'customer-', count: CUSTOMERS });
    // Their latencies are compared, of which the slowest ones differ much in short runs.
    const compared = { customers: CUSTOMERS, seconds: 3 * seconds };
    const without = await load(service, { ...compared, run: 'without' });
    for (const threshold of [FAR, 2 * FAR, 3 * FAR]) await createAlert(service, SPEND, threshold);
    await createAlert(service, 'invoice_total_reached', FAR);
    await createAlert(service, 'monthly_invoice_total_spend_threshold_reached', FAR);
    await evaluated(service, CUSTOMERS);
    const idle = await crossings(service, receiver, catalogue, 'idle');
    const withAlerts = await load(service, { ...compared, run: 'with' });
    // Long enough for all crossings.
    const under = load(service, { customers: CUSTOMERS, seconds: 4 * seconds, run: 'crossed' });
    const beside = await crossings(service, receiver, catalogue, 'beside');
    return report({ idle, beside, without, withAlerts, crossed: await under });
  } finally {
    await close();
    await receiver.close();
  }
}

function createAlert(
  service: TemporaryService,
  alert_type: string,
  threshold: number,
  more: object = {},
): Promise<string> {
  return created(service, '/v1/alerts/create', { alert_type, name: alert_type, threshold, ...more });
}

interface Delays {
  /** Milliseconds of the second event of a customer. */
  readonly usual: readonly number[];
  /** Effects of an event a hundred times as large as those before. */
  readonly jumps: readonly number[];
}

/** From the answer to the event that crosses a threshold to its message, of a few customers at a time. */
async function crossings(
  service: TemporaryService,
  receiver: Receiver,
  catalogue: WatchedCatalogue,
  name: string,
): Promise<Delays> {
  const delays = { usual: [] as number[], jumps: [] as number[] };
  const cross = async (number: number) => {
    const alias = `${name}-${number}`;
    const isJump = number % 2 === 1;
    const { customerId: customer_id } = await createCustomer(service, catalogue, alias);
    const alert = await createAlert(service, SPEND, 1_000, { customer_id });
    await use(service, alias, isJump ? 10 : 900);
    await pause(1_500);
    await use(service, alias, isJump ? 1_001 : 101);
    const acknowledged = performance.now();
    const delay = Math.max(0, (await receiver.told(alert)) - acknowledged);
    delays[isJump ? 'jumps' : 'usual'].push(delay);
  };
  await each(CROSSINGS, cross, CROSSED_AT_ONCE);
  return delays;
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

interface Measured {
  readonly idle: Delays;
  readonly beside: Delays;
  readonly without: Load;
  readonly withAlerts: Load;
  readonly crossed: Load;
}

function report({ idle, beside, without, withAlerts, crossed }: Measured): string {
  const rows = [
    ['acknowledged event to delivered alert, without other load', '2 s', delayText(idle.usual)],
    ['the same beside 20,000 events/s', '2 s', delayText(beside.usual)],
    ['by one event a hundred times as large, without other load', '2 s', delayText(idle.jumps)],
    ['the same beside 20,000 events/s', '2 s', delayText(beside.jumps)],
    ['20,000 events/s without alerts', '', loadText(without)],
    ['with five alerts for each customer', '0.1 cores more', loadText(withAlerts)],
    [`with ${CROSSINGS} new customers and alerts that cross besides`, '', loadText(crossed)],
  ];
  const about = `${machine()}, load generator on the same cores. ${CUSTOMERS.toLocaleString('en-US')} customers; ${CROSSINGS} crossings, ${CROSSED_AT_ONCE} at a time.`;
  return `${about}\n\n${table(['alerts', 'target', 'measured'], rows)}`;
}
