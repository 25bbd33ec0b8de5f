/**
 * Money that is taken at Stripe is the money that is billed here, whatever is paid, voided, regenerated and given back in
 * whatever order, with faults between: the sum of the payments and of the balance there equals the standing invoices.
 */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Fault, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import type { StandInInvoice } from '../../src/demo/stripe/stand-in-objects.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
Object.assign(stripe, { retryAfterSeconds: 0.02 });
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) });
const { api, db } = service;
const hook = `${service.url}/v1/providers/stripe/webhook/default`;
const RUNS = runs(18);
let now = Date.UTC(2026, 2, 10);

afterAll(() => stripe.close());

const STEPS = ['pay', 'tell', 'wait', 'void', 'regenerate', 'collect again', 'give back'] as const;
type Step = (typeof STEPS)[number];

interface Plan {
  /** In cents; below 50 Stripe charges nothing, and moves the amount to the balance of the customer. */
  readonly amount: number;
  readonly steps: readonly Step[];
  /** One for each request, in order; then all goes well. */
  readonly faults: readonly (Fault | null)[];
}

const FAULTS: readonly Fault[] = ['lost', 'cut', 'error_before', 'error_after', 'too_many'];

const plan: fc.Arbitrary<Plan> = fc.record({
  amount: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 50, max: 5_000 }) },
    fc.integer({ min: 1, max: 49 }),
  ),
  steps: fc.array(fc.constantFrom(...STEPS), { maxLength: 7 }),
  faults: fc.array(fc.option(fc.constantFrom(...FAULTS), { freq: 2 }), { maxLength: 8 }),
});

/** An invoice, and those that were regenerated in its place. */
interface Chain {
  readonly customer: BilledCustomer;
  readonly ids: string[];
  readonly givenBack: Set<string>;
  hasCollectedAgain: boolean;
}

const last = ({ ids }: Chain) => ids.at(-1) ?? '';

interface Shown {
  readonly status: string;
  readonly external: Record<string, unknown>;
  readonly payable: number;
}

async function shown({ customer }: Chain, id: string): Promise<Shown> {
  const { body } = await customer.invoice(id);
  const { data } = body as {
    data: { status: string; payable_amount: unknown; external_invoice: Record<string, unknown> | null };
  };
  return {
    status: data.status,
    external: data.external_invoice ?? {},
    payable: Number(String(data.payable_amount)),
  };
}

async function later(): Promise<void> {
  now += 65 * 60_000;
  await service.moveClock(now);
  const at = new Date(now).toISOString();
  await expect
    .poll(
      () =>
        db.execute(sql`select 1 from invoice_deliveries
          where due_at <= ${at}::timestamptz or lease_until > clock_timestamp() limit 1`),
      { interval: 20, timeout: 60_000 },
    )
    .toEqual([]);
}

/** Until nothing is on its way. */
async function settle(chain: Chain): Promise<void> {
  for (let round = 0; round < 30; round += 1) {
    await later();
    const { external } = await shown(chain, last(chain));
    if (round > 0 && !['QUEUED', 'DRAFT'].includes(String(external.external_status))) return;
  }
  throw new Error('the deliveries do not end');
}

function atStripe({ ids }: Chain): StandInInvoice[] {
  return ids.flatMap((id) => stripe.state.liveOf(id)).filter(({ status }) => status !== 'draft');
}

async function giveBack(chain: Chain): Promise<void> {
  for (const id of chain.ids) {
    if ((await shown(chain, id)).external.refund_due !== true) continue;
    const [paid] = stripe.state.liveOf(id);
    if (paid === undefined) throw new Error('what is to be given back is there');
    stripe.state.customer(paid.customer).balance -= stripe.state.total(paid);
    chain.givenBack.add(paid.id);
    await api.post('/v1/invoices/refunded', { id });
  }
}

async function regenerate(chain: Chain, collect_again: boolean): Promise<void> {
  if ((await shown(chain, last(chain))).status !== 'VOID') return;
  const answer = await api.send('POST', '/v1/invoices/regenerate', { id: last(chain), collect_again });
  expect([200, 409]).toContain(answer.status);
  if (answer.status !== 200) return;
  chain.ids.push(answer.text('data.id'));
  chain.hasCollectedAgain ||= collect_again;
}

const DO: Readonly<Record<Step, (chain: Chain) => Promise<unknown>>> = {
  async pay(chain) {
    for (const { id, status } of atStripe(chain)) if (status === 'open') stripe.state.collect(id);
  },
  tell: (chain) => {
    const ids = new Set(atStripe(chain).map(({ id }) => id));
    return stripe.deliver(
      hook,
      stripe.state.events.filter(({ object }) => ids.has(String(object.id))),
    );
  },
  wait: later,
  async void(chain) {
    if ((await shown(chain, last(chain))).status === 'FINALIZED')
      await api.post('/v1/invoices/void', { id: last(chain) });
  },
  regenerate: (chain) => regenerate(chain, false),
  'collect again': (chain) => regenerate(chain, true),
  'give back': giveBack,
};

/** Gives back what is due, delivers what waits for it, and collects what is open. */
async function finish(chain: Chain): Promise<void> {
  await settle(chain);
  await giveBack(chain);
  const { status, external } = await shown(chain, last(chain));
  if (status === 'FINALIZED' && external.external_status === 'INVALID_REQUEST_ERROR') {
    await api.post('/v1/invoices/deliver', { invoice_ids: [last(chain)] });
    await settle(chain);
  }
  await DO.pay(chain);
  await DO.tell(chain);
  await later();
}

async function checkPlans(plans: readonly Plan[]): Promise<void> {
  const stripeId = stripe.state.addCustomer('pays');
  const customer = await billedCustomer(service, stripeId);
  const faults = plans.flatMap((each) => each.faults);
  stripe.misbehave = (request) => (request.customer === stripeId ? (faults.shift() ?? null) : null);
  const chains: Chain[] = [];
  for (const { amount, steps } of plans) {
    const chain: Chain = {
      customer,
      ids: [await customer.bill(amount)],
      givenBack: new Set(),
      hasCollectedAgain: false,
    };
    chains.push(chain);
    for (const step of steps) {
      await DO[step](chain);
      if (chain.hasCollectedAgain) continue;
      expect(atStripe(chain).filter(({ id }) => !chain.givenBack.has(id)).length).toBeLessThanOrEqual(1);
    }
  }
  stripe.misbehave = () => null;
  for (const chain of chains) await finish(chain);
  await checkMoney(stripeId, chains);
}

async function checkMoney(stripeId: string, chains: readonly Chain[]): Promise<void> {
  let billed = 0;
  for (const chain of chains) {
    const { status, payable } = await shown(chain, last(chain));
    if (status === 'FINALIZED') billed += payable;
  }
  const taken = [...stripe.state.invoices.values()]
    .filter(({ customer }) => customer === stripeId)
    .reduce((sum, { amountPaid }) => sum + amountPaid, 0);
  expect(taken + stripe.state.customer(stripeId).balance).toBe(billed);
}

test('money that was taken at Stripe, with the balance there, equals the standing invoices', async () => {
  await fc.assert(fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 2 }), checkPlans), {
    numRuns: RUNS,
    endOnFailure: true,
  });
});
