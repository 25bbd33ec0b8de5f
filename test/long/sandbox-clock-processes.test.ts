/** Several processes on the same stores move the sandbox clock at the same time, and one of them is killed. */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPayingCustomers } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const CUSTOMERS = 12;
const ROUNDS = 12;
const MONTHS_PER_ROUND = 4;

let stores: SharedStores;

beforeAll(async () => {
  stores = await createSharedStores('2026-11-10T00:00:00Z');
});
afterAll(() => stores.close());

test('every answer is the time, and every invoice is issued once', async () => {
  const [one, two] = [await stores.start('one'), await stores.start('two')];
  let killed = await stores.start('three');
  await createPayingCustomers(one, CUSTOMERS, '2026-11-01T00:00:00Z');
  for (let round = 1; round <= ROUNDS; round += 1) {
    const now = new Date(Date.UTC(2026, 10 + round * MONTHS_PER_ROUND, 2)).toISOString();
    const moves = [one, two].map((service) => service.call('/v1/sandbox/clock', { now }));
    const interrupted = killed.call('/v1/sandbox/clock', { now }).catch(() => undefined);
    await pause(200 * round);
    await killed.kill();
    await interrupted;
    expect(await Promise.all(moves)).toMatchObject(
      moves.map(() => ({ status: 200, body: JSON.stringify({ data: { now } }) })),
    );
    const issued = await stores.database.db.execute<{ count: number; contracts: number }>(sql`
      select count(*)::int as count, count(distinct contract_id)::int as contracts
      from invoices where period_end < ${now} group by period_start`);
    expect([...issued]).toEqual(
      Array.from({ length: round * MONTHS_PER_ROUND }, () => ({ count: CUSTOMERS, contracts: CUSTOMERS })),
    );
    killed = await stores.start('three');
  }
});
