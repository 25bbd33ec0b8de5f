/**
 * Holds of one customer through two processes on a PostgreSQL and a ClickHouse by URL: whoever is asked, and whoever is
 * killed, what is held and what was used is never more than there is.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BillingProcess, moveClock } from '../support/billing-process.ts';
import {
  answered,
  type Catalogue,
  createTokenCard,
  creditOf,
  FIRST_CREDIT,
  HELD_EXPIRY,
  HELD_NOW,
  HeldCustomer,
  type ReserveAnswer,
  release,
  settle,
} from '../support/held-customer.ts';
import { anyBeside, HoldRounds, roundOfSteps } from '../support/hold-rounds.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const CREDIT = 1000;
const ATTEMPTS_MAX = 20;

let stores: SharedStores;
let one: BillingProcess;
let two: BillingProcess;
let catalogue: Catalogue;

beforeAll(async () => {
  stores = await createSharedStores(HELD_NOW);
  [one, two] = await Promise.all([stores.start('one'), stores.start('two')]);
  catalogue = await createTokenCard(one);
});
afterAll(() => stores.close());

function eventOf({ customerId }: HeldCustomer, transaction_id: string, tokens: number): object {
  const event = { customer_id: customerId, event_type: 'use', timestamp: HELD_NOW };
  return { transaction_id, ...event, properties: { tokens } };
}

async function ingest(service: BillingProcess, ...events: readonly object[]): Promise<void> {
  expect(await service.call('/v1/ingest', events)).toMatchObject({ status: 200 });
}

test('many requests at once through both are granted what there is, and nothing beyond it', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      customer.reserve(index % 2 === 0 ? one : two, [[`${customer.customerId} ${index}`, 30]]),
    ),
  );
  expect(answers.flat().filter(({ granted }) => granted)).toHaveLength(33);
  const refused = answers.flat().find(({ granted }) => !granted);
  expect(refused).toMatchObject({ reason: 'balance', required: 30, remaining: 10 });
  expect(await customer.list(two)).toHaveLength(33);
});

test('a hold is settled through the other process, for what its event costs', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const id = `${customer.customerId} other`;
  // The other process has seen the customer before the hold exists.
  await customer.reserve(two, [[`${id} first`, 1]]);
  await customer.reserve(one, [[id, 500]]);
  expect(await settle(two, [[id, 200]])).toMatchObject([{ accepted: true, amount: 200 }]);
  expect(await settle(one, [[id, 200]])).toMatchObject([{ accepted: false, amount: 200 }]);
  expect(await customer.reserve(one, [[`${id} rest`, 800]])).toMatchObject([
    { granted: false, remaining: 799 },
  ]);
  expect(await customer.left(one)).toBe(800);
});

test('usage that arrives through the other process counts for the next request after its answer', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const id = `${customer.customerId} usage`;
  await customer.reserve(one, [[`${id} first`, 100]]);
  await ingest(two, eventOf(customer, `${id} used`, 850));
  expect(await customer.reserve(one, [[`${id} second`, 51]])).toMatchObject([
    { granted: false, remaining: 50 },
  ]);
  expect(await customer.reserve(one, [[`${id} third`, 50]])).toMatchObject([{ granted: true, remaining: 0 }]);
});

test('the event of a hold settles it, also where it arrives through the other process', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const id = `${customer.customerId} ingested`;
  await customer.reserve(one, [[id, 600]]);
  await ingest(two, eventOf(customer, id, 400));
  await expect.poll(() => customer.list(one)).toMatchObject([{ transaction_id: id, status: 'settled' }]);
  expect(await customer.reserve(one, [[`${id} rest`, 600]])).toMatchObject([{ granted: true, remaining: 0 }]);
});

test('after a process is killed while both grant, its grants are there and nothing is held beyond the credit', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const three = await stores.start('three');
  const asked = Array.from({ length: 40 }, async (_, index) => {
    const hold = [[`${customer.customerId} ${index}`, 45]] as const;
    const [answer] = await customer.reserve(index % 2 === 0 ? one : three, hold);
    return { id: hold[0][0], granted: answer?.granted === true };
  });
  await Promise.any(asked.filter((_, index) => index % 2 === 1));
  three.program.child.kill('SIGKILL');
  const ended = await Promise.allSettled(asked);
  const granted = ended.flatMap((end) =>
    end.status === 'fulfilled' && end.value.granted ? [end.value.id] : [],
  );
  const active = await answered<readonly { transaction_id: string; amount: number }[]>(
    two,
    `/v1/holds?customer_id=${customer.customerId}&status=active&limit=100`,
  );
  expect(active.map(({ transaction_id }) => transaction_id)).toEqual(expect.arrayContaining(granted));
  expect(active.length).toBeLessThanOrEqual(22);
  const held = 45 * active.length;
  expect(await customer.reserve(two, [['beyond', CREDIT - held + 1]])).toMatchObject([
    { granted: false, remaining: CREDIT - held },
  ]);
});

/** Requests for so many tokens each, through both at once. */
async function askBoth(customer: HeldCustomer, count: number, tokens: number): Promise<ReserveAnswer[]> {
  const name = `${customer.customerId} ${Math.random()}`;
  const ask = async (index: number): Promise<ReserveAnswer[]> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await customer.reserve(index % 2 === 0 ? one : two, [[`${name} ${index}`, tokens]]);
      } catch (error) {
        // Among many changes at once: try again in a moment.
        if (attempt === ATTEMPTS_MAX || !String(error).includes('answered 503')) throw error;
      }
    }
  };
  return (await Promise.all(Array.from({ length: count }, (_, index) => ask(index)))).flat();
}

