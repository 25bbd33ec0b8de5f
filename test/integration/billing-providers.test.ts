import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  type BillingConfigurationLookup,
  matchBillingConfiguration,
} from '../../src/billing/billing-providers/match-configuration.ts';
import { billingConnections } from '../../src/store/billing-providers/billing-connections.tables.ts';
import { customerBillingConfigurations, customers } from '../../src/store/customers/customers.tables.ts';
import { createdId } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { refusalOf } from '../support/refusal.ts';

const { pool, api } = await catalogueForFile();

const CONNECT = '/v1/setUpBillingProvider';
const LIST = '/v1/listConfiguredBillingProviders';
const SET = '/v1/setCustomerBillingProviderConfigurations';
const GET = '/v1/getCustomerBillingProviderConfigurations';
const ARCHIVE = '/v1/archiveCustomerBillingProviderConfigurations';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const stripe = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };

/** Another account at the same provider. */
const account = {
  ...stripe,
  configuration: { stripe_customer_id: 'cus_2', stripe_collection_method: 'send_invoice' },
};

const newCustomer = () => createdId(api, '/v1/customers', { name: 'Acme' });

async function connect(body: object): Promise<string> {
  return (await api.post(CONNECT, body)).text('data.delivery_method_id');
}

async function add(customer_id: string, ...configurations: object[]): Promise<string[]> {
  const answer = await api.post(SET, { data: configurations.map((one) => ({ customer_id, ...one })) });
  return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
}

describe('connections of the service', () => {
  test('connections of the service are listed without what is secret', async () => {
    const configuration = {
      azure_tenant_id: 'tenant-1',
      azure_client_id: 'client-1',
      azure_client_secret: 'S3CRET',
      apiKey: 'S3CRET',
      something: 'S3CRET',
      account: { id: 'S3CRET' },
      callback_url: 'https://user:S3CRET@example.com/',
      queue_url: 'https://queues.example.com/1',
      is_sandbox: true,
    };
    const id = await connect({
      billing_provider: 'azure_marketplace',
      delivery_method: 'direct_to_billing_provider',
      configuration,
    });
    const listed = await api.post(LIST, {});
    expect(listed.list('data')).toContainEqual({
      billing_provider: 'azure_marketplace',
      delivery_method: 'direct_to_billing_provider',
      delivery_method_id: id,
      delivery_method_configuration: {
        azure_tenant_id: 'tenant-1',
        azure_client_id: 'client-1',
        queue_url: 'https://queues.example.com/1',
        is_sandbox: true,
      },
    });
    expect(JSON.stringify(listed.body)).not.toContain('S3CRET');
    const [stored] = await pool.db.select().from(billingConnections).where(eq(billingConnections.id, id));
    expect(stored?.configuration).toEqual(configuration);
  });

  test('connections of the service to one provider may be several, but not the very same twice', async () => {
    const body = {
      billing_provider: 'gcp_marketplace',
      delivery_method: 'direct_to_billing_provider',
      configuration: { a_id: '1', b_id: '2' },
    };
    const first = await connect(body);
    const same = { ...body, configuration: { b_id: '2', a_id: '1' } };
    expect(await refusalOf(api, CONNECT, same, 409)).toMatch(/already/);
    expect(await connect({ ...body, configuration: { a_id: '1' } })).not.toBe(first);
  });

  test('connections of the service are only taken for marketplaces and known delivery methods', async () => {
    const configuration = {};
    expect(await refusalOf(api, CONNECT, { ...stripe, configuration })).toMatch(/^billing_provider: /);
    const body = { billing_provider: 'aws_marketplace', delivery_method: 'tackle' };
    expect(await refusalOf(api, CONNECT, { ...body, configuration })).toMatch(/^delivery_method: /);
    expect(await refusalOf(api, CONNECT, { ...body, delivery_method: 'aws_sqs' })).toMatch(
      /^configuration: /,
    );
  });

  test('connections of the service come page after page', async () => {
    for (let index = 0; index < 101; index += 1) {
      await connect({
        billing_provider: 'aws_marketplace',
        delivery_method: 'aws_sns',
        configuration: { topic_id: String(index) },
      });
    }
    const first = await api.post(LIST, { next_page: null });
    const second = await api.post(LIST, { next_page: first.text('next_page') });
    const ids = [first, second].flatMap((page) =>
      page.list('data').map((_, index) => page.text(`data[${index}].delivery_method_id`)),
    );
    expect(first.list('data')).toHaveLength(100);
    expect(second.at('next_page')).toBeNull();
    // After the connections follows direct delivery to the providers without one.
    const connected = (await pool.db.select().from(billingConnections)).map(({ id }) => id);
    expect(new Set(ids.slice(0, connected.length))).toEqual(new Set(connected));
    expect(ids.length).toBeGreaterThan(connected.length);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(await refusalOf(api, LIST, { next_page: UNKNOWN })).toMatch(/^next_page: /);
  });
});

