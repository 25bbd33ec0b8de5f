/** Commits whose balance waits for their payment at the stand-in of Stripe. */
import { createdId } from '../catalogue-api.ts';
import type { TestService } from '../service.ts';

export interface GatedPurchase {
  readonly customerId: string;
  readonly contractId: string;
  readonly commitId: string;
  /** Our invoice of the purchase, with its state there. */
  invoice(): Promise<{ id: string; status: string; external: Record<string, unknown> }>;
  /** The amount that can be used. */
  balance(): Promise<string>;
}

export const PRICE = 4_000;
const GRANTED = 500;

/** The purchase of 500 for 40 dollars, by a customer who is at Stripe under this id. Its payment begins at once. */
export async function buyGated(
  { api }: Pick<TestService, 'api'>,
  stripeId: string,
  payment_gate_config: object,
  price = PRICE,
): Promise<GatedPurchase> {
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Prepaid',
    type: 'FIXED',
  });
  const provider = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
  const customerId = await createdId(api, '/v1/customers', {
    name: 'Buyer',
    customer_billing_provider_configurations: [
      { ...provider, configuration: { stripe_customer_id: stripeId } },
    ],
  });
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: '2026-01-01T00:00:00Z',
    billing_provider_configuration: provider,
  });
  const times = { starting_at: '2026-01-01T00:00:00Z', ending_before: '2028-01-01T00:00:00Z' };
  await api.post('/v2/contracts/edit', {
    customer_id: customerId,
    contract_id: contractId,
    add_commits: [
      {
        product_id,
        type: 'PREPAID',
        name: 'Gated',
        access_schedule: { schedule_items: [{ amount: GRANTED, ...times }] },
        invoice_schedule: { schedule_items: [{ timestamp: '2026-01-05T00:00:00Z', amount: price }] },
        payment_gate_config: { payment_gate_type: 'STRIPE', ...payment_gate_config },
      },
    ],
  });
  const contract = () =>
    api.post('/v2/contracts/get', {
      customer_id: customerId,
      contract_id: contractId,
      include_balance: true,
    });
  const commitId = (await contract()).text('data.commits[0].id');
  const now = (await api.get('/v1/sandbox/clock')).text('data.now');
  await api.post('/v1/sandbox/clock', { now });
  return {
    customerId,
    contractId,
    commitId,
    async invoice() {
      const { body } = await api.get(`/v1/customers/${customerId}/invoices`);
      const [invoice] = (body as { data: { id: string; status: string; external_invoice: object | null }[] })
        .data;
      if (invoice === undefined) throw new Error('the purchase is invoiced');
      return { id: invoice.id, status: invoice.status, external: { ...invoice.external_invoice } };
    },
    balance: async () => (await contract()).digits('data.commits[0].balance'),
  };
}