const grantedOf = (answers: readonly ReserveAnswer[]) => answers.filter(({ granted }) => granted).length;

async function heldBy(customer: HeldCustomer): Promise<number> {
  const path = `/v1/holds?customer_id=${customer.customerId}&status=active&limit=100`;
  const rows = await answered<readonly { amount: number }[]>(two, path);
  return rows.reduce((sum, { amount }) => sum + amount, 0);
}

/** Neither grants more than so much, and both all of it. */
async function expectRoom(customer: HeldCustomer, room: number): Promise<void> {
  for (const service of [one, two]) {
    expect(await customer.reserve(service, [[`${customer.customerId} beyond`, room + 1]])).toMatchObject([
      { granted: false, remaining: room },
    ]);
  }
  expect(await customer.reserve(two, [[`${customer.customerId} rest`, room]])).toMatchObject([
    { granted: true, remaining: 0 },
  ]);
}

test('a credit that is lowered through one, while both grant, holds no more than it has from then on', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  await askBoth(customer, 2, 1);
  const [answers] = await Promise.all([
    askBoth(customer, 30, 20),
    customer.editCredit(one, FIRST_CREDIT, { amount: 500 }),
  ]);
  const held = await heldBy(customer);
  expect(held).toBe(2 + 20 * grantedOf(answers));
  expect(held).toBeLessThanOrEqual(CREDIT);
  const after = await askBoth(customer, 10, 60);
  expect(held + 60 * grantedOf(after)).toBeLessThanOrEqual(Math.max(500, held));
  await customer.editCredit(two, FIRST_CREDIT, { amount: 700 });
  await expectRoom(customer, Math.max(0, 700 - held - 60 * grantedOf(after)));
});

test('a credit that is shortened through one pays for no usage after its end that the other is asked for', async () => {
  // Without a balance at that time the limit judges.
  const customer = await HeldCustomer.create(one, catalogue, CREDIT, { spend_limit: { amount: 0 } });
  const late = (id: string, tokens: number) => ({
    event: { event_type: 'use', properties: { tokens }, timestamp: HELD_EXPIRY },
    id: `${customer.customerId} ${id}`,
  });
  const ask = (service: BillingProcess, { id, event }: ReturnType<typeof late>) =>
    customer.reserve(service, [[id, 1]], { event });
  expect(await ask(two, late('first', 100))).toMatchObject([{ granted: true, remaining: 900 }]);
  await customer.editCredit(one, FIRST_CREDIT, { ending_before: HELD_EXPIRY });
  expect(await ask(two, late('second', 1))).toMatchObject([{ granted: false, reason: 'spend_limit' }]);
  expect(await customer.reserve(two, [[`${customer.customerId} now`, 1000]])).toMatchObject([
    { granted: true },
  ]);
});

test('after a contract is archived through one, neither grants, and what was held is still its event once', async () => {
  const customer = await HeldCustomer.create(one, catalogue, CREDIT);
  const { customerId: customer_id, contractId: contract_id } = customer;
  await customer.reserve(two, [[`${customer_id} before`, 10]]);
  const archived = answered(one, '/v1/contracts/archive', { customer_id, contract_id, void_invoices: true });
  const [answers] = await Promise.all([askBoth(customer, 20, 10), archived]);
  expect(10 + 10 * grantedOf(answers)).toBe(await heldBy(customer));
  for (const service of [one, two]) {
    const [after] = await customer.reserve(service, [[`${customer_id} after`, 1]]);
    expect(after).toMatchObject({ granted: false, reason: 'unpriced' });
  }
  expect(await settle(two, [[`${customer_id} before`, 7]])).toMatchObject([{ accepted: true }]);
  expect(await settle(one, [[`${customer_id} before`, 7]])).toMatchObject([{ accepted: false }]);
});

