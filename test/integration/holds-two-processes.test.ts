/**
 * Holds of one customer through two processes on a PostgreSQL and a ClickHouse by URL: whoever is asked, and whoever is
 * killed, what is held and what was used is never more than there is.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BillingProcess } from '../support/billing-process.ts';
import {
  answered,
  type Catalogue,
  createTokenCard,
  HELD_NOW,
  HeldCustomer,
  settle,
} from '../support/held-customer.ts';
import { HoldRounds, roundOfSteps } from '../support/hold-rounds.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const CREDIT = 1000;

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

test('whatever is asked of both at once, nothing is granted beyond what there is and every event counts once', async () => {
  const rounds = await HoldRounds.create(one, catalogue);
  for (let round = 0; round < 3; round += 1) await rounds.round(roundOfSteps(), () => [one, two]);
  await rounds.topUp(two, 100);
  await rounds.round(roundOfSteps(), () => [one, two]);
  await rounds.end(one);
});
