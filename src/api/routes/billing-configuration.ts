/** How a customer's billing configuration looks on the wire. */
import { z } from 'zod';
import type { CreateCustomerInput } from '../../billing/customers/create-customer.ts';
import { uuid } from '../fields.ts';

const BILLING_PROVIDERS = [
  'aws_marketplace',
  'azure_marketplace',
  'gcp_marketplace',
  'stripe',
  'netsuite',
] as const;
const DELIVERY_METHODS = ['direct_to_billing_provider', 'aws_sqs', 'tackle', 'aws_sns'] as const;
const TAX_PROVIDERS = ['anrok', 'avalara', 'stripe'] as const;

/** Everything that JSON has, but no number of so many digits that storing it as JSON would change it. */
function isStorableJson(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isStorableJson);
}

export const billingConfigurationInput = z
  .object({
    billing_provider: z.enum(BILLING_PROVIDERS),
    delivery_method: z.enum(DELIVERY_METHODS).optional(),
    delivery_method_id: uuid.optional(),
    tax_provider: z.enum(TAX_PROVIDERS).optional(),
    configuration: z
      .record(z.string(), z.unknown())
      .refine(isStorableJson, 'must not contain numbers of more than 15 digits: send them as text')
      .optional()
      .meta({ description: 'Keys depend on the provider.', example: { vendor_customer_id: 'cus_1' } }),
  })
  .refine((given) => given.delivery_method !== undefined || given.delivery_method_id !== undefined, {
    path: ['delivery_method'],
    message: 'is required unless delivery_method_id is given',
  })
  .meta({ id: 'CustomerBillingConfigurationInput' });

export function billingConfigurationFromWire(
  wire: z.output<typeof billingConfigurationInput>,
): CreateCustomerInput['billingConfigurations'][number] {
  return {
    billingProvider: wire.billing_provider,
    deliveryMethod: wire.delivery_method ?? null,
    deliveryMethodId: wire.delivery_method_id ?? null,
    taxProvider: wire.tax_provider ?? null,
    configuration: wire.configuration ?? {},
  };
}
