/** A subscription of 100,000 seats: it is billed, changed and shown like any other. */
import { expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-03-01T00:00:00Z', subscriptionSeatsMax: 100_001 });
const { api } = service;

/** As many as a request may be large. */
const HALF = 50_000;
const idsFrom = (first: number) =>
  Array.from({ length: HALF }, (_, index) => `user-${first + index}@example.com`);

test('100,000 seats are subscribed, extended, invoiced and listed', { timeout: 120_000 }, async () => {
  const catalogue = await createTermsCatalogue(api);
  const customer_id = await createdId(api, '/v1/customers', { name: 'Large company' });
  const contract_id = await createdId(api, '/v1/contracts/create', {
    ...{ customer_id, rate_card_id: catalogue.card, starting_at: '2026-03-01T00:00:00Z' },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: catalogue.seats },
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        quantity_management_mode: 'SEAT_BASED',
        seat_config: { seat_group_key: 'user', initial_seat_ids: idsFrom(0) },
      },
    ],
  });
  const contract = await api.post('/v2/contracts/get', { customer_id, contract_id });
  const subscription_id = contract.text('data.subscriptions[0].id');
  await api.post('/v2/contracts/edit', {
    ...{ customer_id, contract_id },
    update_subscriptions: [
      {
        subscription_id,
        seat_updates: {
          add_seat_ids: [
            { seat_ids: idsFrom(HALF), starting_at: '2026-03-01T00:00:00Z' },
            { seat_ids: ['one more'], starting_at: '2026-03-16T12:00:00Z' },
          ],
        },
      },
    ],
  });
  await service.moveClock('2026-03-17T00:00:00Z');
  const invoices = await api.get(`/v1/customers/${customer_id}/invoices`, {
    query: { status: 'FINALIZED', limit: 10 },
  });
  // Whether both halves are on one invoice depends on when the first one is issued.
  const totals = invoices.list('data').map((_, index) => decimal(invoices.digits(`data[${index}].total`)));
  expect(sum(totals).toString()).toBe('200001000');
  const seats = await api.post('/v1/contracts/getSubscriptionSeatsHistory', {
    ...{ customer_id, contract_id, subscription_id, covering_date: '2026-03-17T00:00:00Z' },
  });
  expect(seats.digits('data[0].total_quantity')).toBe('100001');
  expect(seats.list('data[0].assigned_seat_ids')).toHaveLength(100_001);
});
