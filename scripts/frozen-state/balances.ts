/** Commits and credits of a customer of the frozen story, with an entry by hand. */
import type { ApiClient } from '../../test/support/api-client.ts';
import { createdId } from '../../test/support/catalogue-api.ts';
import type { Catalogue } from './catalogue.ts';
import type { Reference } from './contracts.ts';

const year = { starting_at: '2026-10-01T00:00:00Z', ending_before: '2027-10-01T00:00:00Z' };

export async function createBalances(
  api: ApiClient,
  { terms: { fee } }: Catalogue,
  { customerId: customer_id, contractId: invoice_contract_id }: Reference,
): Promise<void> {
  const common = { customer_id, product_id: fee, priority: 10.5 };
  await createdId(api, '/v1/contracts/customerCommits/create', {
    ...common,
    type: 'PREPAID',
    name: 'Of the customer',
    access_schedule: { schedule_items: [{ amount: 1_000.25, ...year }] },
    invoice_schedule: {
      schedule_items: [
        { timestamp: '2026-11-10T00:00:00Z', amount: 400 },
        { timestamp: '2027-03-01T00:00:00Z', unit_price: 50, quantity: 2 },
      ],
    },
    invoice_contract_id,
    applicable_contract_ids: [invoice_contract_id],
    uniqueness_key: 'commit of the customer',
  });
  const id = await createdId(api, '/v1/contracts/customerCredits/create', {
    ...common,
    access_schedule: { schedule_items: [{ amount: 30, ...year }] },
    specifiers: [{ product_tags: ['llm'] }],
  });
  const listed = await api.post('/v1/contracts/customerCredits/list', { customer_id });
  await api.post('/v1/contracts/addManualBalanceLedgerEntry', {
    customer_id,
    id,
    segment_id: listed.text('data[0].access_schedule.schedule_items[0].id'),
    amount: -2.125,
    reason: 'Adjusted by hand',
  });
}