test('a spend limit that is changed while both grant is kept by both from then on', async () => {
  const customer = await HeldCustomer.create(one, catalogue, 0, { spend_limit: { amount: 1000 } });
  await askBoth(customer, 2, 1);
  const [answers] = await Promise.all([
    askBoth(customer, 30, 20),
    customer.edit(two, { spend_limit: { amount: 400 } }),
  ]);
  const held = 2 + 20 * grantedOf(answers);
  expect(held).toBe(await heldBy(customer));
  expect(held).toBeLessThanOrEqual(1000);
  expect(grantedOf(await askBoth(customer, 4, Math.max(1, 401 - held)))).toBe(0);
  await customer.edit(one, { spend_limit: { amount: 900 } });
  await expectRoom(customer, 900 - held);
});

test.each([true, false])(
  'beside holds through both, count_holds %s, a balance is recharged as it says, and no more is held than there is',
  async (count_holds) => {
    const customer = await HeldCustomer.create(one, catalogue, 2900, {
      prepaid_balance_threshold_configuration: {
        ...{ is_enabled: true, threshold_amount: 1000, recharge_to_amount: 5000, count_holds },
        commit: { product_id: catalogue.fee },
        payment_gate_config: { payment_gate_type: 'NONE' },
      },
    });
    const bought = async () => {
      const { customerId: customer_id, contractId: contract_id } = customer;
      const contract = { customer_id, contract_id };
      const { commits = [] } = await answered<{ commits?: readonly Bought[] }>(
        one,
        '/v2/contracts/get',
        contract,
      );
      return commits.map(({ access_schedule }) => access_schedule.schedule_items[0]?.amount ?? 0);
    };
    const first = await askBoth(customer, 30, 90);
    expect(grantedOf(first)).toBe(30);
    if (count_holds) await expect.poll(bought, { timeout: 60_000 }).toEqual([2100]);
    const second = await askBoth(customer, 40, 90);
    // Everything of both is evaluated.
    await Promise.all([one, two].map((service) => moveClock(service, HELD_NOW)));
    expect(await bought()).toEqual(count_holds ? [2100] : []);
    expect(grantedOf(second)).toBe(count_holds ? 25 : 2);
    const [held] = await customer.list(one);
    await release(two, [held?.transaction_id ?? '']);
    await Promise.all([one, two].map((service) => moveClock(service, HELD_NOW)));
    expect(await bought()).toEqual(count_holds ? [2100] : []);
  },
);

interface Bought {
  readonly access_schedule: { readonly schedule_items: readonly { readonly amount: number }[] };
}

test('whatever is asked of both at once and whatever changes, nothing is granted beyond what there is and every event counts once', async () => {
  const rounds = await HoldRounds.create(one, catalogue);
  const both = () => [one, two];
  await rounds.round(roundOfSteps(), both);
  await rounds.round(roundOfSteps(), both, { kind: 'top-up', amount: 300, expires: true });
  for (let round = 0; round < 2; round += 1) await rounds.round(roundOfSteps(), both, anyBeside());
  await rounds.round(roundOfSteps(), both, { kind: 'clock', now: HELD_EXPIRY });
  await rounds.end(one);
});

// The clock of all tests before has stood still until here.
test('a balance that expires while both grant is held by earlier usage only', async () => {
  const now = '2026-11-10T14:30:00Z';
  const expiry = '2026-11-10T15:00:00Z';
  await Promise.all([one, two].map((service) => moveClock(service, now)));
  const customer = await HeldCustomer.create(one, catalogue, 400);
  await customer.edit(two, { add_credits: [creditOf(catalogue, 600, { ending_before: expiry })] });
  await askBoth(customer, 2, 10);
  const [answers] = await Promise.all([
    askBoth(customer, 40, 20),
    moveClock(one, expiry),
    moveClock(two, expiry),
  ]);
  // A hold has the time of its request, by the clock of the process that was asked.
  const rows = await stores.database.db.execute<{ early: number; late: number }>(sql`
    select coalesce(sum(amount) filter (where timestamp < ${expiry}), 0)::int as early,
      coalesce(sum(amount) filter (where timestamp >= ${expiry}), 0)::int as late
    from holds where customer_id = ${customer.customerId}`);
  const { early, late } = rows[0] ?? { early: 0, late: 0 };
  expect(early + late).toBe(20 + 20 * grantedOf(answers));
  const lasting = 400 - Math.max(0, early - 600);
  expect(late).toBeLessThanOrEqual(lasting);
  await expectRoom(customer, lasting - late);
});