describe('billing configurations of a customer', () => {
  test.each([
    { vendor_customer_id: 'cus_1', vendor_collection_method: 'charge_automatically' },
    {
      stripe_customer_id: 'cus_1',
      stripe_collection_method: 'send_invoice',
      leave_stripe_invoices_in_draft: true,
    },
    {},
  ])('a configuration is returned as it was sent: %j', async (configuration) => {
    const customer_id = await newCustomer();
    const answer = await api.post(SET, { data: [{ customer_id, ...stripe, configuration }] });
    const view = { ...stripe, customer_id, configuration, delivery_method_configuration: {} };
    expect(answer.list('data')).toEqual([
      { ...view, id: expect.any(String), delivery_method_id: expect.any(String) },
    ]);
    expect((await api.post(GET, { customer_id })).list('data')).toEqual([
      {
        ...view,
        id: answer.text('data[0].id'),
        delivery_method_id: answer.text('data[0].delivery_method_id'),
        archived_at: null,
      },
    ]);
  });

  test('billing configurations of a customer need no connection; the id of the delivery method can be used as it was read', async () => {
    const customer_id = await newCustomer();
    await add(customer_id, { ...stripe, tax_provider: null });
    const delivery_method_id = (await api.post(GET, { customer_id })).text('data[0].delivery_method_id');
    await add(customer_id, {
      billing_provider: 'stripe',
      delivery_method_id,
      configuration: account.configuration,
    });
    const read = await api.post(GET, { customer_id });
    expect(read.at('data[1]')).toMatchObject({ ...stripe, delivery_method_id });
  });

  test('billing configurations of a customer go through the one connection that offers the method; of several one must be named', async () => {
    const customer_id = await newCustomer();
    const aws = { billing_provider: 'aws_marketplace', delivery_method: 'aws_sqs' };
    const first = await connect({ ...aws, configuration: { aws_region: 'eu-1', aws_secret: 'S3CRET' } });
    await add(customer_id, { ...aws, configuration: { aws_customer_id: 'a' } });
    const second = await connect({ ...aws, configuration: { aws_region: 'us-1' } });
    expect(await refusalOf(api, SET, { data: [{ customer_id, ...aws }] })).toMatch(
      /^data\[0\]\.delivery_method_id: is required: 2 connections/,
    );
    await add(customer_id, { billing_provider: 'aws_marketplace', delivery_method_id: second });
    const read = await api.post(GET, { customer_id });
    expect(read.at('data[0]')).toMatchObject({
      delivery_method_id: first,
      delivery_method_configuration: { aws_region: 'eu-1' },
    });
    expect(read.at('data[1]')).toMatchObject({ ...aws, delivery_method_id: second });
    expect(JSON.stringify(read.body)).not.toContain('S3CRET');
  });

  test('billing configurations of a customer never return secrets that were put into them', async () => {
    const customer_id = await newCustomer();
    const configuration = {
      netsuite_customer_id: '1',
      access_token: 'S3CRET',
      deep: [{ password: 'S3CRET', a: 1 }],
    };
    const netsuite = { billing_provider: 'netsuite', delivery_method: 'direct_to_billing_provider' };
    const answer = await api.post(SET, { data: [{ customer_id, ...netsuite, configuration }] });
    expect(answer.at('data[0].configuration')).toEqual({ netsuite_customer_id: '1', deep: [{ a: 1 }] });
    const read = await api.post(GET, { customer_id });
    expect(JSON.stringify([answer.body, read.body])).not.toContain('S3CRET');
  });

  test.each<[string, object, RegExp]>([
    ['no delivery', { delivery_method: undefined }, /^delivery_method: is required/],
    ['an unknown provider', { billing_provider: 'paypal' }, /^billing_provider: /],
    ['an unknown delivery method', { delivery_method: 'mail' }, /^delivery_method: /],
    ['an unknown delivery method id', { delivery_method_id: UNKNOWN }, /^delivery_method_id: .*not found/],
    [
      'two names with two values',
      { configuration: { stripe_customer_id: 'a', vendor_customer_id: 'b' } },
      /^configuration\.stripe_customer_id: contradicts vendor_customer_id/,
    ],
    [
      'a number as customer id',
      { configuration: { vendor_customer_id: 5 } },
      /^configuration\.vendor_customer_id: must be a string/,
    ],
    [
      'an unknown collection method',
      { configuration: { stripe_collection_method: 'cheque' } },
      /^configuration\.stripe_collection_method: must be one of/,
    ],
    [
      'a tax provider without payment intents',
      { tax_provider: 'anrok', configuration: { vendor_collection_method: 'send_invoice' } },
      /^tax_provider: needs/,
    ],
    [
      'a tax provider of a marketplace',
      { billing_provider: 'aws_marketplace', tax_provider: 'anrok' },
      /^tax_provider: is for/,
    ],
  ])(
    '%s answers 400 with its path, at creation of the customer too, and nothing is stored',
    async (_, change, message) => {
      const customer_id = await newCustomer();
      const counts = async () => [
        await pool.db.$count(customerBillingConfigurations),
        await pool.db.$count(customers),
      ];
      const before = await counts();
      const pathed = (path: string) => new RegExp(message.source.replace('^', `^${path}\\.`));
      const data = [
        { customer_id, ...stripe },
        { customer_id, ...stripe, ...change },
      ];
      expect(await refusalOf(api, SET, { data })).toMatch(pathed('data\\[1\\]'));
      const created = { name: 'New', customer_billing_provider_configurations: [{ ...stripe, ...change }] };
      expect(await refusalOf(api, '/v1/customers', created)).toMatch(
        pathed('customer_billing_provider_configurations\\[0\\]'),
      );
      expect(await counts()).toEqual(before);
    },
  );

  test('an unknown customer answers 404', async () => {
    const id = await newCustomer();
    const data = [
      { customer_id: id, ...stripe },
      { customer_id: UNKNOWN, ...stripe },
    ];
    expect(await refusalOf(api, SET, { data }, 404)).toMatch(/^data\[1\]\.customer_id: /);
    expect((await api.post(GET, { customer_id: id })).list('data')).toEqual([]);
    expect(await refusalOf(api, GET, { customer_id: UNKNOWN }, 404)).toMatch(/not found/);
    const ids = [UNKNOWN];
    const archive = { customer_id: UNKNOWN, customer_billing_provider_configuration_ids: ids };
    expect(await refusalOf(api, ARCHIVE, archive, 404)).toMatch(/not found/);
  });

  test('billing configurations of a customer are archived all or none, and shown on request only', async () => {
    const customer_id = await newCustomer();
    const other = await newCustomer();
    const [first = '', second = ''] = await add(customer_id, stripe, account);
    const [foreign = ''] = await add(other, stripe);
    const archive = (...ids: string[]) => ({ customer_id, customer_billing_provider_configuration_ids: ids });
    expect(await refusalOf(api, ARCHIVE, archive(first, foreign))).toMatch(
      /^customer_billing_provider_configuration_ids\[1\]: /,
    );
    expect((await api.post(GET, { customer_id })).list('data')).toHaveLength(2);
    expect((await api.post(ARCHIVE, archive(first))).at('data')).toEqual(archive(first));
    await api.post(ARCHIVE, archive(first));
    expect((await api.post(GET, { customer_id })).text('data[0].id')).toBe(second);
    const everything = await api.post(GET, { customer_id, include_archived: true });
    expect(everything.text('data[0].archived_at')).toBe('2026-11-20T12:34:56.789Z');
    expect(everything.at('data[1].archived_at')).toBeNull();
  });
});

