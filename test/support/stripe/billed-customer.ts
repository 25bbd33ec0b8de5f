/** Customers whose invoices go to the stand-in of Stripe. */

import { STAND_IN_KEY, type StripeStandIn } from '../../../src/demo/stripe/stand-in.ts';
import type { ApiClient } from '../api-client.ts';
import { createdId } from '../catalogue-api.ts';
import type { TestService } from '../service.ts';

/** The settings of a service that is connected to the stand-in. */
export function connectedTo(stripe: StripeStandIn) {
  return { stripe: { apiKey: STAND_IN_KEY, webhookSecret: stripe.webhookSecret, apiBase: stripe.url } };
}

export interface BilledCustomer {
  readonly customerId: string;
  readonly contractId: string;
  /** At Stripe. */
  readonly stripeId: string;
  /** Issues an invoice of these amounts, in cents, at once; its id. */
  bill(...amounts: number[]): Promise<string>;
  invoice(id: string): ReturnType<ApiClient['get']>;
}

let charges = 0;

export async function billedCustomer(
  { api }: Pick<TestService, 'api'>,
  stripeId: string,
  { configuration = {}, contract = {} }: { configuration?: object; contract?: object } = {},
): Promise<BilledCustomer> {
  const customerId = await createdId(api, '/v1/customers', {
    name: 'Billed',
    customer_billing_provider_configurations: [
      {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
        configuration: { stripe_customer_id: stripeId, ...configuration },
      },
    ],
  });
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: '2026-01-01T00:00:00Z',
    billing_provider_configuration: {
      billing_provider: 'stripe',
      delivery_method: 'direct_to_billing_provider',
    },
    ...contract,
  });
  const product = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Support',
    type: 'FIXED',
  });
  return {
    customerId,
    contractId,
    stripeId,
    async bill(...amounts) {
      charges += 1;
      // Each charge has its own second, so that each has its own invoice.
      const timestamp = new Date(Date.UTC(2026, 1, 1) + charges * 1_000).toISOString();
      await api.post('/v2/contracts/edit', {
        customer_id: customerId,
        contract_id: contractId,
        add_scheduled_charges: amounts.map((amount, index) => ({
          product_id: product,
          name: `Charge ${index + 1}`,
          schedule: { schedule_items: [{ timestamp, amount }] },
        })),
      });
      const now = (await api.get('/v1/sandbox/clock')).text('data.now');
      await api.post('/v1/sandbox/clock', { now });
      const list = await api.get(`/v1/customers/${customerId}/invoices?limit=100`);
      const index = list.list('data').findIndex((_, at) => list.text(`data[${at}].issued_at`) === timestamp);
      return list.text(`data[${index}].id`);
    },
    invoice: (id) => api.get(`/v1/customers/${customerId}/invoices/${id}`),
  };
}
