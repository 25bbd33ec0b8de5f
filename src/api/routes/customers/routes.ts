/** Customers, and the ingest aliases that their usage events use. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { archiveCustomer } from '../../../billing/contracts/archive-customer.ts';
import type { WithCustomFields } from '../../../billing/custom-fields/with-fields.ts';
import { setLeavesInvoicesInDraft } from '../../../billing/customers/billable-status.ts';
import { changeHeader, getCustomer, renameCustomer } from '../../../billing/customers/change-customer.ts';
import { createCustomer } from '../../../billing/customers/create-customer.ts';
import { setIngestAliases } from '../../../billing/customers/ingest-aliases.ts';
import { listCustomers } from '../../../billing/customers/list-customers.ts';
import { eraseCustomer } from '../../../billing/erasure/erase-customer.ts';
import type { BillingAddress } from '../../../core/billing-address.ts';
import { BILLABLE_STATUSES } from '../../../core/billing-providers.ts';
import type { Customer } from '../../../store/customers/customers.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, called, list, noted, nullable } from '../../wire/description.ts';
import {
  commaList,
  createdId,
  customFields as customFieldsSchema,
  queryBoolean,
  uuid,
} from '../../wire/fields.ts';
import { anyText, customFields, id, instant, oneOf, truth } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { inside, record } from '../../wire/record.ts';
import {
  billingConfigurationFromWire,
  billingConfigurationInput,
} from '../billing-providers/configuration-schemas.ts';
import { oneConfiguration, oneConfigurationFromWire } from '../billing-providers/one-configuration-routes.ts';

const ALIASES_MAX = 2_000;
const IDS_PER_FILTER_MAX = 100;

const alias = z.string().min(1).max(128);

const aliases = z.array(alias).max(ALIASES_MAX).meta({
  description: 'Names that usage events may carry instead of the customer id. Each belongs to one customer.',
});

const addressText = nullable(anyText);

const address = record({
  line1: addressText,
  line2: addressText,
  city: addressText,
  postalCode: addressText,
  region: addressText,
  country: noted('Two letters of ISO 3166-1.', addressText),
});

const ADDRESS_TEXT_MAX = 200;
const addressLine = z.string().trim().min(1).max(ADDRESS_TEXT_MAX).nullish();

const addressInput = z
  .strictObject({
    line1: addressLine,
    line2: addressLine,
    city: addressLine,
    postal_code: addressLine,
    region: addressLine,
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'must be two capital letters, as in DE')
      .nullish()
      .meta({ description: 'Two letters of ISO 3166-1.', example: 'DE' }),
  })
  .meta({ id: 'BillingAddressInput' });

function addressFromWire(wire: z.output<typeof addressInput>): BillingAddress {
  return {
    line1: wire.line1 ?? null,
    line2: wire.line2 ?? null,
    city: wire.city ?? null,
    postalCode: wire.postal_code ?? null,
    region: wire.region ?? null,
    country: wire.country ?? null,
  };
}

const customerFields = {
  id,
  externalId: byHand(
    z.string().meta({ deprecated: true, description: 'The first ingest alias, or the id if there is none.' }),
  ),
  ingestAliases: list(anyText),
  name: anyText,
  customFields,
};

const customer = record(customerFields, { id: { answered: 'Customer' } });

const customerDetail = record(
  {
    ...customerFields,
    customerConfig: inside({
      crmAccountId: nullable(anyText),
      salesforceAccountId: noted('The same as crm_account_id.', nullable(anyText)),
      leaveInvoicesInDraft: called(
        'leave_stripe_invoices_in_draft',
        noted(
          'If true, invoices of the customer stay drafts at Stripe. Null: the setting of the service applies.',
          nullable(truth),
        ),
      ),
    }),
    currentBillableStatus: noted(
      'Whether invoices that are issued from now on are delivered to a billing provider (`setBillableStatus`). ' +
        'Since when is not kept: `effective_at` is null.',
      record({ value: oneOf(BILLABLE_STATUSES), effectiveAt: nullable(instant) }),
    ),
    billingAddress: noted('As it stands on invoices; null: none.', nullable(address)),
    createdAt: instant,
    updatedAt: instant,
    archivedAt: nullable(instant),
  },
  { id: { answered: 'CustomerDetail' } },
);

const createBody = z
  .object({
    name: z.string().min(1).meta({ description: 'Cut to 160 characters.', example: 'Acme' }),
    ingest_aliases: aliases.optional(),
    external_id: alias.optional().meta({ deprecated: true, description: 'Counts as an ingest alias.' }),
    customer_billing_provider_configurations: z.array(billingConfigurationInput).optional(),
    billing_config: oneConfiguration.nullish().meta({
      deprecated: true,
      description: 'A single configuration, in the format of the first version of the API.',
    }),
    billing_address: addressInput.nullish().meta({ description: 'Printed on invoices.' }),
    custom_fields: customFieldsSchema.optional(),
  })
  .meta({ id: 'CreateCustomer' });

const SEARCH_LENGTH_MAX = 200;

const search = z
  .string()
  .trim()
  .max(SEARCH_LENGTH_MAX)
  .transform((text) => (text === '' ? undefined : text))
  .optional()
  .meta({
    type: 'string',
    description:
      'Only customers with this text in their name, at the beginning of an ingest alias or of the value of a custom ' +
      'field, or as their whole id or CRM account. Letter case does not matter. What is this text comes first, then ' +
      'what begins with it.',
    example: 'acme',
  });

const listPosition = keysetPosition.extend({ rank: z.int().min(0).max(2).optional() });

const listQuery = pageQuery(listPosition).extend({
  search,
  ingest_alias: z.string().optional(),
  customer_ids: commaList(uuid).pipe(z.array(z.string()).max(IDS_PER_FILTER_MAX)).optional(),
  only_archived: queryBoolean.optional(),
  crm_account_ids: commaList(z.string()).pipe(z.array(z.string()).max(IDS_PER_FILTER_MAX)).optional(),
  salesforce_account_ids: commaList(z.string()).pipe(z.array(z.string()).max(IDS_PER_FILTER_MAX)).optional(),
});

const byId = z.object({ customer_id: uuid });

const configBody = z.object({
  crm_account_id: z.string().nullable().optional(),
  salesforce_account_id: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'The same as crm_account_id, which wins if both are given.' }),
  leave_stripe_invoices_in_draft: z.boolean().nullable().optional().meta({
    description:
      'If true, invoices of the customer stay drafts at Stripe. Null: the setting of the service applies.',
  }),
  billing_address: addressInput
    .nullish()
    .meta({ description: 'Printed on invoices, in the place of the address before. Null removes it.' }),
});

export function customerRoutes(context: BillingContext): RouteDefinition[] {
  return [
    createRoute(context),
    listRoute(context),
    getRoute(context),
    archiveRoute(context),
    eraseRoute(context),
    ...changeRoutes(context),
  ];
}

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers',
    wireWords: { billingConfigurations: 'customer_billing_provider_configurations' },
    operationId: 'createCustomer',
    summary: 'Create a customer',
    description: 'Usage sent earlier under its aliases, even before it existed, belongs to the new customer.',
    tags: ['Customers'],
    scope: 'write',
    body: createBody,
    response: z.object({ data: customer.output }),
    errors: [400, 409],
    async handler({ body }) {
      const created = await createCustomer(context, {
        name: body.name,
        ingestAliases: body.ingest_aliases ?? [],
        externalId: body.external_id ?? null,
        customFields: body.custom_fields ?? {},
        billingAddress: body.billing_address == null ? null : addressFromWire(body.billing_address),
        billingConfigurations: [
          ...(body.customer_billing_provider_configurations ?? []).map(billingConfigurationFromWire),
          ...(body.billing_config == null
            ? []
            : [oneConfigurationFromWire(body.billing_config.billing_provider_type, body.billing_config)]),
        ],
      });
      return { data: toWire(created) };
    },
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers',
    operationId: 'listCustomers',
    summary: 'List customers, or search them',
    description: 'In the order of creation.',
    tags: ['Customers'],
    scope: 'read',
    query: listQuery,
    response: pageOf(customerDetail.output),
    errors: [400],
    async handler({ query }) {
      const crmAccountIds =
        query.crm_account_ids === undefined && query.salesforce_account_ids === undefined
          ? undefined
          : [...(query.crm_account_ids ?? []), ...(query.salesforce_account_ids ?? [])];
      const filter = {
        archived: query.only_archived ?? false,
        ingestAlias: query.ingest_alias,
        ids: query.customer_ids,
        crmAccountIds,
        search: query.search,
      };
      return pageToWire(await listCustomers(context, filter, pageRequest(query)), detailToWire);
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}',
    operationId: 'getCustomer',
    summary: 'Get a customer',
    tags: ['Customers'],
    scope: 'read',
    params: byId,
    response: z.object({ data: customerDetail.output }),
    errors: [404],
    async handler({ params }) {
      return { data: detailToWire(await getCustomer(context, params.customer_id)) };
    },
  });
}

function archiveRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/archive',
    wireWords: { customerId: 'id' },
    operationId: 'archiveCustomer',
    summary: 'Archive a customer',
    description:
      'Its contracts are archived now and all its finalized invoices are voided. It cannot be undone. ' +
      'Ingest aliases stay with the customer until they are removed.',
    tags: ['Customers'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId,
    errors: [400, 404, 503],
    async handler({ body, actor }) {
      await archiveCustomer(context, body.id, actor.name);
      return { data: { id: body.id } };
    },
  });
}

function eraseRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/{customer_id}/erase',
    operationId: 'eraseCustomer',
    summary: 'Remove the data that identifies a customer',
    description:
      'Removes its name, aliases, CRM account, address, custom fields, configurations of billing providers, and the properties ' +
      'of its events that no finalized invoice needs. Issued invoices stay. The customer is archived, and its contracts ' +
      'must have ended and be invoiced. It cannot be undone; repeating it removes what has come since. Events follow ' +
      'within a moment.',
    tags: ['Customers'],
    scope: 'write',
    params: byId,
    response: createdId,
    errors: [400, 404],
    async handler({ params }) {
      await eraseCustomer(context, params.customer_id);
      return { data: { id: params.customer_id } };
    },
  });
}

function changeRoutes(context: BillingContext): RouteDefinition[] {
  const common = { method: 'post', tags: ['Customers'], scope: 'write', params: byId } as const;
  return [
    route({
      ...common,
      path: '/v1/customers/{customer_id}/setIngestAliases',
      operationId: 'setIngestAliases',
      summary: 'Replace the whole set of ingest aliases',
      description:
        'Idempotent. An alias has to be removed from its holder, archived or not, before another customer can ' +
        'have it; all usage sent under it then moves along.',
      body: z.object({ ingest_aliases: aliases }),
      response: 'empty',
      errors: [400, 404, 409],
      handler: ({ params, body }) => setIngestAliases(context, params.customer_id, body.ingest_aliases),
    }),
    route({
      ...common,
      path: '/v1/customers/{customer_id}/setName',
      operationId: 'setCustomerName',
      summary: 'Rename a customer',
      body: z.object({ name: z.string().min(1).meta({ description: 'Cut to 160 characters.' }) }),
      response: z.object({ data: customer.output }),
      errors: [400, 404],
      async handler({ params, body }) {
        return { data: toWire(await renameCustomer(context, params.customer_id, body.name)) };
      },
    }),
    route({
      ...common,
      path: '/v1/customers/{customer_id}/updateConfig',
      operationId: 'updateCustomerConfig',
      summary: 'Set or clear the account in a CRM, the billing address, and how invoices are left at Stripe',
      body: configBody,
      response: 'empty',
      errors: [400, 404],
      async handler({ params, body }) {
        const accountId =
          body.crm_account_id === undefined ? body.salesforce_account_id : body.crm_account_id;
        const changes = {
          ...(accountId === undefined ? {} : { crmAccountId: accountId }),
          ...(body.billing_address === undefined
            ? {}
            : {
                billingAddress: body.billing_address === null ? null : addressFromWire(body.billing_address),
              }),
        };
        if (Object.keys(changes).length === 0) await getCustomer(context, params.customer_id);
        else await changeHeader(context, params.customer_id, changes);
        const leaves = body.leave_stripe_invoices_in_draft;
        if (leaves !== undefined) await setLeavesInvoicesInDraft(context, params.customer_id, leaves);
      },
    }),
  ];
}

function toWire(from: WithCustomFields<Customer>) {
  return customer.write({ ...from, externalId: from.ingestAliases[0] ?? from.id });
}

function detailToWire(from: WithCustomFields<Customer>) {
  return customerDetail.write({
    ...from,
    externalId: from.ingestAliases[0] ?? from.id,
    salesforceAccountId: from.crmAccountId,
    currentBillableStatus: { value: from.billableStatus, effectiveAt: null },
  });
}
