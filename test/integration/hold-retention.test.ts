/** Old events are removed beside active holds: what is held, left and charged stays as it was, also after a start. */
import { expect, inject, test } from 'vitest';
import { removeOldEvents } from '../../src/billing/retention/remove-old-events.ts';
import { readMonthsBefore } from '../../src/metering/events/old-months.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db, clickhouse } = service;

async function use(customer_id: string, timestamp: string, tokens: number): Promise<void> {
  const event = { transaction_id: `${customer_id} ${timestamp}`, customer_id, event_type: 'use', timestamp };
  await api.post('/v1/ingest', [{ ...event, properties: { tokens } }]);
}

async function months(): Promise<number> {
  return (await readMonthsBefore(clickhouse, Date.UTC(2027, 2, 1))).length;
}

/** Months before the window go at once. */
async function removeOld(): Promise<void> {
  const removal = { months: 1, windowDays: 34, announcedMs: 0, cluster: inject('clickhouse')?.cluster };
  await removeOldEvents({ ...removal, db, clickhouse, clock: { now: () => Date.UTC(2027, 1, 20) } });
}

const dayOf = (month: string) => `${month}-05T10:30:00Z`;

test('a hold stays, and the next ones are judged as before, when the months before are removed and the service starts again', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  for (const [month, tokens] of Object.entries({
    '2026-11': 10,
    '2026-12': 20,
    '2027-01': 5,
    '2027-02': 7,
  })) {
    await service.moveClock(`${month}-10T00:00:00Z`);
    await use(customerId, dayOf(month), tokens);
  }
  await service.moveClock('2027-02-20T00:00:00Z');
  const day = { ttl_seconds: 86_400 };
  const held = await reserve(api, holder.hold('kept', 30, day), holder.hold('refused', 29, day));
  expect(held).toMatchObject([
    { granted: true, remaining: 28 },
    { granted: false, reason: 'balance', required: 29, remaining: 28 },
  ]);

  const before = await months();
  await removeOld();
  expect(await months()).toBeLessThan(before);
  // The invoices of these months keep what they took from the balance.
  expect(await holder.left()).toBe(58);
  const after = [
    { granted: true, hold_id: held[0]?.hold_id, remaining: 28 },
    { granted: false, reason: 'balance', required: 29, remaining: 28 },
  ];
  const ask = () => reserve(api, holder.hold('kept', 30, day), holder.hold('refused', 29, day));
  expect(await ask()).toMatchObject(after);
  await service.restart();
  expect(await ask()).toMatchObject(after);

  const settlements = [{ transaction_id: 'kept', properties: { tokens: 25 } }];
  const settled = (await api.post('/v1/holds/settle', { settlements })).list('data');
  expect(settled).toMatchObject([{ accepted: true, amount: 25, exceeded: 0 }]);
  expect(await holder.left()).toBe(33);
  expect(await reserve(api, holder.hold('last', 33), holder.hold('more', 1))).toMatchObject([
    { granted: true, remaining: 0 },
    { granted: false, reason: 'balance', remaining: 0 },
  ]);
});
