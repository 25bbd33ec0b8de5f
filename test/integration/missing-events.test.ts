/** Customers whose events have stopped: who is listed, and from when until when. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createThresholdCatalogue, type ThresholdCatalogue } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-20T12:30:00Z' });
const { api } = service;

const WEEK = [13, 14, 15, 16, 17, 18, 19];
const at = (day: number, time = '12:00:00') => `2026-11-${String(day).padStart(2, '0')}T${time}Z`;

async function send(customer_id: string, timestamps: readonly string[]): Promise<void> {
  const events = timestamps.map((timestamp) => ({
    ...{ customer_id, timestamp, transaction_id: randomUUID(), event_type: 'use' },
    properties: { tokens: 5 },
  }));
  await api.post('/v1/ingest', events);
}

async function customer(catalogue: ThresholdCatalogue, name: string, terms: object | null = {}) {
  const ingest_aliases = [name, `${name}-2`];
  const customer_id = await createdId(api, '/v1/customers', { name, ingest_aliases });
  if (terms === null) return customer_id;
  const starting_at = '2026-10-01T00:00:00Z';
  await createdId(api, CONTRACTS, { customer_id, rate_card_id: catalogue.card, starting_at, ...terms });
  return customer_id;
}

async function listed(query: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const { list } = await api.get('/v1/events/missing', { query });
  return Object.fromEntries(
    list('data').map((one) => [Object(one).customer_name, Object(one).last_timestamp]),
  );
}

test('customers whose events came on each of seven days and then not for 24 hours are listed until they send again', async () => {
  const catalogue = await createThresholdCatalogue(api);
  const stopped = await customer(catalogue, 'stopped');
  await customer(catalogue, 'on two aliases');
  await customer(catalogue, 'with a gap');
  await customer(catalogue, 'still sends');
  await customer(catalogue, 'sends ahead');
  await customer(catalogue, 'never sent');
  await customer(catalogue, 'without a contract', null);
  await customer(catalogue, 'ended', { ending_before: '2026-11-20T00:00:00Z' });
  await customer(catalogue, 'without a card', { rate_card_id: undefined });
  const archived = await customer(catalogue, 'archived');
  const week = WEEK.map((day) => at(day));
  await send('stopped', week);
  await send(
    'on two aliases',
    week.filter((_, index) => index % 2 === 0),
  );
  await send(
    'on two aliases-2',
    week.filter((_, index) => index % 2 === 1),
  );
  await send(
    'with a gap',
    [...WEEK.slice(0, 3), ...WEEK.slice(4)].map((day) => at(day)),
  );
  await send('still sends', [...week, at(19, '12:30:01')]);
  await send('sends ahead', [...week, at(21)]);
  for (const name of ['without a contract', 'ended', 'without a card', 'archived']) await send(name, week);
  await api.post('/v1/customers/archive', { id: archived });

  const last = '2026-11-19T12:00:00.000Z';
  expect(await listed()).toEqual({ stopped: last, 'on two aliases': last });
  const first: ApiAnswer = await api.get('/v1/events/missing', { query: { limit: '1' } });
  expect(first.list('data')).toEqual([
    { customer_id: stopped, customer_name: 'stopped', last_timestamp: last },
  ]);
  expect(await listed({ limit: '1', next_page: first.text('next_page') })).toEqual({
    'on two aliases': last,
  });

  await service.moveClock('2026-11-22T12:00:00Z');
  expect(Object.keys(await listed())).toEqual(['stopped', 'on two aliases', 'still sends']);
  await send('stopped', [at(22)]);
  expect(Object.keys(await listed())).toEqual(['on two aliases', 'still sends']);
  await service.moveClock('2026-12-17T12:00:00Z');
  expect(Object.keys(await listed())).toEqual(['on two aliases', 'still sends']);
  await service.moveClock('2026-12-17T12:30:02Z');
  expect(await listed()).toEqual({});
});
