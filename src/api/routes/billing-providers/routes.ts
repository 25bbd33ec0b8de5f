/** Billing providers: the service's connections, and the billing configurations of customers. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  getBillingConfigurations,
  setBillingConfigurations,
} from '../../../billing/billing-providers/configurations.ts';
import {
  connectBillingProvider,
  listBillingProviders,
} from '../../../billing/billing-providers/connections.ts';
import { archiveConfigurations } from '../../../billing/contracts/archive-configurations.ts';
import {
  BILLING_PROVIDERS,
  CONNECTABLE_BILLING_PROVIDERS,
  CONNECTION_DELIVERY_METHODS,
  DELIVERY_METHODS,
} from '../../../core/billing-providers.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid, wholeNumber } from '../../wire/fields.ts';
import { cursor, keysetPosition, pageOf, pageToWire } from '../../wire/paging.ts';
import {
  addedBillingConfigurationInput,
  billingConfiguration,
  billingConfigurationFromWire,
  billingConfigurationToWire,
  settingsInput,
} from './configuration-schemas.ts';

/** One call is one transaction; this limit keeps it well under a second. */
const CONFIGURATIONS_PER_CALL_MAX = 1_000;

const CONNECTIONS_PER_PAGE = 100;

const common = { method: 'post', tags: ['Billing providers'] } as const;

export function billingProviderRoutes(context: BillingContext): RouteDefinition[] {
  return [
    connectRoute(context),
    listRoute(context),
    setRoute(context),
    getRoute(context),
    archiveRoute(context),
  ];
}

function connectRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/setUpBillingProvider',
    operationId: 'setUpBillingProvider',
    summary: 'Connect the service to a billing provider',
    description: 'The configuration is stored; its secrets are never returned.',
    scope: 'write',
    body: z
      .object({
        billing_provider: z.enum(CONNECTABLE_BILLING_PROVIDERS),
        delivery_method: z.enum(CONNECTION_DELIVERY_METHODS),
        configuration: settingsInput,
      })
      .meta({ id: 'SetUpBillingProvider' }),
    response: z.object({ data: z.object({ delivery_method_id: uuid }) }),
    errors: [400, 409],
    async handler({ body }) {
      const id = await connectBillingProvider(context, {
        billingProvider: body.billing_provider,
        deliveryMethod: body.delivery_method,
        settings: body.configuration,
      });
      return { data: { delivery_method_id: id } };
    },
  });
}

const connection = z
  .object({
    billing_provider: z.enum(BILLING_PROVIDERS),
    delivery_method: z.enum(DELIVERY_METHODS),
    delivery_method_id: uuid,
    delivery_method_configuration: z.record(z.string(), z.unknown()).meta({
      description: 'Switches, identifiers and locations; secrets and all other members are omitted.',
    }),
  })
  .meta({ id: 'BillingProviderConnection' });

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/listConfiguredBillingProviders',
    operationId: 'listConfiguredBillingProviders',
    summary: 'List what configurations of customers can use',
    description:
      'Connections to billing providers, and direct delivery to providers without a connection, which has a fixed id.',
    scope: 'read',
    body: z.object({
      limit: wholeNumber(1, CONNECTIONS_PER_PAGE)
        .nullish()
        .meta({ description: `1 to ${CONNECTIONS_PER_PAGE}, by default ${CONNECTIONS_PER_PAGE}.` }),
      next_page: cursor(keysetPosition).nullish(),
    }),
    response: pageOf(connection),
    errors: [400],
    async handler({ body }) {
      const request = { limit: body.limit ?? CONNECTIONS_PER_PAGE, after: body.next_page ?? null };
      const page = await listBillingProviders(context, request);
      return pageToWire(page, ({ id, billingProvider, deliveryMethod, settings }) => ({
        billing_provider: billingProvider,
        delivery_method: deliveryMethod,
        delivery_method_id: id,
        delivery_method_configuration: { ...settings },
      }));
    },
  });
}

function setRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/setCustomerBillingProviderConfigurations',
    wireWords: { inputs: 'data' },
    operationId: 'setCustomerBillingProviderConfigurations',
    summary: 'Add billing configurations to customers, all or none',
    description:
      'A customer may have several configurations, even of one provider. Contracts refer to them by id.',
    scope: 'write',
    body: z.object({
      data: z.array(addedBillingConfigurationInput).min(1).max(CONFIGURATIONS_PER_CALL_MAX),
    }),
    response: z.object({
      data: z.array(billingConfiguration.omit({ archived_at: true })),
    }),
    errors: [400, 404],
    async handler({ body }) {
      const inputs = body.data.map((wire) => ({
        ...billingConfigurationFromWire(wire),
        customerId: wire.customer_id,
      }));
      const added = await setBillingConfigurations(context, inputs);
      return {
        data: added.map((view) => {
          const { archived_at: _, ...wire } = billingConfigurationToWire(view);
          return wire;
        }),
      };
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/getCustomerBillingProviderConfigurations',
    operationId: 'getCustomerBillingProviderConfigurations',
    summary: 'Get the billing configurations of a customer',
    scope: 'read',
    body: z.object({ customer_id: uuid, include_archived: z.boolean().nullish() }),
    response: z.object({ data: z.array(billingConfiguration) }),
    errors: [400, 404],
    async handler({ body }) {
      const includeArchived = body.include_archived ?? false;
      const found = await getBillingConfigurations(context, body.customer_id, { includeArchived });
      return { data: found.map(billingConfigurationToWire) };
    },
  });
}

const archived = z.object({
  customer_id: uuid,
  customer_billing_provider_configuration_ids: z.array(uuid).min(1).max(CONFIGURATIONS_PER_CALL_MAX),
});

function archiveRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/archiveCustomerBillingProviderConfigurations',
    wireWords: { ids: 'customer_billing_provider_configuration_ids' },
    operationId: 'archiveCustomerBillingProviderConfigurations',
    summary: 'Archive billing configurations of a customer, all or none',
    description:
      'Contracts that use them lose them and stop being sent, and their threshold configurations are ' +
      'disabled. Archiving is idempotent.',
    scope: 'write',
    body: archived,
    response: z.object({ data: archived }),
    errors: [400, 404],
    async handler({ body, actor }) {
      await archiveConfigurations(context, {
        customerId: body.customer_id,
        ids: body.customer_billing_provider_configuration_ids,
        archivedBy: actor.name,
      });
      return { data: body };
    },
  });
}
