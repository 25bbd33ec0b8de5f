/**
 * A read of one customer's usage waits for events of this customer, and not for those that others have just sent. It
 * would otherwise wait for a block of their events with each query, and make ClickHouse write a small part for it.
 */
import { expect, test, vi } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createMeteredCard, createMeteredCustomer, jobEvent, sendJobs } from '../support/metered-company.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, blocks } = service;
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

const card = await createMeteredCard(api);
const { customerId, alias } = await createMeteredCustomer(api, card);
const fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
const metric = await createdId(api, '/v1/billable-metrics/create', {
  name: 'Counted',
  sql: "SELECT count(*) AS value FROM events WHERE event_type = 'job'",
});
await api.post('/v1/contracts/customerCommits/create', {
  customer_id: customerId,
  type: 'PREPAID',
  product_id: fee,
  priority: 1,
  access_schedule: {
    schedule_items: [
      { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' },
    ],
  },
});
const work = { model: 'small', amount: '2', user: 'ada', team: 'red' };
await sendJobs(api, [
  jobEvent(alias, { timestamp: '2026-11-02T01:00:00Z', properties: work }, 0),
  jobEvent(alias, { timestamp: '2026-11-03T01:00:00Z', properties: { ...work, model: 'large' } }, 1),
]);

const INVOICES = `/v1/customers/${customerId}/invoices`;
const [draft] = ((await api.get(INVOICES)).body as { data: { id: string }[] }).data;

const READS: Readonly<Record<string, () => Promise<unknown>>> = {
  'draft invoices': () => api.get(INVOICES),
  'one draft invoice': () => api.get(`${INVOICES}/${draft?.id}`),
  'its explanation': () => api.get(`${INVOICES}/${draft?.id}/explain`),
  breakdowns: () => api.get(`${INVOICES}/breakdowns`, { query: { ...RANGE, window_size: 'HOUR' } }),
  'spend breakdowns': () => api.post(`${INVOICES}/spend-breakdowns`, { ...RANGE, group_key: ['team'] }),
  costs: () => api.get(`/v1/customers/${customerId}/costs`, { query: RANGE }),
  usage: () => api.post('/v1/usage', { ...RANGE, window_size: 'DAY', customer_ids: [customerId] }),
  'usage of a SQL metric': () =>
    api.post('/v1/usage', {
      ...RANGE,
      window_size: 'DAY',
      customer_ids: [customerId],
      billable_metrics: [{ id: metric }],
    }),
  'net balance': () =>
    api.post('/v1/contracts/customerBalances/getNetBalance', {
      customer_id: customerId,
      invoice_inclusion_mode: 'FINALIZED_AND_DRAFT',
    }),
  balances: () =>
    api.post('/v1/contracts/customerBalances/list', { customer_id: customerId, include_ledgers: true }),
};

test.skipIf(blocks === undefined).each(Object.keys(READS))(
  '%s: wait for no events but those of their customer',
  async (name) => {
    if (blocks === undefined) return;
    const visible = vi.spyOn(blocks, 'visible');
    await READS[name]?.();
    const waited = visible.mock.calls.map(([refs]) => refs);
    visible.mockRestore();
    expect(waited.length).toBeGreaterThan(0);
    const own = new Set([customerId, alias]);
    expect(waited.filter((refs) => refs === null || refs.some((ref) => !own.has(ref)))).toEqual([]);
  },
);
