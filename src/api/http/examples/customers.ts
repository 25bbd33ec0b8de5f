/** Customers, their billing providers and custom fields. */
import type { RequestExamples } from './example.ts';
import { EXAMPLE_STRIPE_KEY, EXAMPLE_IDS as ids } from './ids.ts';

const stripeCustomer = {
  billing_provider: 'stripe',
  delivery_method: 'direct_to_billing_provider',
  configuration: { stripe_customer_id: 'cus_QXg1o8vlGMsXwv', stripe_collection_method: 'send_invoice' },
};

const customers: RequestExamples = {
  createCustomer: {
    body: {
      name: 'Acme Inc.',
      ingest_aliases: ['acme', 'team@acme.example'],
      billing_address: { line1: '1 Main Street', city: 'Springfield', postal_code: '12345', country: 'US' },
    },
  },
  listCustomers: { query: { limit: 20 } },
  archiveCustomer: { body: { id: ids.customer } },
  setIngestAliases: { body: { ingest_aliases: ['acme-production', 'acme-staging'] } },
  setCustomerName: { body: { name: 'Acme Corporation' } },
  updateCustomerConfig: { body: { salesforce_account_id: '0015500001WO1ZiABL' } },
  setBillableStatus: { body: { customer_id: ids.customer, billable_status: 'billable' } },
};

const billingProviders: RequestExamples = {
  setUpBillingProvider: {
    body: {
      billing_provider: 'aws_marketplace',
      delivery_method: 'aws_sqs',
      configuration: {
        aws_external_id: '47b4f6b7-e297-42e8-b175-331d933b402c',
        aws_role_arn: 'arn:aws:iam::123456789012:role/billing',
        aws_region: 'eu-central-1',
        aws_sqs_queue_url: 'https://sqs.eu-central-1.amazonaws.com/123456789012/metering',
      },
    },
  },
  listConfiguredBillingProviders: { body: {} },
  setCustomerBillingProviderConfigurations: {
    body: { data: [{ customer_id: ids.customer, ...stripeCustomer }] },
  },
  getCustomerBillingProviderConfigurations: { body: { customer_id: ids.customer } },
  archiveCustomerBillingProviderConfigurations: {
    body: {
      customer_id: ids.customer,
      customer_billing_provider_configuration_ids: [ids.billingConfiguration],
    },
  },
  createStripeAccount: {
    body: { name: 'europe', api_key: EXAMPLE_STRIPE_KEY, webhook_secret: 'whsec_your_secret' },
  },
  archiveStripeAccount: { body: { delivery_method_id: ids.stripeAccount } },
  takeStripeEvent: {
    body: {
      id: 'evt_1Qk2Vw2eZvKYlo2C',
      type: 'invoice.paid',
      data: { object: { id: 'in_1Qk2Vv2eZvKYlo2C', object: 'invoice' } },
    },
  },
  updateExternalInvoice: {
    body: { invoice_id: ids.externalInvoice, external_status: 'PAID', paid_at: '2026-11-09T14:30:00Z' },
  },
  setBillingConfig: {
    body: {
      billing_provider_customer_id: 'cus_QXg1o8vlGMsXwv',
      stripe_collection_method: 'charge_automatically',
    },
  },
};

const customFields: RequestExamples = {
  addCustomFieldKey: { body: { entity: 'customer', key: 'account_owner', enforce_uniqueness: false } },
  removeCustomFieldKey: { body: { entity: 'customer', key: 'account_owner' } },
  listCustomFieldKeys: { body: { entities: ['customer'] } },
  setCustomFieldValues: {
    body: { entity: 'customer', entity_id: ids.customer, custom_fields: { account_owner: 'Ada' } },
  },
  deleteCustomFieldValues: {
    body: { entity: 'customer', entity_id: ids.customer, keys: ['account_owner'] },
  },
};

export const customerExamples: RequestExamples = { ...customers, ...billingProviders, ...customFields };
