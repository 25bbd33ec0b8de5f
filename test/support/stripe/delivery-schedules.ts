/**
 * Deliveries under a schedule of faults, kills and hands of others, and what must hold when all of it is over. Used with
 * fast-check: a schedule is plain data.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect } from 'vitest';
import { FAULTS, type Fault, type StripeStandIn } from '../../../src/demo/stripe/stand-in.ts';
import type { StandInInvoice } from '../../../src/demo/stripe/stand-in-objects.ts';
import type { TestService } from '../service.ts';
import { type BilledCustomer, billedCustomer } from './billed-customer.ts';

/** The history of one invoice. */
interface InvoiceSchedule {
  /** In hundredths of a cent, so that lines have to be rounded. */
  readonly amounts: readonly number[];
  readonly method: 'charge_automatically' | 'send_invoice';
  readonly card: 'pays' | 'declined';
  /** One for each request about its customer, in order; then all goes well. */
  readonly faults: readonly (Fault | null)[];
  /** The change that somebody makes to it at Stripe, before that request. */
  readonly hand: { readonly before: number; readonly does: 'adds' | 'changes' | 'deletes' } | null;
  /** Whether it is voided here, during that request or after the first attempt; null: never. */
  readonly voidedAfter: number | null;
  readonly events: 'never' | 'in order' | 'twice, backwards';
}

export interface Schedule {
  readonly invoices: readonly InvoiceSchedule[];
  /** Steps of the first and of the second process at which the attempt is killed. */
  readonly kills: readonly [readonly number[], readonly number[]];
}

const REQUESTS_MAX = 12;

const invoiceSchedule: fc.Arbitrary<InvoiceSchedule> = fc.record({
  amounts: fc.array(fc.integer({ min: 100, max: 500_000 }), { minLength: 1, maxLength: 4 }),
  method: fc.constantFrom('charge_automatically' as const, 'send_invoice' as const),
  card: fc.constantFrom('pays' as const, 'declined' as const),
  faults: fc.array(fc.option(fc.constantFrom(...FAULTS), { freq: 2 }), { maxLength: REQUESTS_MAX }),
  hand: fc.option(
    fc.record({
      before: fc.integer({ min: 1, max: REQUESTS_MAX }),
      does: fc.constantFrom('adds' as const, 'changes' as const, 'deletes' as const),
    }),
    { freq: 3 },
  ),
  voidedAfter: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 5 }),
  events: fc.constantFrom('never' as const, 'in order' as const, 'twice, backwards' as const),
});

const steps = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 6 });

export const schedule: fc.Arbitrary<Schedule> = fc.record({
  invoices: fc.array(invoiceSchedule, { minLength: 2, maxLength: 5 }),
  kills: fc.tuple(steps, steps),
});

/** Throws at the steps that are given, as a kill at that moment would end the attempt. */
export function createKiller() {
  let left = new Set<number>();
  let step = 0;
  return {
    begin(at: readonly number[]) {
      left = new Set(at);
      step = 0;
    },
    betweenSteps() {
      step += 1;
      if (left.delete(step)) throw new Error('killed');
    },
  };
}

export interface World {
  readonly service: TestService;
  readonly stripe: StripeStandIn;
  readonly killers: readonly [ReturnType<typeof createKiller>, ReturnType<typeof createKiller>];
  /** Moves the clock of all processes on. */
  later(minutes: number): Promise<void>;
}

interface Billed {
  readonly customer: BilledCustomer;
  readonly id: string;
  readonly plan: InvoiceSchedule;
  readonly isVoided: boolean;
}

/** Bills, lets all faults happen, lets Stripe collect and tell, and checks what is there and here then. */
export async function checkSchedule(world: World, { invoices, kills }: Schedule): Promise<void> {
  const { stripe, service } = world;
  const plans = new Map<
    string,
    { plan: InvoiceSchedule; requests: number; voiding: Promise<unknown> | null }
  >();
  stripe.misbehave = ({ customer, method, path }) => {
    const own = plans.get(customer ?? '');
    if (own === undefined) return null;
    own.requests += 1;
    // Nobody would see a change just before it is finalized; a slow call may be the one that finalizes it.
    if (own.plan.hand?.before === own.requests && isSeen(own.plan, path))
      touch(stripe, customer ?? '', own.plan);
    if (own.plan.voidedAfter === own.requests) own.voiding = voidHere(world, customer ?? '');
    return method === 'GET' && own.plan.faults[own.requests - 1] === 'slow'
      ? 'cut'
      : (own.plan.faults[own.requests - 1] ?? null);
  };
  const customers = await Promise.all(
    invoices.map(async (plan) => {
      const stripeId = stripe.state.addCustomer(plan.card);
      const configuration = { stripe_collection_method: plan.method };
      return { plan, customer: await billedCustomer(service, stripeId, { configuration }) };
    }),
  );
  world.killers[0].begin(kills[0]);
  world.killers[1].begin(kills[1]);
  const billed: Billed[] = [];
  for (const { plan, customer } of customers) {
    plans.set(customer.stripeId, { plan, requests: 0, voiding: null });
    const id = await customer.bill(...plan.amounts.map((amount) => amount / 100));
    const isVoided = plan.voidedAfter !== null;
    const during = plans.get(customer.stripeId)?.voiding ?? null;
    await during;
    if (isVoided && during === null) await service.api.post('/v1/invoices/void', { id });
    billed.push({ customer, id, plan, isVoided });
  }
  await settle(world, billed);
  stripe.misbehave = () => null;
  for (const { id, plan } of billed) {
    const [there] = stripe.state.liveOf(id);
    if (there?.status === 'open' && plan.method === 'charge_automatically') stripe.state.collect(there.id);
  }
  await tell(world, billed);
  await settle(world, billed);
  for (const one of billed) await check(world, one);
}

