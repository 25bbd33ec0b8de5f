/** Contracts: which customer pays which prices from when to when. */
import { z } from 'zod';
import { getContract, listContracts } from '../../billing/contracts/contracts.ts';
import { createContract } from '../../billing/contracts/create-contract.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid } from '../../core/errors.ts';
import type { Contract } from '../../store/contracts.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { createdId, timestamp, uuid } from '../fields.ts';
import { type RouteDefinition, route } from '../route.ts';
import { contractFromWire, contractSchema, contractToWire, createContractBody } from './contract-schemas.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  /** See `createContract`: queues what a new contract sets going. */
  readonly onContractCreated: (tx: Transaction, contract: Contract) => Promise<void>;
}

const common = { method: 'post', tags: ['Contracts'] } as const;

/** Accepted for old clients; there are no balances and ledgers to include yet. */
const balanceOptions = {
  include_ledgers: z.boolean().optional(),
  include_balance: z.boolean().optional(),
};

export function contractRoutes(deps: Deps): RouteDefinition[] {
  return [createRoute(deps), getRoute(deps), listRoute(deps)];
}

function createRoute(deps: Deps): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/create',
    operationId: 'createContract',
    summary: 'Create a contract',
    description:
      'A start in the past is allowed: the periods since then are invoiced. A uniqueness_key that was used ' +
      'before answers 409 and creates nothing.',
    scope: 'write',
    body: createContractBody,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const input = contractFromWire(body, actor.name);
      const { id } = await createContract({ ...deps, onCreated: deps.onContractCreated }, input);
      return { data: { id } };
    },
  });
}

function getRoute(deps: Deps): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/get',
    operationId: 'getContract',
    summary: 'Get a contract',
    scope: 'read',
    body: z.object({ customer_id: uuid, contract_id: uuid, ...balanceOptions }),
    response: z.object({ data: contractSchema }),
    errors: [400, 404],
    async handler({ body }) {
      return { data: contractToWire(await getContract(deps, body.customer_id, body.contract_id)) };
    },
  });
}

function listRoute(deps: Deps): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/list',
    operationId: 'listContracts',
    summary: 'List the contracts of a customer',
    scope: 'read',
    body: z.object({
      customer_id: uuid,
      include_archived: z.boolean().optional(),
      starting_at: timestamp
        .nullish()
        .meta({ description: 'Only contracts that start at or after it. Not with covering_date.' }),
      covering_date: timestamp
        .nullish()
        .meta({ description: 'Only contracts in force then. Not with starting_at.' }),
      ...balanceOptions,
    }),
    response: z.object({ data: z.array(contractSchema) }),
    errors: [400, 404],
    async handler({ body }) {
      if (body.starting_at != null && body.covering_date != null) {
        throw invalid('covering_date', 'cannot be combined with starting_at');
      }
      const contracts = await listContracts(deps, {
        customerId: body.customer_id,
        includeArchived: body.include_archived ?? false,
        startingAt: body.starting_at ?? null,
        coveringDate: body.covering_date ?? null,
      });
      return { data: contracts.map(contractToWire) };
    },
  });
}
