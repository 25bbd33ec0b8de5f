/**
 * The figures that the service reports of itself: events ingested, jobs that fail, and the amounts of invoices by day.
 */
import Big from 'big.js';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { databaseIdentity } from '../../src/store/service/database-identity.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createTestDatabase } from '../support/stores.ts';

let service: TestService;
let customer = '';
const NOW = '2026-11-10T00:00:00Z';

beforeAll(async () => {
  service = await startTestService({ sandboxNow: NOW });
  customer = (await service.api.post('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] })).text(
    'data.id',
  );
  const metric = (
    await service.api.post('/v1/billable-metrics/create', {
      name: 'Tokens',
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      property_filters: [{ name: 'tokens', exists: true }],
    })
  ).text('data.id');
  const product = (
    await service.api.post('/v1/contract-pricing/products/create', {
      name: 'Tokens',
      type: 'USAGE',
      billable_metric_id: metric,
    })
  ).text('data.id');
  const card = (await service.api.post('/v1/contract-pricing/rate-cards/create', { name: 'List' })).text(
    'data.id',
  );
  await service.api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: card,
    product_id: product,
    entitled: true,
    starting_at: '2026-01-01T00:00:00Z',
    rate_type: 'FLAT',
    price: 0.3,
  });
  await service.api.post('/v1/contracts/create', {
    customer_id: customer,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
  });
});
afterAll(() => service.close());

const event = (id: string, timestamp: string, tokens: string) => ({
  transaction_id: id,
  customer_id: 'acme',
  event_type: 'completion',
  timestamp,
  properties: { tokens },
});

it('the service tells when the last event came and how many did lately', async () => {
  const before = await service.api.get('/v1/system/status');
  expect(before.at('data.events.last_at')).toBeNull();
  await service.api.post('/v1/ingest', [event('1', '2026-11-09T00:00:00Z', '0.1'), event('2', NOW, '7')]);
  const status = await service.api.get('/v1/system/status');
  expect(status.at('data.events')).toMatchObject({ last_minute: 2, last_day: 2, window_days: 34 });
  expect(Date.parse(status.text('data.events.last_at'))).toBeGreaterThanOrEqual(Date.parse(NOW));
});

it('the revenue by day is the sum of drafts and invoices, to the last digit', async () => {
  const range = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
  const revenue = await service.api.get('/v1/revenue', { query: range });
  const days = revenue.list('data[0].days') as { start_timestamp: string; total: unknown }[];
  expect(days.map((day) => [day.start_timestamp, String(day.total)])).toEqual([
    ['2026-11-09T00:00:00.000Z', '0.03'],
    ['2026-11-10T00:00:00.000Z', '2.1'],
  ]);
  const drafts = await service.api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'DRAFT' } });
  const total = days.reduce((all, day) => all.plus(String(day.total)), new Big(0));
  expect(drafts.digits('data[0].total')).toBe(total.toFixed());
  const none = await service.api.get('/v1/revenue', {
    query: { ...range, customer_id: crypto.randomUUID() },
  });
  expect(none.at('data')).toEqual([]);
  const refused = await service.api.send('GET', '/v1/revenue', undefined, {
    query: { ...range, ending_before: '2026-12-03T00:00:00Z' },
  });
  expect([refused.status, refused.at('message')]).toEqual([
    400,
    'ending_before: must be at most 31 days after starting_on',
  ]);
});

it('readiness says which database the service has: the same for every connection, another one for another database', async () => {
  const other = await createTestDatabase();
  onTestFinished(() => other.close());
  const shown = (await service.api.get('/readyz')).text('data_id');
  expect(shown).toMatch(/^[0-9a-f]{16}$/);
  expect(await databaseIdentity(service.db)).toBe(shown);
  const others = await databaseIdentity(other.db);
  expect(others).toMatch(/^[0-9a-f]{16}$/);
  expect(others).not.toBe(shown);
});

it('the service lists jobs that have failed with their reason, and tries one again at once', async () => {
  const contract = await service.db.execute('select id from contracts limit 1');
  const inserted = await service.db.execute(
    `insert into jobs (kind, key, subject, run_at, payload, attempts, retry_at, last_error)
     values ('unknown_kind', 'one', '${contract[0]?.id}', '2026-11-01', '{}', 3, now() + interval '1 hour', 'no such thing')
     returning id`,
  );
  const id = Number(inserted[0]?.id);
  const failed = await service.api.get('/v1/system/failedJobs');
  expect(failed.at('data[0]')).toMatchObject({
    id,
    kind: 'unknown_kind',
    customer_id: customer,
    attempts: 3,
    last_error: 'no such thing',
  });
  expect((await service.api.get('/v1/system/status')).list('data.jobs')).toContainEqual({
    kind: 'unknown_kind',
    due: 1,
    overdue: 1,
    failing: 1,
    oldest_failing: '2026-11-01T00:00:00.000Z',
  });
  await service.api.post('/v1/system/retryJob', { id });
  const rows = await service.db.execute(`select retry_at < now() as now from jobs where id = ${id}`);
  expect(rows[0]?.now).toBe(true);
  await service.db.execute(`delete from jobs where id = ${id}`);
  const gone = await service.api.send('POST', '/v1/system/retryJob', { id });
  expect(gone.status).toBe(404);
});
