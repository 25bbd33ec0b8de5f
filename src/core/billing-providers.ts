/** Billing providers and their delivery methods. */
import { derivedId } from './ids.ts';

/** Providers that a customer's billing configuration may name. */
export const BILLING_PROVIDERS = [
  'aws_marketplace',
  'azure_marketplace',
  'gcp_marketplace',
  'stripe',
  'netsuite',
  'quickbooks_online',
  'workday',
  'custom',
  'metronome',
] as const;
export type BillingProvider = (typeof BILLING_PROVIDERS)[number];

/** Providers that can be set when a customer is created, also by the first version of the interface. */
export const DIRECT_BILLING_PROVIDERS = [
  'aws_marketplace',
  'azure_marketplace',
  'gcp_marketplace',
  'stripe',
  'netsuite',
] as const satisfies readonly BillingProvider[];

/** Providers allowed when a customer, a contract or a package is created. */
export const CONTRACT_BILLING_PROVIDERS = [
  ...DIRECT_BILLING_PROVIDERS,
  'custom',
] as const satisfies readonly BillingProvider[];

/** Providers that the service itself can be connected to. */
export const CONNECTABLE_BILLING_PROVIDERS = [
  'aws_marketplace',
  'azure_marketplace',
  'gcp_marketplace',
] as const satisfies readonly BillingProvider[];

export const DELIVERY_METHODS = [
  'direct_to_billing_provider',
  'aws_sqs',
  'tackle',
  'aws_sns',
  'webhook',
] as const;
export type DeliveryMethod = (typeof DELIVERY_METHODS)[number];

/** Delivery methods of a connection of the service itself. */
export const CONNECTION_DELIVERY_METHODS = [
  'direct_to_billing_provider',
  'aws_sqs',
  'aws_sns',
] as const satisfies readonly DeliveryMethod[];

export const TAX_PROVIDERS = ['anrok', 'avalara', 'stripe'] as const;
export type TaxProvider = (typeof TAX_PROVIDERS)[number];

/** How a payment provider collects an invoice. */
export const COLLECTION_METHODS = [
  'charge_automatically',
  'send_invoice',
  'auto_charge_payment_intent',
  'manually_charge_payment_intent',
] as const;

/** Whether invoices of a customer are delivered. */
export const BILLABLE_STATUSES = ['billable', 'unbillable'] as const;
export type BillableStatus = (typeof BILLABLE_STATUSES)[number];

/** The id of a delivery method without a connection: the same for all customers, and it never changes. */
export function unconnectedDeliveryMethodId(
  billingProvider: BillingProvider,
  deliveryMethod: DeliveryMethod,
): string {
  return derivedId('delivery-method', billingProvider, deliveryMethod);
}

/** The connection of the account that the environment names. */
export const DEFAULT_STRIPE_CONNECTION_ID = unconnectedDeliveryMethodId(
  'stripe',
  'direct_to_billing_provider',
);
