/** Operations of the first generation of the interface: empty lists, and one configuration by provider. */
import { describe, expect, test } from 'vitest';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
const api = createCatalogueApi(pool.db);
const customer = await createdId(api, '/v1/customers', { name: 'Customer' });
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const EMPTY = { data: [], next_page: null };

async function configurations(customerId: string) {
  const found = await api.post('/v1/getCustomerBillingProviderConfigurations', { customer_id: customerId });
  return found.list('data');
}

describe('lists of plans and credit grants', () => {
  test('lists of plans and credit grants are empty', async () => {
    expect((await api.get('/v1/plans?limit=10')).body).toEqual(EMPTY);
    expect((await api.get(`/v1/customers/${customer}/plans`)).body).toEqual(EMPTY);
    expect((await api.post('/v1/credits/listGrants', { customer_ids: [customer], limit: 5 })).body).toEqual(
      EMPTY,
    );
    expect((await api.post('/v1/credits/listEntries?sort=desc', {})).body).toEqual(EMPTY);
  });

  test('lists of plans and credit grants refuse a customer that does not exist, and a position that they never gave', async () => {
    expect((await api.send('GET', `/v1/customers/${UNKNOWN}/plans`)).status).toBe(404);
    expect((await api.send('GET', '/v1/plans?next_page=abc')).status).toBe(400);
  });
});

describe('the configuration of a customer for one provider', () => {
  const path = (provider: string, of = customer) => `/v1/customers/${of}/billing-config/${provider}`;

  test('the configuration of a customer for one provider is one of its configurations, is read back, replaced and archived', async () => {
    const sent = { billing_provider_customer_id: 'cus_1', stripe_collection_method: 'send_invoice' };
    await api.post(path('stripe'), sent);
    await api.post(path('stripe'), sent);
    expect(await configurations(customer)).toMatchObject([
      {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
        configuration: { stripe_customer_id: 'cus_1', stripe_collection_method: 'send_invoice' },
      },
    ]);
    expect((await api.get(path('stripe'))).at('data')).toEqual(sent);

    await api.post(path('stripe'), { billing_provider_customer_id: 'cus_2' });
    expect((await api.get(path('stripe'))).at('data')).toEqual({ billing_provider_customer_id: 'cus_2' });
    expect(await configurations(customer)).toHaveLength(1);

    await api.delete(path('stripe'));
    expect(await configurations(customer)).toEqual([]);
    expect((await api.send('GET', path('stripe'))).status).toBe(404);
    expect((await api.send('DELETE', path('stripe'))).status).toBe(404);
  });

  test('the configuration of a customer for one provider has the settings of a marketplace', async () => {
    const sent = { billing_provider_customer_id: 'aws-1', aws_product_code: 'p', aws_region: 'eu-west-1' };
    await api.post(path('aws_marketplace'), sent);
    expect((await api.get(path('aws_marketplace'))).at('data')).toEqual(sent);
  });

  test('the configuration of a customer for one provider may be given with a new customer', async () => {
    const made = await createdId(api, '/v1/customers', {
      name: 'With a configuration',
      billing_config: { billing_provider_type: 'stripe', billing_provider_customer_id: 'cus_3' },
    });
    expect((await api.get(path('stripe', made))).at('data.billing_provider_customer_id')).toBe('cus_3');
  });

  test('the configuration of a customer for one provider refuses unknown customers, providers and methods', async () => {
    const sent = { billing_provider_customer_id: 'cus_1' };
    expect((await api.send('POST', path('stripe', UNKNOWN), sent)).status).toBe(404);
    expect((await api.send('POST', path('paypal'), sent)).status).toBe(404);
    const refused = await api.send('POST', path('stripe'), { ...sent, stripe_collection_method: 'cash' });
    expect([refused.status, refused.at('message')]).toEqual([
      400,
      expect.stringMatching(/^stripe_collection_method: must be one of /),
    ]);
  });
});
