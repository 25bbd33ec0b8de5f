/** Invoices that are voided and issued again change what is there to be held, for the next request after their answer. */
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';
import { createThresholdCatalogue, createThresholdCustomer } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

async function invoiceId(customerId: string, type: string): Promise<string> {
  const query = { type, status: 'FINALIZED' };
  return (await api.get(`/v1/customers/${customerId}/invoices`, { query })).text('data[0].id');
}

test('a purchase that is voided is not there for the next hold, and one that is issued again is', async () => {
  const catalogue = await createThresholdCatalogue(api);
  const access = { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
  const { customerId: customer_id } = await createThresholdCustomer(api, catalogue, {
    commits: [
      {
        ...{ product_id: catalogue.fee, type: 'PREPAID', priority: 1 },
        access_schedule: { schedule_items: [access] },
        invoice_schedule: { schedule_items: [{ amount: 80, timestamp: '2026-11-10T12:30:00Z' }] },
      },
    ],
  });
  await service.moveClock('2026-11-10T12:31:00Z');
  const hold = (name: string, tokens: number) => {
    const event = { event_type: 'use', properties: { tokens } };
    return reserve(api, { customer_id, transaction_id: `${customer_id} ${name}`, event });
  };
  expect(await hold('before', 10)).toMatchObject([{ granted: true, remaining: 90 }]);
  const id = await invoiceId(customer_id, 'SCHEDULED');
  await api.post('/v1/invoices/void', { id });
  // Nothing is left that it could draw on: it is billed afterwards.
  expect(await hold('voided', 50)).toMatchObject([{ granted: true, remaining: null }]);
  await api.post('/v1/holds/release', { holds: [{ transaction_id: `${customer_id} voided` }] });
  await api.post('/v1/invoices/regenerate', { id });
  expect(await hold('again', 90)).toMatchObject([{ granted: true, remaining: 0 }]);
});

test('what an invoice draws when it is issued again cannot be held any more', async () => {
  const holder = await createHolder(api, 100);
  await holder.use(60, '2026-11-10T12:20:00Z');
  await service.moveClock('2026-12-03T12:30:00Z');
  const id = await invoiceId(holder.customerId, 'USAGE');
  const hold = (name: string, tokens: number) =>
    reserve(api, holder.hold(`${holder.customerId} ${name}`, tokens));
  await api.post('/v1/invoices/void', { id });
  expect(await hold('voided', 1)).toMatchObject([{ granted: true, remaining: 99 }]);
  await api.post('/v1/invoices/regenerate', { id });
  expect(await hold('again', 40)).toMatchObject([{ granted: false, remaining: 39 }]);
});
