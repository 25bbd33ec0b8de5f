/**
 * A customer's configuration by the provider alone, as the first generation of the interface has it. It is one of the
 * customer's configurations, used and listed like any other.
 */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  type BillingConfigurationInput,
  type BillingConfigurationView,
  getBillingConfigurations,
  setBillingConfigurations,
} from '../../../billing/billing-providers/configurations.ts';
import { archiveConfigurations } from '../../../billing/contracts/archive-configurations.ts';
import { COLLECTION_METHODS, DIRECT_BILLING_PROVIDERS } from '../../../core/billing-providers.ts';
import { notFound } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';

type Provider = (typeof DIRECT_BILLING_PROVIDERS)[number];

/** The setting that holds the customer's id at each provider, and further names that it may have there. */
const CUSTOMER_ID: Readonly<Record<Provider, readonly [name: string, ...others: string[]]>> = {
  aws_marketplace: ['aws_customer_id'],
  azure_marketplace: ['azure_subscription_id'],
  gcp_marketplace: ['gcp_entitlement_id'],
  stripe: ['stripe_customer_id', 'vendor_customer_id'],
  netsuite: ['netsuite_customer_id'],
};
const COLLECTION_METHOD = ['stripe_collection_method', 'vendor_collection_method'] as const;
const OTHER_SETTINGS = ['aws_product_code', 'aws_region', 'aws_is_subscription_product'] as const;

const SETTING_LENGTH_MAX = 500;
const setting = z.string().min(1).max(SETTING_LENGTH_MAX);

const members = {
  stripe_collection_method: z.enum(COLLECTION_METHODS).nullish(),
  vendor_collection_method: z.enum(COLLECTION_METHODS).nullish(),
  aws_product_code: setting.nullish(),
  aws_region: setting.nullish(),
  aws_is_subscription_product: z.boolean().nullish(),
};

const body = z.object({ billing_provider_customer_id: setting, ...members });

/** Sent with a new customer. */
export const oneConfiguration = body.extend({ billing_provider_type: z.enum(DIRECT_BILLING_PROVIDERS) });

const params = z.object({ customer_id: uuid, billing_provider_type: z.string() });
const path = '/v1/customers/{customer_id}/billing-config/{billing_provider_type}';
const common = { path, params, tags: ['Predecessors'] } as const;

export function oneConfigurationFromWire(
  billingProvider: Provider,
  sent: z.output<typeof body>,
): BillingConfigurationInput {
  const { billing_provider_customer_id: id, ...others } = sent;
  const given = Object.entries(others).filter(([name, value]) => name in members && value != null);
  return {
    billingProvider,
    deliveryMethod: 'direct_to_billing_provider',
    deliveryMethodId: null,
    taxProvider: null,
    settings: { [CUSTOMER_ID[billingProvider][0]]: id, ...Object.fromEntries(given) },
  };
}

export function oneConfigurationRoutes(context: BillingContext): RouteDefinition[] {
  return [createRoute(context), getRoute(context), deleteRoute(context)];
}

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'post',
    operationId: 'setBillingConfig',
    summary: 'Set the configuration of a customer for a billing provider',
    description: 'Replaces all configurations of the customer for direct delivery to this provider.',
    scope: 'write',
    body,
    response: 'empty',
    errors: [400, 404],
    async handler({ params: { customer_id: customerId, billing_provider_type: type }, body: sent, actor }) {
      const provider = knownProvider(type);
      const before = await configurationsOf(context, customerId, provider);
      const input = { ...oneConfigurationFromWire(provider, sent), customerId };
      const [added] = await setBillingConfigurations(context, [input]);
      const ids = before.map(({ id }) => id).filter((id) => id !== added?.id);
      if (ids.length > 0) await archiveConfigurations(context, { customerId, ids, archivedBy: actor.name });
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'get',
    operationId: 'getBillingConfig',
    summary: 'Get the configuration of a customer for a billing provider',
    scope: 'read',
    response: z.object({ data: z.object({ billing_provider_customer_id: setting.optional(), ...members }) }),
    errors: [404],
    async handler({ params: { customer_id: customerId, billing_provider_type: type } }) {
      const provider = knownProvider(type);
      const last = (await configurationsOf(context, customerId, provider)).at(-1);
      if (last === undefined) throw notFound('billing configuration', type);
      return { data: toWire(provider, last) };
    },
  });
}

function deleteRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'delete',
    operationId: 'deleteBillingConfig',
    summary: 'Archive the configuration of a customer for a billing provider',
    scope: 'write',
    response: 'empty',
    errors: [400, 404],
    async handler({ params: { customer_id: customerId, billing_provider_type: type }, actor }) {
      const ids = (await configurationsOf(context, customerId, knownProvider(type))).map(({ id }) => id);
      if (ids.length === 0) throw notFound('billing configuration', type);
      await archiveConfigurations(context, { customerId, ids, archivedBy: actor.name });
    },
  });
}

function knownProvider(type: string): Provider {
  const known = DIRECT_BILLING_PROVIDERS.find((provider) => provider === type);
  if (known === undefined) throw notFound('billing provider', type);
  return known;
}

async function configurationsOf(
  context: BillingContext,
  customerId: string,
  provider: Provider,
): Promise<BillingConfigurationView[]> {
  const all = await getBillingConfigurations(context, customerId, { includeArchived: false });
  return all.filter(
    (one) => one.billingProvider === provider && one.deliveryMethod === 'direct_to_billing_provider',
  );
}

function toWire(provider: Provider, { settings }: BillingConfigurationView) {
  const textOf = (names: readonly string[]) => names.map((name) => settings[name]).find((one) => one != null);
  const shown = {
    billing_provider_customer_id: textOf(CUSTOMER_ID[provider]),
    stripe_collection_method: textOf(COLLECTION_METHOD),
    ...Object.fromEntries(OTHER_SETTINGS.map((name) => [name, settings[name]])),
  };
  return z.object({ billing_provider_customer_id: setting.optional(), ...members }).parse(shown);
}
