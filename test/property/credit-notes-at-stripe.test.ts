/**
 * Whatever fails, is killed, paid and credited in whatever order, with two processes that deliver: each credit note is at
 * Stripe exactly once, and the money that was taken there, without what was refunded and what the customer has here or
 * on the balance there, is the money that is billed without what is credited.
 */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { FAULTS, type Fault, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import type { StandInNote } from '../../src/demo/stripe/stand-in-objects.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';
import { createKiller } from '../support/stripe/delivery-schedules.ts';
import { startSecondWorker } from '../support/stripe/second-worker.ts';

/** As in a real service, each is longer than the one before. */
const TIMES = { timeoutMs: 150, slowMs: 250, leaseMs: 900 };
const RUNS = runs(15);
const START = Date.UTC(2026, 2, 10);

const stripe = await startStripeStandIn();
Object.assign(stripe, { slowMs: TIMES.slowMs, retryAfterSeconds: 0.02 });
const killers = [createKiller(), createKiller()] as const;
const hooks = killers.map(({ betweenSteps }) => ({ betweenSteps, leaseMs: TIMES.leaseMs }));
const connected = connectedTo(stripe);
const service = await serviceForFile({
  sandboxNow: '2026-03-10T00:00:00Z',
  stripe: { ...connected.stripe, timeoutMs: TIMES.timeoutMs },
  deliveryHooks: hooks[0],
  log: pino({ level: 'silent' }),
});
const { api, db } = service;
const fixed = await createdId(api, PRODUCTS, { name: 'Goodwill', type: 'FIXED' });
let now = START;
const second = await startSecondWorker(service, stripe, {
  clock: { now: () => now },
  timeoutMs: TIMES.timeoutMs,
  hooks: hooks[1] ?? {},
});

afterAll(async () => {
  await second.close();
  await stripe.close();
});

const LAYOUTS = ['net', 'gross', 'by_product'] as const;

interface Step {
  readonly does: 'pay' | 'tell' | 'wait' | 'credit' | 'void a note';
  /** The line that a note credits, its share in percent, whether the note waits, and whether the credit is given here. */
  readonly line: number;
  readonly percent: number;
  readonly isLate: boolean;
  readonly isCreditHere: boolean;
}

interface Plan {
  /** In cents; below 50 Stripe charges nothing, and moves the amount to the balance of the customer. */
  readonly amounts: readonly number[];
  readonly layout: (typeof LAYOUTS)[number];
  readonly steps: readonly Step[];
  /** One for each request about the customer, in order; then all goes well. */
  readonly faults: readonly (Fault | null)[];
  readonly kills: readonly [readonly number[], readonly number[]];
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(
    { weight: 3, arbitrary: fc.constant('credit' as const) },
    fc.constantFrom('pay' as const, 'tell' as const, 'wait' as const, 'void a note' as const),
  ),
  line: fc.nat({ max: 2 }),
  percent: fc.integer({ min: 1, max: 100 }),
  isLate: fc.boolean(),
  isCreditHere: fc.boolean(),
});

const kills = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 5 });

const plan: fc.Arbitrary<Plan> = fc.record({
  amounts: fc.array(fc.integer({ min: 20, max: 5_000 }), { minLength: 1, maxLength: 3 }),
  layout: fc.constantFrom(...LAYOUTS),
  steps: fc.array(step, { minLength: 2, maxLength: 7 }),
  faults: fc.array(fc.option(fc.constantFrom(...FAULTS), { freq: 2 }), { maxLength: 24 }),
  kills: fc.tuple(kills, kills),
});

interface World {
  readonly customer: BilledCustomer;
  readonly id: string;
  readonly payable: number;
}

interface ShownNote {
  readonly id: string;
  readonly status: string;
  readonly subtotal: number;
  readonly credit_balance_amount: number;
  readonly external_credit_note?: { readonly external_status: string; readonly total?: number };
}

async function notesHere({ id }: World): Promise<ShownNote[]> {
  const { body } = await api.get('/v1/invoices/creditNotes', { query: { invoice_id: id, limit: '100' } });
  return (body as { data: ShownNote[] }).data;
}

async function invoiceHere({ customer, id }: World) {
  const { body } = await customer.invoice(id);
  return (
    body as {
      data: {
        credited?: number;
        line_items: { id: string; total: number }[];
        external_invoice: { external_status: string; amount_paid?: number };
      };
    }
  ).data;
}

async function later(minutes: number): Promise<void> {
  const at = now + minutes * 60_000;
  await service.moveClock(at);
  now = at;
  await expect
    .poll(
      () =>
        db.execute(sql`select 1 from invoice_deliveries
          where due_at <= ${new Date(at).toISOString()}::timestamptz or lease_until > clock_timestamp() limit 1`),
      { interval: 20, timeout: 60_000 },
    )
    .toEqual([]);
}

function pay({ id }: World): void {
  for (const { id: there, status } of stripe.state.liveOf(id))
    if (status === 'open') stripe.state.collect(there);
}

