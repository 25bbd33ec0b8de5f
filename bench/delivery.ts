/**
 * How long the delivery of an invoice run takes: 10,000 invoices of three lines, delivered to a stand-in of Stripe that
 * answers after 50 ms, and refuses what is more than Stripe's published rates. They are issued by one move of the clock, and
 * delivered meanwhile and afterwards. The floor is what the rates allow: 25 invoices a second are created at most.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type StripeStandIn, startStripeStandIn } from '../src/demo/stripe/stand-in.ts';
import { LIVE_RATES, type StripeRates, TEST_RATES } from '../src/payments/stripe/rate-limit.ts';
import { table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

/** `BENCH_INVOICES`: fewer, to try it. */
const INVOICES = Number(process.env.BENCH_INVOICES ?? 10_000);
/** A test account takes a quarter of the requests. */
const TEST_INVOICES = Math.ceil(INVOICES / 20);
const ANSWER_MS = 50;
const CALLS_AT_ONCE = 8;
const SECOND_MS = 1_000;
const LOOK_MS = 200;
const STALLED_MS_MAX = 120_000;
const NOW = '2026-10-10T00:00:00Z';
const DUE = '2026-10-20T00:00:00Z';
const AFTER = '2026-10-20T01:00:00Z';
const LINES = [1_999, 350, 12];
const PROVIDER = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };

interface Measured {
  readonly invoices: number;
  readonly issueSeconds: number;
  readonly seconds: number;
  readonly requests: number;
  readonly tooMany: number;
  readonly attempts: number;
  readonly cpuSeconds: number;
}

export async function benchDelivery(): Promise<string> {
  const live = await measure('sk_live_of_the_bench', LIVE_RATES, INVOICES);
  const test = await measure('sk_test_of_the_bench', TEST_RATES, TEST_INVOICES);
  const row = (name: string, { account, endpoint }: StripeRates, one: Measured, floorSeconds: number) => [
    `${one.invoices} invoices, ${name} (${account} requests a second, ${endpoint} of one endpoint)`,
    one.issueSeconds.toFixed(1),
    one.seconds.toFixed(1),
    floorSeconds.toFixed(1),
    (one.requests / one.invoices).toFixed(2),
    String(one.tooMany),
    String(one.attempts - one.invoices),
    `${((one.cpuSeconds * SECOND_MS) / one.invoices).toFixed(1)} ms`,
  ];
  const floor = ({ account, endpoint }: StripeRates, { invoices, requests }: Measured) =>
    Math.max(invoices / endpoint, requests / account);
  return table(
    [
      'what',
      'seconds until issued',
      'seconds until delivered',
      'seconds that the rates allow',
      'requests an invoice',
      'answers of 429',
      'further attempts',
      'CPU time of the service, an invoice',
    ],
    [
      row('live key', LIVE_RATES, live, floor(LIVE_RATES, live)),
      row('test key', TEST_RATES, test, floor(TEST_RATES, test)),
    ],
  );
}

async function measure(apiKey: string, rates: StripeRates, invoices: number): Promise<Measured> {
  const stripe = await startStripeStandIn(apiKey);
  let tooMany = 0;
  const isTooMuch = rateWatch(rates);
  stripe.misbehave = ({ method, path }) => {
    if (!isTooMuch(`${method} ${path.replace(/_\d+/, '')}`)) return null;
    tooMany += 1;
    return 'too_many';
  };
  stripe.delayMs = ANSWER_MS;
  const service = await startTemporaryService(undefined, {
    SANDBOX_NOW: NOW,
    STRIPE_API_KEY: apiKey,
    STRIPE_API_BASE: stripe.url,
  });
  try {
    await createCustomers(service, stripe, invoices);
    const before = stripe.requests.length;
    const cpuBefore = await service.cpuSeconds();
    const start = performance.now();
    const issued = service.post('/v1/sandbox/clock', { now: AFTER }).then(() => performance.now());
    const figures = await delivered(service, invoices);
    const end = performance.now();
    return {
      invoices,
      issueSeconds: ((await issued) - start) / SECOND_MS,
      seconds: (end - start) / SECOND_MS,
      requests: stripe.requests.length - before,
      tooMany,
      attempts: figures.attempts,
      cpuSeconds: (await service.cpuSeconds()) - cpuBefore,
    };
  } finally {
    await service.close();
    await stripe.close();
  }
}

/** Waits until so many are delivered. The clock stands still, so what has failed would not be tried again. */
async function delivered(service: TemporaryService, invoices: number) {
  for (let [count, since] = [-1, performance.now()]; ; ) {
    const figures = await deliveryFigures(service);
    if (figures.finalized >= invoices) return figures;
    if (figures.finalized > count) [count, since] = [figures.finalized, performance.now()];
    if (performance.now() - since > STALLED_MS_MAX) throw new Error(`only ${count} invoices were delivered`);
    await pause(LOOK_MS);
  }
}

/** Whether a request is beyond the rates, counted in windows of a second. */
function rateWatch({ account, endpoint }: StripeRates): (name: string) => boolean {
  const recent = new Map<string, number[]>();
  const isBeyond = (name: string, rate: number, now: number) => {
    const times = (recent.get(name) ?? []).filter((at) => now - at < SECOND_MS);
    recent.set(name, [...times, now]);
    return times.length >= rate;
  };
  return (name) => {
    const now = performance.now();
    // Both are counted.
    return [isBeyond('', account, now), isBeyond(name, endpoint, now)].includes(true);
  };
}

async function createCustomers(
  service: TemporaryService,
  stripe: StripeStandIn,
  count: number,
): Promise<void> {
  const create = async (path: string, body: object) =>
    ((await service.post(path, body)).body as { data: { id: string } }).data.id;
  const product_id = await create('/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      const configuration = { stripe_customer_id: stripe.state.addCustomer() };
      const customer_id = await create('/v1/customers', {
        name: `Customer ${next}`,
        customer_billing_provider_configurations: [{ ...PROVIDER, configuration }],
      });
      await create('/v1/contracts/create', {
        customer_id,
        starting_at: '2026-10-01T00:00:00Z',
        billing_provider_configuration: PROVIDER,
        scheduled_charges: LINES.map((amount) => ({
          product_id,
          schedule: { schedule_items: [{ timestamp: DUE, amount }] },
        })),
      });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
}

/** How many are delivered: the count of the store is some seconds old. */
async function deliveryFigures({ host, port }: TemporaryService) {
  const metrics = await (await fetch(`http://${host}:${port}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);
  const attempts = (result: string) => of(`tallyhouse_delivery_attempts_total\\{result="${result}"\\}`);
  return {
    finalized: attempts('done'),
    attempts: attempts('done') + attempts('failed') + attempts('refused'),
  };
}
