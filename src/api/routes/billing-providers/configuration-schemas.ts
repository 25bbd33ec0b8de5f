/** A customer's billing configuration on the wire. */
import { z } from 'zod';
import type {
  BillingConfigurationInput,
  BillingConfigurationView,
} from '../../../billing/billing-providers/configurations.ts';
import {
  BILLING_PROVIDERS,
  CONTRACT_BILLING_PROVIDERS,
  DELIVERY_METHODS,
  TAX_PROVIDERS,
} from '../../../core/billing-providers.ts';
import { formatInstant } from '../../../core/time.ts';
import { timestamp, uuid } from '../../wire/fields.ts';

/** False for numbers with too many digits to be stored as JSON without change. */
function isStorableJson(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isStorableJson);
}

/** Free-form settings, which the provider defines. */
export const settingsInput = z
  .record(z.string(), z.unknown())
  .refine(isStorableJson, 'must not contain numbers of more than 15 digits: send them as text')
  .meta({ description: 'Keys depend on the provider.', example: { vendor_customer_id: 'cus_1' } });

const settings = z.record(z.string(), z.unknown());

const delivery = {
  delivery_method: z.enum(DELIVERY_METHODS).nullish(),
  delivery_method_id: uuid.nullish().meta({
    description: 'Required if several connections offer the delivery method.',
  }),
  tax_provider: z.enum(TAX_PROVIDERS).nullish(),
  configuration: settingsInput.nullish(),
};

const NO_DELIVERY = {
  path: ['delivery_method'],
  message: 'is required unless delivery_method_id is given',
};

function hasDelivery(given: { delivery_method?: unknown; delivery_method_id?: unknown }): boolean {
  return given.delivery_method != null || given.delivery_method_id != null;
}

/** Sent with a new customer. */
export const billingConfigurationInput = z
  .object({ billing_provider: z.enum(CONTRACT_BILLING_PROVIDERS), ...delivery })
  .refine(hasDelivery, NO_DELIVERY)
  .meta({ id: 'CustomerBillingConfigurationInput' });

/** Sent for an existing customer. */
export const addedBillingConfigurationInput = z
  .object({ customer_id: uuid, billing_provider: z.enum(BILLING_PROVIDERS), ...delivery })
  .refine(hasDelivery, NO_DELIVERY)
  .meta({ id: 'AddedBillingConfigurationInput' });

export const billingConfiguration = z
  .object({
    id: uuid,
    customer_id: uuid,
    billing_provider: z.enum(BILLING_PROVIDERS),
    configuration: settings.meta({ description: 'As it was sent, without secrets.' }),
    delivery_method: z.enum(DELIVERY_METHODS),
    delivery_method_id: uuid,
    delivery_method_configuration: settings.meta({ description: 'Without secrets.' }),
    tax_provider: z.enum(TAX_PROVIDERS).optional(),
    archived_at: timestamp.nullable(),
  })
  .meta({ id: 'CustomerBillingConfiguration' });

export function billingConfigurationFromWire(
  wire: z.output<typeof billingConfigurationInput> | z.output<typeof addedBillingConfigurationInput>,
): BillingConfigurationInput {
  return {
    billingProvider: wire.billing_provider,
    deliveryMethod: wire.delivery_method ?? null,
    deliveryMethodId: wire.delivery_method_id ?? null,
    taxProvider: wire.tax_provider ?? null,
    settings: wire.configuration ?? {},
  };
}

export function billingConfigurationToWire(
  from: BillingConfigurationView,
): z.input<typeof billingConfiguration> {
  return {
    id: from.id,
    customer_id: from.customerId,
    billing_provider: from.billingProvider,
    configuration: { ...from.settings },
    delivery_method: from.deliveryMethod,
    delivery_method_id: from.deliveryMethodId,
    delivery_method_configuration: { ...from.deliverySettings },
    ...(from.taxProvider === null ? {} : { tax_provider: from.taxProvider }),
    archived_at: from.archivedAt === null ? null : formatInstant(from.archivedAt),
  };
}
