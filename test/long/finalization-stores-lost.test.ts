/**
 * A service on stores by URL loses the connection to one of them at any step of an invoice run, or has to wait for an
 * answer: it continues, and every invoice is issued once.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BillingProcess,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type Direction, type Ending, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { createTestDatabase, createTestDirectory, type TestDatabase } from '../support/stores.ts';

const CUSTOMERS = 3;

let front: FrontProcess;
let database: TestDatabase;
let proxies: Record<'PostgreSQL' | 'ClickHouse', StoreProxy>;
let service: BillingProcess;
/** Months that have ended since November 2026. */
let months = 0;

beforeAll(async () => {
  const directory = await createTestDirectory();
  front = await startFrontProcess({ directory: join(directory, 'front'), port: 0 });
  database = await createTestDatabase();
  const { connection } = database;
  if (!('socketDir' in connection)) throw new Error('the PostgreSQL of the run has a socket');
  proxies = {
    PostgreSQL: await startStoreProxy({ path: join(connection.socketDir, '.s.PGSQL.5432') }),
    ClickHouse: await startStoreProxy({ port: front.port, host: '127.0.0.1' }),
  };
  const { user, database: name } = connection;
  const stores = {
    postgres: `postgres://${user}@127.0.0.1:${proxies.PostgreSQL.port}/${name}`,
    clickhouse: frontUrl(proxies.ClickHouse.port, 'billing'),
  };
  service = await startBillingProcess(stores, join(directory, 'service'), '2026-11-10T00:00:00Z');
  await createPayingCustomers(service, CUSTOMERS, '2026-11-01T00:00:00Z');
}, 60_000);

afterAll(async () => {
  await service.kill();
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
  await front.kill();
  await database.close();
});

/** The end of the next month and of its grace period. */
function nextMonth(): string {
  months += 1;
  return new Date(Date.UTC(2026, 10 + months, 2)).toISOString();
}

/** Waits for it: nobody has to ask for what failed to be done again. */
async function expectEveryInvoiceOnce(): Promise<void> {
  const perMonth = async () => {
    const rows = await database.db.execute<{ count: number; total: string }>(sql`
      select count(*)::int as count, sum(total)::text as total
      from invoices group by period_start order by period_start`);
    return rows.map(({ count, total }) => `${count} invoices: ${total}`);
  };
  const later = Array<string>(months - 1).fill(`${CUSTOMERS} invoices: 0`);
  await expect
    .poll(perMonth, { timeout: 30_000, interval: 100 })
    .toEqual([`${CUSTOMERS} invoices: ${2 * CUSTOMERS}`, ...later]);
}

test.each<['PostgreSQL' | 'ClickHouse', Direction, Ending, number]>([
  ['PostgreSQL', 'question', 'closed', 40],
  ['PostgreSQL', 'answer', 'reset', 40],
  ['ClickHouse', 'question', 'reset', 6],
  ['ClickHouse', 'answer', 'closed', 6],
])(
  '%s: cut at every %s, %s',
  async (store, direction, ending, steps) => {
    for (let after = 0; after < steps; after += 1) {
      const cut = proxies[store].cutAt({ direction, after, ending });
      await moveClock(service, nextMonth());
      await cut;
    }
    await expectEveryInvoiceOnce();
  },
  180_000,
);

test.each(['PostgreSQL', 'ClickHouse'] as const)(
  '%s is down for a while in the middle of a run',
  async (store) => {
    for (let wait = 0; wait < 5; wait += 1) {
      const run = moveClock(service, nextMonth());
      await pause(20 * wait);
      proxies[store].goDown('reset');
      await pause(300);
      proxies[store].goOn();
      await run;
    }
    await expectEveryInvoiceOnce();
  },
  120_000,
);

test.each(['PostgreSQL', 'ClickHouse'] as const)(
  '%s answers late',
  async (store) => {
    for (let wait = 0; wait < 3; wait += 1) {
      const run = moveClock(service, nextMonth());
      await pause(20 * wait);
      proxies[store].holdAnswers();
      await pause(2_000);
      proxies[store].goOn();
      await run;
    }
    await expectEveryInvoiceOnce();
  },
  120_000,
);
