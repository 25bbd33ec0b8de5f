/**
 * Two processes of the service deliver invoices and are killed (kill -9) before and after each request to Stripe. The next
 * two find the created objects, and finish them.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STAND_IN_KEY, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { type BillingProcess, created } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const START = '2026-03-01T00:00:00Z';
const provider = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
const stripe = await startStripeStandIn();

/** Requests of a delivery: the draft, its lines, making it final, sending it. Each is killed before it is done, or after. */
const MOMENTS = [1, 3, 4, 2].flatMap((request) => [
  { request, fault: 'lost' as const },
  { request, fault: 'cut' as const },
]);
const AMOUNT = 1_234;

let stores: SharedStores;
let running: BillingProcess[] = [];
let customerId = '';
let starts = 0;

async function start(): Promise<void> {
  const env = { STRIPE_API_KEY: STAND_IN_KEY, STRIPE_API_BASE: stripe.url };
  running = await Promise.all(
    [1, 2].map(() => {
      starts += 1;
      return stores.start(`process-${starts}`, env);
    }),
  );
}

function first(): BillingProcess {
  const [service] = running;
  if (service === undefined) throw new Error('a process is running');
  return service;
}

beforeAll(async () => {
  stores = await createSharedStores(START);
  await start();
  customerId = await created(first(), '/v1/customers', {
    name: 'Billed',
    customer_billing_provider_configurations: [
      {
        ...provider,
        configuration: {
          stripe_customer_id: stripe.state.addCustomer(),
          stripe_collection_method: 'send_invoice',
        },
      },
    ],
  });
  const product_id = await created(first(), '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const schedule_items = MOMENTS.map((_, index) => ({ timestamp: dayOf(index), amount: AMOUNT + index }));
  await created(first(), '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: START,
    billing_provider_configuration: provider,
    scheduled_charges: [{ product_id, schedule: { schedule_items } }],
  });
});

afterAll(async () => {
  await stores.close();
  await stripe.close();
});

function dayOf(index: number): string {
  return new Date(Date.parse(START) + (index + 1) * 86_400_000).toISOString();
}

interface Shown {
  readonly id: string;
  readonly issued_at: string;
  readonly external_invoice: { external_status: string; invoice_id?: string; invoiced_total?: number } | null;
}

async function invoiceOf(index: number): Promise<Shown | undefined> {
  const { body } = await first().call(`/v1/customers/${customerId}/invoices?limit=100&status=FINALIZED`);
  const { data } = JSON.parse(body) as { data: Shown[] };
  return data.find(({ issued_at }) => Date.parse(issued_at) === Date.parse(dayOf(index)));
}

test.each(MOMENTS.map((moment, index) => ({ ...moment, index })))(
  'killed at request $request, which is $fault: one invoice, to the cent',
  async ({ request, fault, index }) => {
    let requests = 0;
    const killed = new Promise<void>((resolve) => {
      stripe.misbehave = () => {
        requests += 1;
        if (requests !== request) return null;
        for (const { program } of running) program.child.kill('SIGKILL');
        resolve();
        return fault;
      };
    });
    const move = { now: dayOf(index) };
    // Its answer is lost with the process.
    const moved = first()
      .call('/v1/sandbox/clock', move)
      .catch(() => null);
    await killed;
    await Promise.all([moved, ...running.map(({ program }) => program.ended)]);
    // As if the time of its lease had passed.
    await stores.database.db.execute(sql`
      update invoice_deliveries set lease_until = clock_timestamp() where lease_until is not null`);
    await start();
    await first().call('/v1/sandbox/clock', move);
    await expect.poll(async () => (await invoiceOf(index))?.external_invoice?.external_status).toBe('SENT');
    const shown = await invoiceOf(index);
    const live = stripe.state.liveOf(shown?.id ?? '');
    expect(live).toHaveLength(1);
    expect(live.map((one) => stripe.state.subtotal(one))).toEqual([AMOUNT + index]);
    expect(shown?.external_invoice).toMatchObject({
      invoice_id: live[0]?.id,
      invoiced_total: AMOUNT + index,
    });
  },
);