describe('the receiver of a custom configuration', () => {
  const receiver = (url: string) => ({
    billing_provider: 'custom',
    delivery_method: 'webhook',
    configuration: { url, signing_secret: 'a-secret-of-16-characters' },
  });

  test.each(['http://erp.example/', 'ftp://erp.example/', 'not a URL', 'https://user@erp.example/'])(
    'the receiver of a custom configuration is never %s unless private receivers are allowed',
    async (url) => {
      const customer_id = await newCustomer();
      const set = await api.send('POST', SET, { data: [{ customer_id, ...receiver(url) }] });
      const customer_billing_provider_configurations = [receiver(url)];
      const create = await api.send('POST', '/v1/customers', {
        name: 'Acme',
        customer_billing_provider_configurations,
      });
      for (const refused of [set, create]) {
        expect(refused.status).toBe(400);
        expect(refused.text('message')).toContain('configuration.url: must ');
      }
      expect((await api.post(GET, { customer_id })).list('data')).toEqual([]);
    },
  );

  test('the receiver of a custom configuration with https is taken', async () => {
    const customer = await newCustomer();
    expect(await add(customer, receiver('https://erp.example/invoices'))).toHaveLength(1);
  });
});

describe('the configuration that a contract or package means', () => {
  const nothing: BillingConfigurationLookup = { id: null, billingProvider: null, deliveryMethod: null };
  const byMethod: BillingConfigurationLookup = {
    ...nothing,
    billingProvider: 'stripe',
    deliveryMethod: 'direct_to_billing_provider',
  };
  const match = (customerId: string, lookup: BillingConfigurationLookup) =>
    matchBillingConfiguration(pool.db, customerId, lookup, ['billingConfiguration']).then(({ id }) => id);

  test('the configuration that a contract or package means is found by its id, or by provider and delivery method where exactly one matches', async () => {
    const customer = await newCustomer();
    const [id = ''] = await add(customer, stripe);
    expect(await match(customer, { ...nothing, id })).toBe(id);
    expect(await match(customer, byMethod)).toBe(id);
    const [second = ''] = await add(customer, account);
    await expect(match(customer, byMethod)).rejects.toThrow(/has 2 billing configurations/);
    await api.post(ARCHIVE, { customer_id: customer, customer_billing_provider_configuration_ids: [id] });
    expect(await match(customer, byMethod)).toBe(second);
    await expect(match(customer, { ...nothing, id })).rejects.toThrow(
      /^billingConfiguration\.id: .*archived/,
    );
    await expect(match(await newCustomer(), byMethod)).rejects.toThrow(/has 0 billing configurations/);
  });

  test('the configuration that a contract or package means may be named by its id beside provider and delivery method, where they agree', async () => {
    const customer = await newCustomer();
    const [id = ''] = await add(customer, stripe);
    expect(await match(customer, { ...byMethod, id })).toBe(id);
    expect(await match(customer, { ...byMethod, id, deliveryMethod: null })).toBe(id);
    await expect(match(customer, { ...byMethod, id, billingProvider: 'netsuite' })).rejects.toThrow(
      /\.billingProvider: contradicts .*, which is of stripe/,
    );
    await expect(match(customer, { ...byMethod, id, deliveryMethod: 'aws_sns' })).rejects.toThrow(
      /\.deliveryMethod: contradicts /,
    );
  });

  test('the configuration that a contract or package means must not be named by half, or by another customer’s id', async () => {
    const customer = await newCustomer();
    const [id = ''] = await add(await newCustomer(), stripe);
    await expect(match(customer, { ...nothing, id })).rejects.toThrow(/has no billing configuration/);
    await expect(match(customer, { ...byMethod, id })).rejects.toThrow(/has no billing configuration/);
    await expect(match(customer, { ...byMethod, deliveryMethod: null })).rejects.toThrow(
      /\.deliveryMethod: is required/,
    );
    await expect(match(customer, nothing)).rejects.toThrow(/\.billingProvider: is required/);
  });
});
