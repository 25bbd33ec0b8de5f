/** Holds as rows: no write of a group spoils another's. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import type { Hold } from '../../src/core/hold.ts';
import { newId } from '../../src/core/ids.ts';
import { parseRfc3339 } from '../../src/core/time.ts';
import { rowsAsJson } from '../../src/store/base/insert-rows.ts';
import { holds as table } from '../../src/store/holds/holds.tables.ts';
import { ensureAccounts, findHolds, writeHolds } from '../../src/store/holds/holds.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();
const NOW = parseRfc3339('2026-11-10T12:30:00Z') ?? 0;
const NOTHING = { now: NOW, seen: [], grants: [], ends: [], extensions: [] };

async function createHolds(count: number, change: Partial<Hold> = {}): Promise<Hold[]> {
  const made = Array.from({ length: count }, (): Hold => {
    const id = newId();
    const event = { eventType: null, properties: null, timestamp: NOW, creditTypeId: newId() };
    const amounts = { amount: decimal('1'), remaining: null, settledAmount: null };
    const times = { createdAt: NOW, expiresAt: NOW + 60_000, endedAt: null, payers: null };
    const names = { customerId: newId(), transactionId: id, contentHash: '' };
    return { id, ...names, ...event, ...amounts, ...times, status: 'active', ...change };
  });
  const customerIds = made.map(({ customerId }) => customerId);
  await db.execute(sql`
    insert into customers (id, name, created_at, updated_at)
    select id, 'Held', now(), now() from unnest(${`{${customerIds.join(',')}}`}::uuid[]) id`);
  await ensureAccounts(db, customerIds);
  await insert(made);
  return made;
}

async function insert(rows: readonly Hold[]): Promise<void> {
  for (const json of rowsAsJson(table, rows))
    await db.execute(
      sql`insert into holds select * from json_populate_recordset(null::holds, ${json}::json)`,
    );
}

test('an expired hold whose place another has taken is not settled, and the other writes are carried out', async () => {
  const [expired] = await createHolds(1, { status: 'expired', transactionId: 'replaced' });
  await createHolds(1, { transactionId: 'replaced' });
  const [neighbour] = await createHolds(1);
  const ids = [expired, neighbour].map((hold) => hold?.id ?? '');
  const ends = ids.map((id) => ({ id, status: 'settled' as const, settledAmount: null }));
  const written = await writeHolds(db, { ...NOTHING, ends });
  expect([...written.ids]).toEqual([neighbour?.id]);
});

test('an amount that becomes known later is recorded, and one that is known stays', async () => {
  const [hold] = await createHolds(1);
  const settle = (amount: string | null) =>
    writeHolds(db, {
      ...NOTHING,
      ends: [
        { id: hold?.id ?? '', status: 'settled', settledAmount: amount === null ? null : decimal(amount) },
      ],
    });
  const known = async () => (await findHolds(db, { ids: [hold?.id ?? ''] }))[0]?.settledAmount?.toFixed();
  expect((await settle(null)).ids.size).toBe(1);
  expect((await settle('5')).ids.size).toBe(1);
  expect(await known()).toBe('5');
  expect((await settle('7')).ids.size).toBe(0);
  expect((await settle(null)).ids.size).toBe(0);
  expect(await known()).toBe('5');
});
