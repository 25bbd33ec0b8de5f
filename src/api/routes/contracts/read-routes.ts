/** Reading contracts, in the shapes of v1 and v2. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { getContract, listContracts } from '../../../billing/contract-views/contracts.ts';
import { invalid } from '../../../core/errors.ts';
import { mapInChunks } from '../../../core/in-chunks.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { contract, contractToWire, contractToWireV2, contractV2, type OutputOptions } from './output.ts';

const common = { method: 'post', tags: ['Contracts'], scope: 'read', errors: [400, 404] } as const;

const options = {
  include_ledgers: z.boolean().nullish().meta({ description: 'Include the ledgers of commits and credits.' }),
  include_balance: z
    .boolean()
    .nullish()
    .meta({ description: 'Include the remaining balances of commits and credits.' }),
};

const reference = { customer_id: uuid, contract_id: uuid };

const listBody = z.object({
  customer_id: uuid,
  include_archived: z.boolean().nullish(),
  starting_at: timestamp.nullish().meta({
    description: 'Contracts that start at or after this time. Cannot be combined with covering_date.',
  }),
  covering_date: timestamp
    .nullish()
    .meta({ description: 'Contracts in force at this time. Cannot be combined with starting_at.' }),
  ...options,
});

export function contractReadRoutes(context: BillingContext): RouteDefinition[] {
  return [getRoute(context), listRoute(context), getRouteV2(context), listRouteV2(context)];
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/get',
    operationId: 'getContract',
    summary: 'Get a contract',
    body: z.object({ ...reference, ...options }),
    response: z.object({ data: contract.output }),
    async handler({ body }) {
      const { customer_id: customerId, contract_id: contractId } = body;
      const view = await getContract(context, {
        ...{ customerId, contractId, asOfDate: null, withHistory: true },
        withBalances: asksForBalances(body),
      });
      return { data: contractToWire(view, optionsFromWire(body)) };
    },
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/list',
    operationId: 'listContracts',
    summary: 'List the contracts of a customer',
    body: listBody,
    response: z.object({ data: z.array(contract.output) }),
    async handler({ body }) {
      const views = await listContracts(context, {
        ...filterFromWire(body),
        isNewestFirst: false,
        withHistory: true,
      });
      const shown = optionsFromWire(body);
      return { data: await mapInChunks(views, (view) => contractToWire(view, shown)) };
    },
  });
}

function getRouteV2(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v2/contracts/get',
    operationId: 'getContractV2',
    summary: 'Get a contract, flat',
    body: z.object({
      ...reference,
      ...options,
      as_of_date: timestamp
        .nullish()
        .meta({ description: 'Show the contract as of this time. Cannot be combined with include_ledgers.' }),
    }),
    response: z.object({ data: contractV2.output }),
    async handler({ body }) {
      const { customer_id: customerId, contract_id: contractId } = body;
      const asOfDate = body.as_of_date ?? null;
      if (asOfDate !== null && body.include_ledgers) {
        throw invalid(['asOfDate'], 'cannot be combined with include_ledgers');
      }
      const view = await getContract(context, {
        ...{ customerId, contractId, asOfDate, withHistory: false },
        withBalances: asksForBalances(body),
      });
      return { data: contractToWireV2(view, optionsFromWire(body)) };
    },
  });
}

function listRouteV2(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v2/contracts/list',
    operationId: 'listContractsV2',
    summary: 'List the contracts of a customer, flat',
    description: 'Latest start first; equal starts by creation, newest first.',
    body: listBody,
    response: z.object({ data: z.array(contractV2.output) }),
    async handler({ body }) {
      const views = await listContracts(context, {
        ...filterFromWire(body),
        isNewestFirst: true,
        withHistory: false,
      });
      const shown = optionsFromWire(body);
      return { data: await mapInChunks(views, (view) => contractToWireV2(view, shown)) };
    },
  });
}

function filterFromWire(body: z.output<typeof listBody>) {
  return {
    customerId: body.customer_id,
    includeArchived: body.include_archived ?? false,
    startingAt: body.starting_at ?? null,
    coveringDate: body.covering_date ?? null,
    withBalances: asksForBalances(body),
  };
}

function asksForBalances(body: z.output<z.ZodObject<typeof options>>): boolean {
  return (body.include_balance ?? false) || (body.include_ledgers ?? false);
}

function optionsFromWire(body: z.output<z.ZodObject<typeof options>>): OutputOptions {
  return {
    includeBalance: body.include_balance ?? false,
    includeLedgers: body.include_ledgers ?? false,
  };
}
