/** Packages: templates of contract terms. Contracts are created from them by the operations of contracts. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { createPackage } from '../../../billing/packages/create-package.ts';
import {
  archivePackage,
  getPackage,
  listContractsOnPackage,
  listPackages,
} from '../../../billing/packages/packages.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { optional } from '../../wire/description.ts';
import { createdId, enumIn, timestamp, uuid } from '../../wire/fields.ts';
import { id, instant } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import { createPackageBody, packageFromWire, packageOutput, packageToWire } from './package.ts';

const common = { method: 'post', tags: ['Packages'] } as const;

export function packageRoutes(context: BillingContext): RouteDefinition[] {
  return [
    createRoute(context),
    getRoute(context),
    listRoute(context),
    archiveRoute(context),
    listContractsOnPackageRoute(context),
  ];
}

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/packages/create',
    operationId: 'createPackage',
    summary: 'Create a package',
    description:
      'A package never changes. Its dates count from the start of the contract that is created from it. ' +
      'A field that does not exist answers 400, a uniqueness_key that was used before 409.',
    scope: 'write',
    body: createPackageBody,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const { id } = await createPackage(context, packageFromWire(body, actor.name));
      return { data: { id } };
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/packages/get',
    operationId: 'getPackage',
    summary: 'Get a package',
    scope: 'read',
    body: z.object({ package_id: uuid }),
    response: z.object({ data: packageOutput }),
    errors: [400, 404],
    handler: async ({ body }) => ({ data: packageToWire(await getPackage(context, body.package_id)) }),
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/packages/list',
    operationId: 'listPackages',
    summary: 'List packages',
    scope: 'read',
    query: pageQuery(keysetPosition, 10),
    body: z.object({
      archive_filter: enumIn(['ARCHIVED', 'NOT_ARCHIVED', 'ALL'])
        .nullish()
        .meta({ description: 'Default: NOT_ARCHIVED.' }),
    }),
    response: pageOf(packageOutput),
    errors: [400],
    async handler({ query, body }) {
      const filter = body.archive_filter ?? 'NOT_ARCHIVED';
      return pageToWire(await listPackages(context, filter, pageRequest(query)), packageToWire);
    },
  });
}

function archiveRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/packages/archive',
    operationId: 'archivePackage',
    summary: 'Archive a package',
    description:
      'No new contracts can be created from the package; existing contracts continue. Cannot be undone.',
    scope: 'write',
    body: z.object({ package_id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body }) {
      await archivePackage(context, body.package_id);
      return { data: { id: body.package_id } };
    },
  });
}

const contractSummary = record(
  {
    customerId: id,
    contractId: id,
    startingAt: instant,
    endingBefore: optional(instant),
    archivedAt: optional(instant),
  },
  { id: { answered: 'ContractProjectionSummary' } },
);

function listContractsOnPackageRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/packages/listContractsOnPackage',
    operationId: 'listContractsOnPackage',
    summary: 'List the contracts that were created from a package',
    scope: 'read',
    query: pageQuery(keysetPosition),
    body: z.object({
      package_id: uuid,
      starting_at: timestamp.nullish().meta({
        description: 'Contracts that start at or after this time. Cannot be combined with covering_date.',
      }),
      covering_date: timestamp
        .nullish()
        .meta({ description: 'Contracts in force at this time. Cannot be combined with starting_at.' }),
      include_archived: z.boolean().nullish().meta({ description: 'Default: false.' }),
    }),
    response: pageOf(contractSummary.output),
    errors: [400, 404],
    async handler({ query, body }) {
      const filter = {
        packageId: body.package_id,
        startingFrom: body.starting_at ?? null,
        coveringDate: body.covering_date ?? null,
        includeArchived: body.include_archived ?? false,
      };
      return pageToWire(
        await listContractsOnPackage(context, filter, pageRequest(query)),
        contractSummary.write,
      );
    },
  });
}
