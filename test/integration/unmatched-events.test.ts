/** Events that belong to nobody: where they are seen, and that they have an owner as soon as a customer has their name. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder } from '../support/holds.ts';
import { until } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z', unmatchedEveryMs: 200 });
const { api } = service;
const UNMATCHED = '/v1/events/unmatched';

async function send(customer_id: string, timestamps: readonly string[]): Promise<void> {
  const events = timestamps.map((timestamp) => ({
    ...{ customer_id, timestamp, transaction_id: randomUUID(), event_type: 'use' },
    properties: { tokens: 5 },
  }));
  // The second time they are duplicates, which count once.
  for (let time = 0; time < 2; time += 1) await api.post('/v1/ingest', events);
}

const list = async (query: Record<string, string> = {}) => (await api.get(UNMATCHED, { query })).list('data');

async function figures(): Promise<Record<string, number>> {
  const text = await (await fetch(new URL('/metrics', service.url))).text();
  const found = text.matchAll(/^(tallyhouse_unmatched_\w+) (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]));
}

test('events of ids that no customer has are listed and counted until a customer has the alias, and are then billed', async () => {
  const { customerId, left } = await createHolder(api, 100);
  const archived = await createdId(api, '/v1/customers', { name: 'Gone', ingest_aliases: ['gone'] });
  const stranger = randomUUID();
  await send(customerId, ['2026-11-10T11:00:00Z', '2026-11-10T12:00:00Z']);
  await send('lost-b', ['2026-11-09T01:00:00Z']);
  await send('lost-a', ['2026-11-02T00:00:00Z', '2026-11-08T00:00:00.5Z', '2026-11-05T00:00:00Z']);
  await send(stranger, ['2026-10-20T00:00:00Z']);
  await send('gone', ['2026-11-03T00:00:00Z']);
  await api.post('/v1/customers/archive', { id: archived });
  const ofB = {
    customer_id: 'lost-b',
    events: 1,
    first_timestamp: '2026-11-09T01:00:00.000Z',
    last_timestamp: '2026-11-09T01:00:00.000Z',
  };
  const ofStranger = expect.objectContaining({ customer_id: stranger, events: 1 });
  const all = await list();
  expect(all).toHaveLength(3);
  expect(all).toEqual(
    expect.arrayContaining([
      {
        customer_id: 'lost-a',
        events: 3,
        first_timestamp: '2026-11-02T00:00:00.000Z',
        last_timestamp: '2026-11-08T00:00:00.500Z',
      },
      ofB,
      ofStranger,
    ]),
  );
  const paged: unknown[] = [];
  for (let next_page: string | null = '', pages = 0; next_page !== null && pages < 9; pages += 1) {
    const query = { limit: '1', ...(next_page === '' ? {} : { next_page }) };
    const page: ApiAnswer = await api.get(UNMATCHED, { query });
    paged.push(...page.list('data'));
    next_page = page.at('next_page') as string | null;
  }
  expect(paged).toEqual(all);
  const counted = { tallyhouse_unmatched_customers: 3, tallyhouse_unmatched_events: 5 };
  expect(await until(figures, (now) => now.tallyhouse_unmatched_events === 5)).toEqual(counted);

  await api.post(`/v1/customers/${customerId}/setIngestAliases`, { ingest_aliases: ['lost-a'] });
  expect(await left()).toBe(75);
  expect(await list()).toEqual([expect.anything(), expect.anything()]);
  expect(await list()).toEqual(expect.arrayContaining([ofB, ofStranger]));
  expect(await until(figures, (now) => now.tallyhouse_unmatched_events === 2)).toEqual({
    tallyhouse_unmatched_customers: 2,
    tallyhouse_unmatched_events: 2,
  });
});

test('events of nobody are listed for a range of 35 days at most', async () => {
  await send('ranged', ['2026-10-15T00:00:00Z', '2026-11-01T00:00:00Z']);
  const of = async (query: Record<string, string>) =>
    (await list(query))
      .filter((one) => Object(one).customer_id === 'ranged')
      .map((one) => Object(one).events);
  expect(await of({})).toEqual([2]);
  expect(await of({ starting_on: '2026-11-01T00:00:00Z' })).toEqual([1]);
  expect(await of({ ending_before: '2026-11-01T00:00:00Z' })).toEqual([1]);
  expect(await of({ starting_on: '2026-09-01T00:00:00Z' })).toEqual([]);
  expect(await of({ starting_on: '2026-10-15T00:00:00Z', ending_before: '2026-11-19T00:00:00Z' })).toEqual([
    2,
  ]);
  for (const query of [
    { starting_on: '2026-10-15T00:00:00Z', ending_before: '2026-11-19T00:00:00.001Z' },
    { starting_on: '2026-10-15T00:00:00Z', ending_before: '2026-10-15T00:00:00Z' },
  ]) {
    const refused = await api.send('GET', UNMATCHED, undefined, { query });
    expect(refused.status).toBe(400);
    expect(refused.text('message')).toContain('ending_before');
  }
});