/** While it is delivered. Null: it is not there yet. */
function voidHere({ stripe, service }: World, customer: string): Promise<unknown> | null {
  const there = [...stripe.state.invoices.values()].find((one) => one.customer === customer);
  const id = there?.metadata.tallyhouse_invoice_id;
  return id === undefined ? null : service.api.send('POST', '/v1/invoices/void', { id });
}

function isSeen({ faults }: InvoiceSchedule, path: string): boolean {
  return !path.endsWith('/finalize') && !faults.includes('slow');
}

function touch({ state }: StripeStandIn, customer: string, { hand }: InvoiceSchedule): void {
  const draft = [...state.invoices.values()].find(
    (one) => one.customer === customer && one.status === 'draft',
  );
  const [line] = draft?.lines ?? [];
  if (draft === undefined || hand === null) return;
  if (hand.does === 'deletes') state.deleteInvoice(draft.id);
  else if (hand.does === 'changes' && line !== undefined) line.amount += 13;
  else state.addLines(draft.id, [{ amount: '77', description: 'by hand', period: { start: '1', end: '1' } }]);
}

/** Until nothing is due: what was deleted there is asked for again. */
async function settle({ service, later }: World, billed: readonly Billed[]): Promise<void> {
  for (let round = 1; round <= 40; round += 1) {
    await later(65);
    await idle(service);
    const states = await Promise.all(billed.map(async ({ customer, id }) => statusOf(customer, id)));
    const gone = billed
      .filter(({ isVoided }, at) => states[at] === 'DELETED' && !isVoided)
      .map(({ id }) => id);
    if (gone.length > 0) await service.api.post('/v1/invoices/deliver', { invoice_ids: gone });
    else if (round > 2 && states.every((one) => one !== 'QUEUED' && one !== 'DRAFT')) return;
  }
  throw new Error('the deliveries do not come to an end');
}

/** Nothing is due, and nobody works on anything. */
async function idle({ db, api }: TestService): Promise<void> {
  const now = (await api.get('/v1/sandbox/clock')).text('data.now');
  for (;;) {
    const busy = await db.execute(sql`
      select 1 from invoice_deliveries
      where due_at <= ${now}::timestamptz or lease_until > clock_timestamp() limit 1`);
    if (busy.length === 0) return;
    await pause(20);
  }
}

async function externalOf(customer: BilledCustomer, id: string): Promise<Record<string, unknown>> {
  const { body } = await customer.invoice(id);
  return (body as { data: { external_invoice: Record<string, unknown> | null } }).data.external_invoice ?? {};
}

async function statusOf(customer: BilledCustomer, id: string): Promise<unknown> {
  return (await externalOf(customer, id)).external_status;
}

async function tell({ stripe, service }: World, billed: readonly Billed[]): Promise<void> {
  const to = `${service.url}/v1/providers/stripe/webhook/default`;
  for (const { customer, plan } of billed) {
    if (plan.events === 'never') continue;
    const ids = new Set(
      [...stripe.state.invoices.values()].flatMap((one) =>
        one.customer === customer.stripeId ? [one.id] : [],
      ),
    );
    const events = stripe.state.events.filter(({ object }) => ids.has(String(object.id)));
    await stripe.deliver(to, plan.events === 'in order' ? events : [...events, ...events].reverse());
  }
}

async function check({ stripe }: World, { customer, id, plan, isVoided }: Billed): Promise<void> {
  const external = await externalOf(customer, id);
  const live = stripe.state.liveOf(id);
  if (isVoided) {
    // An invoice that was paid before it was voided stays there, and is reported.
    expect(live.filter(({ status }) => status !== 'paid')).toEqual([]);
    expect(live.length).toBeLessThanOrEqual(1);
    expect(external.external_status).toEqual(
      live.length === 1 ? 'PAID' : expect.stringMatching(/^(VOID|DELETED)$/),
    );
    return;
  }
  expect(live).toHaveLength(1);
  const [there] = live as [StandInInvoice];
  const payable = Math.round(plan.amounts.reduce((sum, amount) => sum + amount, 0) / 100);
  expect(stripe.state.subtotal(there)).toBe(payable);
  expect(external).toMatchObject({
    invoice_id: there.id,
    external_status: statusThere(there),
    invoiced_sub_total: payable,
    invoiced_total: payable,
  });
}

function statusThere({ status, sent, attempted }: StandInInvoice): string {
  if (status !== 'open') return status.toUpperCase();
  if (attempted) return 'PAYMENT_FAILED';
  return sent > 0 ? 'SENT' : 'FINALIZED';
}
