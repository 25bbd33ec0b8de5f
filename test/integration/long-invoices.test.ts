/** Invoices with more lines than are written at once: every way to read one has the same lines. */
import { expect, test } from 'vitest';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createSeatCatalogue, createSeatCompany } from '../support/seat-company.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-15T00:00:00Z' });
const { api } = service;

const SEATS = 300;
const EVENTS_PER_REQUEST = 100;

test('an invoice of many seats has the same lines in a list, alone and as CSV', async () => {
  const users = Array.from({ length: SEATS }, (_, index) => `user-${index}`);
  const terms = { alias: 'large', start: '2026-10-01T00:00:00Z', seats: users };
  const { customer } = await createSeatCompany(api, await createSeatCatalogue(api), terms);
  for (let first = 0; first < SEATS; first += EVENTS_PER_REQUEST) {
    const events = users.slice(first, first + EVENTS_PER_REQUEST).map((user) => ({
      ...{ transaction_id: user, customer_id: 'large', event_type: 'call', properties: { user } },
      timestamp: '2026-10-10T00:00:00Z',
    }));
    await api.post('/v1/ingest', events);
  }
  const path = `/v1/customers/${customer}/invoices`;
  const page = await api.get(path, { query: { type: 'USAGE', limit: 1 } });
  // Each call is a line, and what pays for it is another one.
  expect(page.list('data[0].line_items')).toHaveLength(2 * SEATS + 1);
  expect(page.digits('data[0].total')).toBe(String(SEATS * 1_000));
  const alone = await api.get(`${path}/${page.text('data[0].id')}`);
  expect(alone.at('data.line_items')).toEqual(page.at('data[0].line_items'));
  const csv = await api.get(`${path}/${page.text('data[0].id')}`, { headers: { accept: 'text/csv' } });
  const ids = page.list('data[0].line_items').map((_, index) => page.text(`data[0].line_items[${index}].id`));
  expect(csvRows(csv.body).map(({ line_id }) => line_id)).toEqual(ids);
});
