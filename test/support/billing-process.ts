/** The service as a process on stores by URL, with a sandbox clock, and customers that it bills every month. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Program, runProgram } from './child-process.ts';

const TOKEN = 'token-of-this-test';

export interface BillingProcess {
  readonly program: Program;
  /** Throws if the process has ended. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  kill(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** In seconds; null where the answer has no such header. */
  readonly retryAfter: number | null;
}

export interface StoreUrls {
  readonly postgres: string;
  readonly clickhouse: string;
}

/** Several processes on the same stores share the clock. Without URLs, the stores are embedded. */
export async function startBillingProcess(
  stores: StoreUrls | null,
  dataDirectory: string,
  sandboxNow: string,
  env: Record<string, string> = {},
  file = 'src/main.ts',
): Promise<BillingProcess> {
  const program = runProgram(file, [], {
    PORT: '0',
    API_TOKEN: TOKEN,
    LOG_LEVEL: 'error',
    DATA_DIR: dataDirectory,
    SANDBOX_NOW: sandboxNow,
    ...env,
    ...(stores === null ? {} : { DATABASE_URL: stores.postgres, CLICKHOUSE_URL: stores.clickhouse }),
  });
  await program.said('/docs');
  const url = /ready at (http:\/\/[^/\s]+)/.exec(program.stdout())?.[1];
  return {
    program,
    async call(path, body, headers = {}) {
      if (program.child.exitCode !== null) throw new Error(`the process has ended: ${program.stderr()}`);
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const retryAfter = response.headers.get('retry-after');
      return {
        status: response.status,
        body: await response.text(),
        retryAfter: retryAfter === null ? null : Number(retryAfter),
      };
    },
    async kill() {
      program.child.kill('SIGKILL');
      await program.ended;
    },
  };
}

/** Throws unless the answer is 200. Returns the id. */
export async function created(service: BillingProcess, path: string, body: unknown): Promise<string> {
  const answer = await service.call(path, body);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.body}`);
  return (JSON.parse(answer.body) as { data: { id: string } }).data.id;
}

/** Customers who pay 2 cents a request from `startingAt` on, each with one request at that instant. */
export async function createPayingCustomers(
  service: BillingProcess,
  count: number,
  startingAt: string,
): Promise<void> {
  const metricId = await created(service, '/v1/billable-metrics/create', {
    name: 'Requests',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['request'] },
  });
  const productId = await created(service, '/v1/contract-pricing/products/create', {
    name: 'Requests',
    type: 'USAGE',
    billable_metric_id: metricId,
  });
  const rateCardId = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
  await service.call('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: [{ product_id: productId, starting_at: startingAt, entitled: true, rate_type: 'FLAT', price: 2 }],
  });
  for (let index = 0; index < count; index += 1) {
    const alias = `customer-${index}`;
    const customer_id = await created(service, '/v1/customers', { name: alias, ingest_aliases: [alias] });
    const contract = { customer_id, rate_card_id: rateCardId, starting_at: startingAt };
    await created(service, '/v1/contracts/create', contract);
    const event = { transaction_id: alias, customer_id: alias, event_type: 'request', timestamp: startingAt };
    await service.call('/v1/ingest', [{ ...event, properties: {} }]);
  }
}

const RETRY_MS = 20;

/** Moves the clock, again and again as long as the answer is that it does not work now. Any other failure is a bug. */
export async function moveClock(service: BillingProcess, now: string): Promise<void> {
  for (;;) {
    const { status, body } = await service.call('/v1/sandbox/clock', { now });
    if (status === 200) return;
    if (status !== 503) throw new Error(`the clock answered ${status} ${body}`);
    await pause(RETRY_MS);
  }
}