async function tell({ id }: World): Promise<void> {
  const ours = stripe.state.events.filter(({ object }) => {
    const metadata = object.metadata as Record<string, string> | undefined;
    return metadata?.tallyhouse_invoice_id === id;
  });
  await stripe.deliver(`${service.url}/v1/providers/stripe/webhook/default`, ours);
}

/** With the settlement that the state of the invoice allows; nothing if too much is credited already. */
async function credit(world: World, { line, percent, isLate, isCreditHere }: Step): Promise<void> {
  const { line_items: lines } = await invoiceHere(world);
  const chosen = lines[line % lines.length];
  if (chosen === undefined) return;
  const amount = Math.max(1, Math.floor((chosen.total * percent) / 100));
  const body = {
    ...{ invoice_id: world.id, reason: 'other', lines: [{ line_item_id: chosen.id, amount }] },
    ...(isLate ? { deliver_after: new Date(now + 40 * 60_000).toISOString() } : {}),
  };
  const here = {
    ...{ settlement: 'credit_balance', credit_product_id: fixed },
    credit_ending_before: '2027-06-01T00:00:00Z',
  };
  for (const settled of [{ settlement: 'offset_unpaid' }, isCreditHere ? here : { settlement: 'refund' }]) {
    const answer = await api.send('POST', '/v1/invoices/creditNotes/create', { ...body, ...settled });
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) return;
  }
}

async function voidNote(world: World): Promise<void> {
  const [note] = (await notesHere(world)).filter(({ status }) => status === 'ISSUED');
  if (note === undefined) return;
  const answer = await api.send('POST', '/v1/invoices/creditNotes/void', { id: note.id });
  expect([200, 409]).toContain(answer.status);
}

const DO: Readonly<Record<Step['does'], (world: World, step: Step) => unknown>> = {
  pay,
  tell,
  wait: () => later(25),
  credit,
  'void a note': voidNote,
};

/** Until nothing is on its way. */
async function settle(world: World): Promise<void> {
  for (let round = 0; round < 40; round += 1) {
    await later(65);
    const { external_invoice: external } = await invoiceHere(world);
    const isWaiting = (await notesHere(world)).some(
      ({ status, external_credit_note: there }) => status === 'ISSUED' && there?.external_status === 'QUEUED',
    );
    if (round > 1 && !isWaiting && !['QUEUED', 'DRAFT'].includes(external.external_status)) return;
  }
  throw new Error('the deliveries do not end');
}

async function checkPlan({ amounts, layout, steps, faults, kills: at }: Plan): Promise<void> {
  const stripeId = stripe.state.addCustomer('pays');
  const left = [...faults];
  stripe.misbehave = ({ customer, method }) => {
    if (customer !== stripeId) return null;
    const fault = left.shift() ?? null;
    return method === 'GET' && fault === 'slow' ? 'cut' : fault;
  };
  const customer = await billedCustomer(service, stripeId, { configuration: { invoice_layout: layout } });
  killers.forEach((killer, index) => {
    killer.begin(at[index as 0 | 1]);
  });
  const id = await customer.bill(...amounts);
  const world = { customer, id, payable: amounts.reduce((sum, amount) => sum + amount, 0) };
  for (const one of steps) await DO[one.does](world, one);
  await settle(world);
  stripe.misbehave = () => null;
  pay(world);
  await tell(world);
  await settle(world);
  await check(world, stripeId);
}

async function check(world: World, stripeId: string): Promise<void> {
  const standing = (await notesHere(world)).filter(({ status }) => status === 'ISSUED');
  const there = [...stripe.state.creditNotes.values()].filter((note) => note.customer === stripeId);
  const ids = (notes: readonly StandInNote[]) =>
    notes.map(({ metadata, total }) => `${metadata.tallyhouse_credit_note_id} ${total}`).sort();
  expect(ids(there)).toEqual(standing.map(({ id, subtotal }) => `${id} ${subtotal}`).sort());
  expect(standing.map((note) => note.external_credit_note)).toEqual(
    standing.map(({ subtotal }) => expect.objectContaining({ external_status: 'ISSUED', total: subtotal })),
  );
  const taken = [...stripe.state.invoices.values()]
    .filter((invoice) => invoice.customer === stripeId)
    .reduce((sum, { amountPaid }) => sum + amountPaid, 0);
  const sum = (of: (note: StandInNote) => number) => there.reduce((total, note) => total + of(note), 0);
  const credited = standing.reduce((total, { subtotal }) => total + subtotal, 0);
  const { balance } = stripe.state.customer(stripeId);
  expect(taken - sum(({ refund }) => refund) - sum(({ outOfBand }) => outOfBand) + balance).toBe(
    world.payable - credited,
  );
  // The amount out of band there is a credit here.
  expect(sum(({ outOfBand }) => outOfBand)).toBe(
    standing.reduce((total, note) => total + note.credit_balance_amount, 0),
  );
}

test('each credit note is at Stripe once, and the money there is the money billed without what is credited', async () => {
  await fc.assert(fc.asyncProperty(plan, checkPlan), { numRuns: RUNS, endOnFailure: true });
});
