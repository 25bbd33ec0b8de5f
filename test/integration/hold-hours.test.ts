/**
 * A customer that is asked for is evaluated for the next hour before it begins (docs/explanation/holds.md, "Before it
 * is needed"), and what was held and used meanwhile counts in it.
 */
import { expect, test } from 'vitest';
import { formatInstant, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, createLimited, reserve } from '../support/holds.ts';

const BALANCE = 10_000;
const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

async function figure(name: string): Promise<number> {
  const text = String((await api.get('/metrics')).body);
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}

const evaluations = () => figure('tallyhouse_hold_evaluation_seconds_count');

/** Moves the clock to the last minutes of an hour, and waits until so many customers are evaluated for the next one. */
async function prepared(hour: number, customers: number, request: () => Promise<unknown>): Promise<void> {
  await service.moveClock(formatInstant(hour - 5 * MINUTE_MS));
  await request();
  const ahead = () => figure('tallyhouse_hold_families{state="ahead"}');
  await expect.poll(ahead, { timeout: 20_000 }).toBe(customers);
}

test('in a new hour a customer is answered without an evaluation, with all that was held and used before it', async () => {
  const holder = await createHolder(api, BALANCE);
  const ttl = { ttl_seconds: 86_400 };
  let left = BALANCE;
  let count = 0;
  const hold = async (tokens: number) => {
    count += 1;
    const transaction_id = `${holder.customerId} ${count}`;
    left -= tokens;
    const answer = await reserve(api, holder.hold(transaction_id, tokens, ttl));
    expect(answer).toMatchObject([{ granted: true, remaining: left }]);
    return transaction_id;
  };
  const settle = async (transaction_id: string, held: number, tokens: number) => {
    left += held - tokens;
    await api.post('/v1/holds/settle', { settlements: [{ transaction_id, properties: { tokens } }] });
  };
  const held = await hold(100);
  const given = await hold(50);
  for (let round = 1; round <= 3; round += 1) {
    const hour = Date.parse('2026-11-10T13:00:00Z') + (round - 1) * HOUR_MS;
    await prepared(hour, 1, () => hold(1));
    // After the evaluation for the next hour.
    const more = await hold(30);
    await holder.use(7, formatInstant(hour - 20 * MINUTE_MS));
    left -= 7;
    if (round === 2) await settle(held, 100, 60);
    if (round === 2) await api.post('/v1/holds/release', { holds: [{ transaction_id: given }] });
    if (round === 2) left += 50;
    await settle(more, 30, 20);
    const before = await evaluations();
    await service.moveClock(formatInstant(hour));
    await hold(3);
    expect(await evaluations()).toBe(before);
  }
  // An evaluation finds the same.
  await service.restart();
  await hold(0);
});

test('a change after the evaluation for the next hour counts in it', async () => {
  const holder = await createHolder(api, 100);
  await reserve(api, holder.hold(`${holder.customerId} 1`, 10));
  const hour = Date.parse('2026-11-10T16:00:00Z');
  // The customer of the test before is evaluated as well.
  await prepared(hour, 2, () =>
    reserve(api, holder.hold(`${holder.customerId} 2`, 10, { ttl_seconds: 7_200 })),
  );
  const schedule_items = [
    { amount: 40, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
  ];
  await holder.edit({
    add_credits: [{ product_id: holder.catalogue.fee, priority: 2, access_schedule: { schedule_items } }],
  });
  await service.moveClock(formatInstant(hour));
  expect(await reserve(api, holder.hold(`${holder.customerId} 3`, 131))).toMatchObject([
    { granted: false, remaining: 130 },
  ]);
});

test('in the first hour of a billing period its limit is whole, and its usage has a price', async () => {
  const limited = await createLimited(api, { spend_limit: { amount: 100 } });
  const hour = Date.parse('2026-12-01T00:00:00Z');
  await service.moveClock(formatInstant(hour - 30 * MINUTE_MS));
  await reserve(api, limited.hold(`${limited.customerId} 1`, 90));
  await prepared(hour, 1, () => reserve(api, limited.hold(`${limited.customerId} 2`, 5)));
  await service.moveClock(formatInstant(hour));
  expect(await reserve(api, limited.hold(`${limited.customerId} 3`, 40))).toMatchObject([
    { granted: true, remaining: 60 },
  ]);
});
