/** Customers with a prepaid balance, at one cent a token, and what they hold. */
import type { ApiClient } from './api-client.ts';
import { createThresholdCatalogue, createThresholdCustomer } from './thresholds.ts';

export interface Answered {
  readonly granted: boolean;
  readonly reason?: string;
  readonly hold_id?: string;
  readonly amount?: number;
  readonly required?: number | null;
  readonly remaining?: number | null;
}

/** `shared`: members of the credit. */
export async function createHolder(api: ApiClient, amount: number, shared: object = {}) {
  const catalogue = await createThresholdCatalogue(api);
  const access_schedule = {
    schedule_items: [{ amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' }],
  };
  const credits = [{ product_id: catalogue.fee, name: 'Prepaid', priority: 1, access_schedule, ...shared }];
  const customer = await createThresholdCustomer(api, catalogue, { credits });
  const { customerId: customer_id } = customer;
  return {
    ...customer,
    catalogue,
    hold: (transaction_id: string, tokens: number, more: object = {}) => ({
      customer_id,
      transaction_id,
      event: { event_type: 'use', properties: { tokens } },
      ...more,
    }),
    left: async () => (await customer.contract()).at('data.credits[0].balance'),
  };
}

export async function reserve(api: ApiClient, ...holds: readonly object[]): Promise<Answered[]> {
  return (await api.post('/v1/holds/reserve', { holds })).list('data') as Answered[];
}

/** A customer without balances, at one cent a token, with terms such as a spend limit. */
export async function createLimited(api: ApiClient, terms: object) {
  const catalogue = await createThresholdCatalogue(api);
  const customer = await createThresholdCustomer(api, catalogue, terms);
  return {
    ...customer,
    catalogue,
    hold: (transaction_id: string, tokens: number, more: object = {}) => ({
      customer_id: customer.customerId,
      transaction_id,
      event: { event_type: 'use', properties: { tokens }, ...more },
    }),
  };
}
