/**
 * What alerts cost, and how soon they are told: the time from the acknowledged event that crosses a threshold to the
 * message at its receiver, without other load and beside 20,000 events a second of 10,000 customers with five alerts
 * each; and the CPU time of the service for that load, without alerts and with them.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { machine, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';
import {
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
/** No usage of the load comes near. */
const FAR = 1_000_000_000_000;
const SPEND = 'spend_threshold_reached';

export async function benchAlerts(seconds: number): Promise<string> {
  const service = await startTemporaryService(undefined, {
    WEBHOOK_ALLOW_PRIVATE: '1',
    RATE_LIMIT_WRITE: '0',
  });
  const receiver = await startReceiver();
  try {
    await service.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
    const catalogue = await createCatalogue(service);
    await each(CUSTOMERS, (number) => createCustomer(service, catalogue, `customer-${number}`));
    const without = await load(service, { customers: CUSTOMERS, seconds, run: 'without' });
    for (const threshold of [FAR, 2 * FAR, 3 * FAR]) await createAlert(service, SPEND, threshold);
    await createAlert(service, 'invoice_total_reached', FAR);
    await createAlert(service, 'monthly_invoice_total_spend_threshold_reached', FAR);
    await evaluated(service, CUSTOMERS);
    const idle = await crossings(service, receiver, catalogue, 'idle');
    // Long enough for all crossings.
    const under = load(service, { customers: CUSTOMERS, seconds: 3 * seconds, run: 'with' });
    const beside = await crossings(service, receiver, catalogue, 'beside');
    const withAlerts = await under;
    return report({ idle, beside, without, withAlerts });
  } finally {
    await service.close();
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

/** Milliseconds from the answer to the event that crosses a threshold to its message, of a few customers at a time. */
async function crossings(
  service: TemporaryService,
  receiver: Receiver,
  catalogue: WatchedCatalogue,
  name: string,
): Promise<number[]> {
  const times: number[] = [];
  const cross = async (number: number) => {
    const alias = `${name}-${number}`;
    const { customerId: customer_id } = await createCustomer(service, catalogue, alias);
    const alert = await createAlert(service, SPEND, 1_000, { customer_id });
    await use(service, alias, 900);
    await pause(1_500);
    await use(service, alias, 101);
    const acknowledged = performance.now();
    times.push(Math.max(0, (await receiver.told(alert)) - acknowledged));
  };
  await each(CROSSINGS, cross, CROSSED_AT_ONCE);
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

function report(of: { idle: number[]; beside: number[]; without: Load; withAlerts: Load }): string {
  const rows = [
    ['acknowledged event to delivered alert, without other load', '2 s', delayText(of.idle)],
    ['the same beside 20,000 events/s', '2 s', delayText(of.beside)],
    ['20,000 events/s without alerts', '', loadText(of.without)],
    ['with five alerts for each customer', '0.1 cores more', loadText(of.withAlerts)],
  ];
  const about = `${machine()}, load generator on the same cores. ${CUSTOMERS.toLocaleString('en-US')} customers; ${CROSSINGS} crossings, ${CROSSED_AT_ONCE} at a time.`;
  return `${about}\n\n${table(['alerts', 'target', 'measured'], rows)}`;
}
