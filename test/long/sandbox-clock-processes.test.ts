/** Several processes on the same stores move the sandbox clock at the same time, and one of them is killed. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BillingProcess,
  createPayingCustomers,
  startBillingProcess,
} from '../support/billing-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { createTestDatabase, createTestDirectory, type TestDatabase } from '../support/stores.ts';

const CUSTOMERS = 12;
const ROUNDS = 12;
const MONTHS_PER_ROUND = 4;

let front: FrontProcess;
let database: TestDatabase;
/** The PostgreSQL of the run listens on a socket only; a URL needs a port. */
let gateway: StoreProxy;
let directory: string;
const services: BillingProcess[] = [];

beforeAll(async () => {
  directory = await createTestDirectory();
  front = await startFrontProcess({ directory: join(directory, 'front'), port: 0 });
  database = await createTestDatabase();
  if (!('socketDir' in database.connection)) throw new Error('the PostgreSQL of the run has a socket');
  gateway = await startStoreProxy({ path: join(database.connection.socketDir, '.s.PGSQL.5432') });
  for (const name of ['one', 'two', 'three']) services.push(await start(name));
  const [one] = services;
  if (one !== undefined) await createPayingCustomers(one, CUSTOMERS, '2026-11-01T00:00:00Z');
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.kill()));
  await gateway.close();
  await front.kill();
  await database.close();
});

function start(name: string): Promise<BillingProcess> {
  const { connection } = database;
  if (!('user' in connection)) throw new Error('the PostgreSQL of the run has a user');
  const stores = {
    postgres: `postgres://${connection.user}@127.0.0.1:${gateway.port}/${connection.database}`,
    clickhouse: frontUrl(front.port, 'billing'),
  };
  return startBillingProcess(stores, join(directory, name), '2026-11-10T00:00:00Z');
}

test('every answer is the time, and every invoice is issued once', async () => {
  const [one, two, third] = services;
  if (one === undefined || two === undefined || third === undefined) throw new Error('three processes');
  let killed: BillingProcess = third;
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
    const issued = await database.db.execute<{ count: number; contracts: number }>(sql`
      select count(*)::int as count, count(distinct contract_id)::int as contracts
      from invoices where period_end < ${now} group by period_start`);
    expect([...issued]).toEqual(
      Array.from({ length: round * MONTHS_PER_ROUND }, () => ({ count: CUSTOMERS, contracts: CUSTOMERS })),
    );
    killed = await start('three');
    services.push(killed);
  }
});
