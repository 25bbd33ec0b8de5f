/**
 * The service on its embedded stores is killed (kill -9) after it has answered about holds, and in the middle: what was
 * answered is so after the next start, and what was not can be asked for again without counting twice.
 */
import { afterEach, expect, test } from 'vitest';
import { type BillingProcess, startBillingProcess } from '../support/billing-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { createTokenCard, HELD_NOW, HeldCustomer, release, settle } from '../support/held-customer.ts';

const CREDIT = 1000;

let running: BillingProcess | null = null;
afterEach(() => running?.kill());

async function startOn(directory: string): Promise<BillingProcess> {
  await running?.kill();
  running = await startBillingProcess(null, directory, HELD_NOW);
  return running;
}

test('a granted hold, a settled one and a released one survive kill -9, and each event is billed once', async () => {
  const directory = await createDataDirectory();
  const first = await startOn(directory);
  const customer = await HeldCustomer.create(first, await createTokenCard(first), CREDIT);
  const ids = Array.from({ length: 10 }, (_, index) => `hold ${index}`);
  const [settled = '', freed = '', ...others] = ids;
  const granted = await Promise.all(ids.map((id) => customer.reserve(first, [[id, 100]])));
  expect(granted.flat().every((one) => one.granted)).toBe(true);

  // Killed after the answers of reserve.
  const second = await startOn(directory);
  const kept = await customer.list(second);
  expect(kept.map(({ hold_id }) => hold_id).toSorted()).toEqual(
    granted
      .flat()
      .map(({ hold_id }) => hold_id)
      .toSorted(),
  );
  expect(kept.every(({ status }) => status === 'active')).toBe(true);
  expect(await customer.reserve(second, [['too much', 1]])).toMatchObject([{ granted: false, remaining: 0 }]);
  // The same request has the answer that it had.
  expect(await customer.reserve(second, [[settled, 100]])).toEqual(granted[0]);
  expect(await settle(second, [[settled, 70]])).toMatchObject([{ accepted: true, amount: 70 }]);
  expect(await release(second, [freed])).toMatchObject([{ transaction_id: freed }]);

  // Killed after the answers of settle and release.
  const third = await startOn(directory);
  expect(await settle(third, [[settled, 70]])).toMatchObject([{ accepted: false, amount: 70 }]);
  expect(await release(third, [freed])).toMatchObject([{ error: expect.stringContaining('no active hold') }]);
  expect(await customer.left(third)).toBe(CREDIT - 70);
  expect(await customer.reserve(third, [['more', 131]])).toMatchObject([{ granted: false, remaining: 130 }]);

  // Killed when the first of many answers is there: the others are anywhere.
  const [released = '', ...settling] = others;
  const asked = [
    ...settling.map((id) => settle(third, [[id, 50]])),
    release(third, [released]).then(() => undefined),
  ];
  const ends = Promise.allSettled(asked);
  await Promise.any(asked);
  third.program.child.kill('SIGKILL');
  await ends;
  const fourth = await startOn(directory);
  const repeated = await settle(
    fourth,
    settling.map((id) => [id, 50] as const),
  );
  expect(repeated.map(({ transaction_id }) => transaction_id)).toEqual(settling);
  await release(fourth, [released]);
  expect(await customer.left(fourth)).toBe(CREDIT - 70 - 50 * settling.length);
  const states = new Map((await customer.list(fourth)).map((one) => [one.transaction_id, one.status]));
  expect(states).toEqual(
    new Map([
      ...[settled, ...settling].map((id) => [id, 'settled'] as const),
      ...[freed, released].map((id) => [id, 'released'] as const),
    ]),
  );
  const room = CREDIT - 70 - 50 * settling.length;
  expect(await customer.reserve(fourth, [['all', room]])).toMatchObject([{ granted: true, remaining: 0 }]);
}, 180_000);
